"""What makes a call a quotation: a code span, quotation marks, a blockquote, a repeated result around it (rule 9)."""

from __future__ import annotations

import re
from collections.abc import Generator

from llama3_tools.reading.source import Source

__all__ = ["Line", "may_be_quoted_behind"]

_MOST_FRESH = 2000
_LONGEST_SPAN = 2
_LOOK_AHEAD = 1000
_BEFORE_BREAK = 5  # what may open a span at the end of a line: `x``\r\n`

_MARKS = re.compile(r"`+|[\r\n]")
_SPAN = re.compile(r"(?<!`)`{1,2}(?!`)")
# Within a word they open nothing, and at the end of one they close a span that was opened on a line before.
_OPENS_NOTHING = re.compile(r"(?<=\w)`{1,2}\w|(?<=[^\s(\[{\"'*_>:-])`{1,2}[ \t]")
_BEFORE_BLOCKQUOTE = re.compile(r"\A(?:[ \t\xa0]|(?:[-*+]|\d{1,4}[.)])(?=[ \t\xa0]))+")  # white space, lists
_LONGEST_HEAD = len("1234. ")
_OPENS_BEFORE_BREAK = re.compile(r"(?<![^\s(\[{\"'*_>:-])(`{1,2})(?:\n|\r\n)\Z")
_CLOSES_BEHIND_BREAK = {n: re.compile(rf"\r?\n`{{{n}}}(?![\w`])") for n in (1, 2)}
_MAY_CLOSE_BEHIND_BREAK = {n: re.compile(rf"\r?\n?`{{0,{n}}}\Z") for n in (1, 2)}
_DIRECTLY_BEFORE = re.compile(r"`\r?\n?\Z")

# How `render_tool_result` shows a result to the model, and how LlamaIndex's ReAct agents do: strangers wrote it.
_RESULT_WORDS = ("Result of ", "Error of ", "Observation:")
_RESULT = re.compile(r"(?<!\w)(?:(?:Result|Error) of (?:a tool|[\w.:/-]{1,128})(?::| \{)|Observation:)")
_LONGEST_RESULT = len("Result of ") + 128 + len(" {") + 1  # with the character before it

_CLOSING_QUOTES = {
    '"': '"',
    "'": "'",
    "\u201c": "\u201d",
    "\u201d": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
    "\u201a": "\u2018\u2019",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "\u2039": "\u203a",
    "\u203a": "\u2039",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "\uff02": "\uff02",
    "\uff07": "\uff07",
}


def may_be_quoted_behind(text: str) -> bool:
    """Tell whether a call behind a piece of text may be quoted, if it is not behind the text before."""
    return "`" in text or ">" in text or text[-1:] in _CLOSING_QUOTES or _shows_result(text)


class Line:
    r"""The line on which a call may stand, as far as it was written: text, without protocol tokens.

    Text is read when it matters, or when there is much of it: most outputs have no call behind most of their text.

    >>> from llama3_tools.reading.source import run_to_end
    >>> line = Line()
    >>> line.add("He wrote:\n> well")
    >>> source = Source()
    >>> source.ended = True
    >>> run_to_end(line.quotes(source))
    'behind the > of a blockquote'
    """

    __slots__ = ("_backticks", "_end", "_fresh", "_head", "_last", "_result")

    def __init__(self) -> None:
        self._fresh = ""
        """What was not read yet."""
        self._head = ""
        """The start of the line, without what may stand before the `>` of a blockquote."""
        self._end = ""
        """The end of the line: the last character, or the backticks that may go on, and the one before them."""
        self._last = ""
        """The last few characters, those of lines before included."""
        self._backticks = 0
        """How many backticks opened the code span that is open in front of the end; 0 where none is."""
        self._result: str | None = ""
        """The end of the line, with which the words may begin that a repeated result stands behind; `None`: it does."""

    def add(self, text: str) -> None:
        """Take the text that follows."""
        self._fresh += text
        if len(self._fresh) > _MOST_FRESH:
            self._read()

    def add_token(self, token: str) -> None:
        """Take a protocol token: nothing but the line break that it may end with."""
        if token.endswith("\n"):
            self.add("\n")

    def add_call(self) -> None:
        """Take a call, which is no text."""
        self.add("}")

    def quotes(self, source: Source) -> Generator[None, None, str | None]:
        """Tell what quotes the call that follows, and behind which the source stands; `None` where nothing does."""
        self._read()
        closing_quotes = _CLOSING_QUOTES.get(self._last[-1:])
        if closing_quotes:
            while source.exhausted and not source.ended:
                yield
            if source.exhausted or source.text[source.pos] in closing_quotes:  # the output was cut off, or it is closed
                return "directly between quotation marks"
        if self._head.startswith(">"):
            return "behind the > of a blockquote"
        if self._result is None:
            return "in the repeated result of a tool"
        backticks = self._open_span()
        is_direct = _DIRECTLY_BEFORE.search(self._last) is not None
        if backticks and (yield from _is_closed(source, backticks, is_direct=is_direct)):
            return "between backticks"
        return None

    def _read(self) -> None:
        """Read what was not read yet."""
        text = self._fresh
        if not text:
            return
        self._fresh = ""
        self._last = (self._last + text[-_BEFORE_BREAK:])[-_BEFORE_BREAK:]
        start = max(text.rfind("\n"), text.rfind("\r")) + 1
        if start:
            text = text[start:]
            self._head = self._end = self._result = ""
            self._backticks = 0
        if len(self._head) < _LONGEST_HEAD:
            self._head = _BEFORE_BLOCKQUOTE.sub("", self._head + text)[:_LONGEST_HEAD]
        if self._result is not None:
            line = self._result + text
            self._result = None if _shows_result(line) else line[-_LONGEST_RESULT:]
        line = self._end + text
        end = len(line.rstrip("`"))
        if "`" in line:
            self._backticks = _backticks_behind(self._backticks, line, end)
        self._end = line[max(end - 1, 0) : end + _LONGEST_SPAN + 1]

    def _open_span(self) -> int:
        """Give how many backticks open the code span at the end of the line; 0 where none is open."""
        if not self._head:
            opening = _OPENS_BEFORE_BREAK.search(self._last)
            return len(opening[1]) if opening else 0
        return _backticks_behind(self._backticks, self._end, len(self._end))


def _shows_result(text: str) -> bool:
    """Tell whether the words stand in a text that a tool's result stands behind."""
    return any(words in text for words in _RESULT_WORDS) and _RESULT.search(text) is not None


def _backticks_behind(backticks: int, line: str, end: int) -> int:
    """Give how many backticks opened the code span that is open at an index of a line, by what was open before it."""
    for run in _SPAN.finditer(line):
        if run.start() >= end:
            break
        if not backticks:
            backticks = 0 if _OPENS_NOTHING.match(line, run.start()) else len(run[0])
        elif len(run[0]) == backticks:
            backticks = 0
    return backticks


def _is_closed(source: Source, backticks: int, *, is_direct: bool) -> Generator[None, None, bool]:
    """Tell whether a code span is closed: on the line, at the start of the next, or by the end of the output.

    Nobody waits for the end of a long line: a span that is open on it is taken to be closed.

    Args:
        source: where to read on. It is not moved.
        backticks: how many close it.
        is_direct: whether the span begins with the call: then output that ends behind it was cut off within the span.
    """
    while not source.ended and _MAY_CLOSE_BEHIND_BREAK[backticks].match(source.text, source.pos):
        yield
    if _CLOSES_BEHIND_BREAK[backticks].match(source.text, source.pos):
        return True
    searched = 0
    while True:
        rest = source.text[source.pos : source.pos + _LOOK_AHEAD]
        is_all = source.ended or len(rest) == _LOOK_AHEAD
        for mark in _MARKS.finditer(rest, searched):
            if mark.end() == len(rest) and not is_all:
                break
            if len(mark[0]) == backticks and mark[0] not in "\r\n":
                return True
            if mark[0] in "\r\n" and is_direct and not is_all and not rest.strip():
                break
            searched = mark.end()
            if mark[0] in "\r\n":
                return is_direct and source.ended and len(rest) < _LOOK_AHEAD and not rest.strip()
        else:
            searched = len(rest)
        if is_all:
            return len(rest) == _LOOK_AHEAD or (is_direct and rest.strip() in {"", "`"})
        yield
