"""Where a bracket closes, across chunks: that of a pythonic call, or of an object that is not quite JSON."""

from __future__ import annotations

import re

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
ENDS_WITH_LINE = "a line that ends inside it"
"""The flaw that only the next line shows."""
LINE_BREAK = "a line break in a string"
"""The flaw of a string that a raw line break cuts."""

# The inside of a string, by the quotes around it. Bounded, as `re` keeps a record of each repetition. Quotes that may
# become three are left for the next chunk.
_BODY = {
    **{quote: re.compile(rf"(?:[^{quote}\\\n\r]+|\\[\s\S]){{0,1000}}").match for quote in "'\""},
    **{
        quote * 3: re.compile(rf"(?:[^{quote}\\]+|\\[\s\S]|{quote}(?!{quote}{quote}|{quote}?\Z)){{0,1000}}").match
        for quote in "'\""
    },
}
_TOLERANT_BODY = {quote: re.compile(rf"(?:[^{quote}\\]+|\\[\s\S]){{0,1000}}").match for quote in "'\""}

_MARK = re.compile(r"[\"'()\[\]{}\n]").search
_TOLERANT_MARK = re.compile(r"[\"'()\[\]{}]").search
# White space, and what is a flaw after it: in Python after a line break, in tolerantly read JSON after a string.
_GAP = re.compile(r"[ \t\r]*(\n)?").match
_TOLERANT_GAP = re.compile(r"[ \t\n\r]*([^,:)\]}\"' \t\n\r])?").match


def goes_on(last: str, closer: str) -> bool:
    """Return whether a line that ends with a character goes on, in a bracket that another closes."""
    return last in ("(", "[", "{", ",", "=", "\\") or (last == ":" and closer == "}")


def string_end(text: str, pos: int, quotes: str, *, tolerant: bool = False) -> int:
    r"""Return where the inside of a string ends: at its quotes, at a line break it may not have, or with the text.

    >>> string_end(r"it\'s' and", 0, "'")
    5

    Args:
        text: the text.
        pos: an index in the string.
        quotes: the quotes around it, one or three.
        tolerant: whether it may have line breaks, as in tolerantly read JSON, where three quotes have no meaning.
    """
    body = (_TOLERANT_BODY if tolerant else _BODY)[quotes]
    before = -1
    while before != pos:
        before, pos = pos, body(text, pos).end()  # type: ignore[union-attr]  # it may match nothing
    return pos


class BracketSpan:
    """Finds the bracket that closes the one at the first character read.

    It knows quotes, backslashes and lines, and no other grammar. However the text is cut into chunks, it finds the same
    end or the same flaw.

    >>> span = BracketSpan()
    >>> span.read("(')', ", 0, ended=False), span.is_complete
    (6, False)
    >>> span.read("[1]) it is", 0, ended=False), span.is_complete
    (4, True)
    """

    def __init__(self, *, tolerant: bool = False) -> None:
        """Begin to read the parentheses of a call, or, if tolerant, an object that is not quite JSON.

        In a call, each line ends with what goes on, or the next one is indented or begins with a closing bracket or a
        comma. An object may have empty lines, and line breaks in strings; after a string, only a comma, a colon, a
        closing bracket or a quote may come.
        """
        self._tolerant = tolerant
        self._closers: list[str] = []
        self.open: list[int] = []
        self._quotes = ""
        """The quotes around the string that is open."""
        self._last = ""
        """The last character outside strings, white space aside; a quote after a string."""
        self.line_end = -1
        """The offset of the last line break outside strings. Reading stops after each, so that one can look at it."""
        self._is_in_gap = False
        """Whether only white space was read since a line break (in tolerantly read JSON: since a string)."""
        self._is_indented = False
        self.flaw = ""
        """Why no bracket closes it, as a noun: "an empty line". Empty if there is no reason so far."""
        self.is_complete = False

    def read(self, text: str, pos: int, base: int = 0, *, ended: bool) -> int:
        """Read on; return the index after the closing bracket or a line, before a flaw, or where the text ends."""
        before, line_end = -1, self.line_end
        while before != pos and not self.flaw and not self.is_complete and self.line_end == line_end:
            before = pos
            pos = self._read_string(text, pos) if self._quotes else self._read_mark(text, pos, base, ended=ended)
        return len(text) if ended and before == pos and not self.flaw else pos

    def _read_string(self, text: str, pos: int) -> int:
        """Read to after the string that is open, or as far as it has arrived."""
        pos = string_end(text, pos, self._quotes, tolerant=self._tolerant)
        if text.startswith(self._quotes, pos):
            pos += len(self._quotes)
            self._quotes, self._is_in_gap, self._last = "", self._tolerant, "'"
        elif text.startswith(("\n", "\r"), pos):
            self.flaw = LINE_BREAK
        return pos

    def _read_mark(self, text: str, pos: int, base: int, *, ended: bool) -> int:
        """Read to after the next quote, bracket or line break, or to a flaw before it."""
        if self._is_in_gap:
            pos = self._read_gap(text, pos)
            if self.flaw or self._is_in_gap:
                return pos
        found = (_TOLERANT_MARK if self._tolerant else _MARK)(text, pos)
        if piece := text[pos : found.start() if found else len(text)].rstrip():
            self._last = piece[-1]
        if found is None:
            return len(text)
        pos, mark = found.start(), found[0]
        if mark in "\"'":
            return self._open_string(text, pos, mark, ended=ended)
        if mark == "\n":
            self._is_in_gap, self._is_indented, self.line_end = True, False, base + pos
            return pos + 1
        self._last = mark
        if mark in _CLOSERS:
            self._closers.append(_CLOSERS[mark])
            self.open.append(base + pos)
        elif self._closers[-1:] == [mark]:
            self._closers.pop()
            self.open.pop()
            self.is_complete = not self._closers
        else:
            self.flaw = f"a {mark!r} that closes nothing"
            return pos
        return pos + 1

    def _read_gap(self, text: str, pos: int) -> int:
        """Read white space, and see whether what follows may follow it."""
        gap: re.Match[str] = (_TOLERANT_GAP if self._tolerant else _GAP)(text, pos)  # type: ignore[assignment]
        if gap[1]:
            self.flaw = "a quote that may not end its string" if self._tolerant else "an empty line"
            return gap.start(1)
        self._is_indented = self._is_indented or gap.end() > pos
        pos = gap.end()
        self._is_in_gap = pos == len(text)
        is_free = self._is_in_gap or self._tolerant or self._is_indented or text[pos] in ")]},"
        if not (is_free or goes_on(self._last, self._closers[-1])):
            self.flaw = ENDS_WITH_LINE
        return pos

    def _open_string(self, text: str, pos: int, quote: str, *, ended: bool) -> int:
        """Open a string, once it is known how many quotes it has."""
        quotes = text[pos : pos + 3]
        if self._tolerant or quotes != quote * 3:
            if not (self._tolerant or ended) and quotes == quote * len(quotes):
                return pos
            quotes = quote
        self._quotes = quotes
        return pos + len(quotes)
