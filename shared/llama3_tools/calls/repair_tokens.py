"""Where an object or array that is no JSON closes, and what stands in it, written as JSON (rule 6).

It reads what models commonly write instead of JSON: other quotes around keys, or none; strings in single quotes;
quotes, line breaks and odd escapes within strings; a comma or a colon too few; a comma at the end; comments; Python's
literals. At anything else, and at what could be meant in two ways, it gives up.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from enum import Enum
from typing import NamedTuple, TypeAlias, TypeVar

from llama3_tools.literals.json_depth import MAX_DEPTH
from llama3_tools.literals.python_scalars import is_unicode
from llama3_tools.text.json_writing import write_string
from llama3_tools.values import Span

__all__ = ["MAX_LENGTH", "GrowingSource", "Rewritten", "Token", "TokenKind", "rewrite", "scan_broken"]

MAX_LENGTH = 4096
"""How many characters a malformed object or array may have: what is longer is not repaired."""

_SPACE = r"[ \t\n\r]{0,256}"
_BARE = r"[^\W\d][\w$-]{0,63}"
_TEXT = r"[^\"'\\\n{},:]{0,128}"


_T = TypeVar("_T")

Reading: TypeAlias = Generator[None, None, _T]
"""A reader at work. It yields when it needs more text than there is."""


class GrowingSource:
    """The text from a brace on, which may grow, and where reading stands in it."""

    __slots__ = ("_limit", "base", "is_all", "pos", "text")

    text: str
    """What has arrived of it."""
    is_all: bool
    """Whether no more of it comes, or may be read."""

    def __init__(self, base: int, length: int) -> None:
        self.pos = 0
        self.base = base
        """The offset of `text[0]` in the output."""
        self._limit = min(length, MAX_LENGTH)

    def show(self, text: str, start: int, *, ended: bool) -> None:
        """Take what has arrived: a text in which the brace stands at an index."""
        self.text = text[start : start + self._limit]
        self.is_all = ended or len(self.text) >= self._limit

    @property
    def offset(self) -> int:
        """The offset at which reading stands."""
        return self.base + self.pos

    def slice(self, start: int, end: int) -> str:
        """Return the text between two offsets."""
        return self.text[start - self.base : end - self.base]


class _Pattern(NamedTuple):
    """A token, and what may still become one at the end of the text."""

    whole: re.Pattern[str]
    partial: re.Pattern[str]

    @staticmethod
    def of(whole: str, partial: str) -> _Pattern:
        return _Pattern(re.compile(whole), re.compile(partial))


_COMMENTS = {"#": "\n", "//": "\n", "/*": "*/"}
"""What opens a comment, and what closes it."""
_LONGEST_COMMENT = 1024
_KEY = _Pattern.of(
    rf"(?:({_BARE})[\"']?|[\"']({_BARE})[\"']){_SPACE}:"
    rf"|(?:\"({_TEXT})\"|'({_TEXT})')(?:{_SPACE}(?::|(?=[{{\[]))|[ \t\n\r]{{1,256}}(?=[\"']))",
    rf"[\"']?{_BARE}[\"']?{_SPACE}\Z|(?:\"{_TEXT}\"|'{_TEXT}'){_SPACE}\Z|[\"']{_TEXT}\Z",
)
_PLAIN = _Pattern.of(
    r"(?:-?(?:0|[1-9][0-9]{0,300})(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?|[Tt]rue|[Ff]alse|null|None)"
    r"(?=[ \t\n\r,}\]])",
    r"-?[0-9]{0,301}(?:\.[0-9]{0,300})?(?:[eE][+-]?[0-9]{0,3})?\Z|[TtFfnN][a-z]{0,4}\Z",
)
_NEXT_KEY = _Pattern.of(
    rf"\"{_BARE}\"{_SPACE}:|'{_BARE}'{_SPACE}:",
    rf"\"(?:{_BARE}(?:\"{_SPACE})?)?\Z|'(?:{_BARE}(?:'{_SPACE})?)?\Z",
)
_BEHIND_QUOTE = _Pattern.of(rf"{_SPACE}([^ \t\n\r])", rf"{_SPACE}\Z")
_WHITE_SPACE = re.compile(r"[ \t\n\r]*")
_BODY = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}

_NO_STRING = ":+%."
"""What follows a quote in code: in `"a": 1` that is missing a quote before, in `"a" + "b"`, in `"a".upper()`."""

_CLOSER = {"{": "}", "[": "]"}
_LITERALS = {"True": "true", "False": "false", "None": "null"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"'\\/bfnrt]))")
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class TokenKind(Enum):
    """What a token is. Commas and comments are none."""

    OPENING = "an opening bracket"
    CLOSING = "a closing bracket"
    KEY = "a key, with its colon if it has one"
    STRING = "a string"
    PLAIN = "a number or a literal"


class Token(NamedTuple):
    """A piece of a malformed object or array. Offsets count from the start of the output."""

    kind: TokenKind
    start: int
    end: int
    key: str = ""
    """Of a key: its text."""


class Rewritten(NamedTuple):
    """A malformed object or array, as its tokens say it was meant."""

    json: str
    """All of it as JSON, numbers as they were written."""
    spans: dict[int, Span]
    """Where the object at an index of `json` stands in the output."""


def scan_broken(source: GrowingSource, first_keys: frozenset[str] | None) -> Reading[list[Token] | None]:
    """Read from a brace or bracket to where it closes; `None` where that is not certain.

    Args:
        source: where to read. Afterwards it stands after what closed, or where that became uncertain.
        first_keys: what the first key may be; `None`: anything.
    """
    return _Scanner(source, first_keys).scan()


def rewrite(text: str, tokens: list[Token]) -> Rewritten:
    """Write tokens as JSON.

    Args:
        text: what the tokens are of.
        tokens: all of them, as `scan_broken` gave them.

    Raises:
        ValueError: half a surrogate pair.
    """
    if not is_unicode(text):  # an escape could make a whole of a raw half
        raise ValueError
    start = tokens[0].start
    pieces: list[str] = []
    spans: dict[int, Span] = {}
    open_at: list[tuple[int, int]] = []
    length = 0
    separator = ""
    for kind, begin, end, key in tokens:
        written = text[begin - start : end - start]
        if kind is TokenKind.KEY:
            written = f"{write_string(key)}:"
        elif kind is TokenKind.STRING:
            written = write_string(_unquoted(written))
        elif kind is TokenKind.CLOSING:
            separator = ""
        piece = separator + _LITERALS.get(written, written)
        if kind is TokenKind.OPENING:
            open_at.append((length + len(separator), begin))
        pieces.append(piece)
        length += len(piece)
        separator = "" if kind in (TokenKind.OPENING, TokenKind.KEY) else ", "
        if kind is TokenKind.CLOSING:
            at, opened = open_at.pop()
            spans[at] = opened, end
    return Rewritten("".join(pieces), spans)


def _unquoted(written: str) -> str:
    """Return the text of a string. A backslash that begins no escape stays."""
    text = _ESCAPE.sub(_unescaped, written[1:-1])
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPED.get(match[2], match[2])


class _Next(Enum):
    """What comes next."""

    KEY = "a key or '}'"
    VALUE = "the value of a key"
    ITEM = "a value or ']'"
    SEPARATOR = "a comma or the closing bracket"


class _Scanner:
    """The state of one scan."""

    __slots__ = ("closers", "expected", "first_keys", "has_inner_quotes", "source", "tokens")

    def __init__(self, source: GrowingSource, first_keys: frozenset[str] | None) -> None:
        self.source = source
        self.first_keys = first_keys
        self.tokens: list[Token] = []
        self.closers: list[str] = []
        self.expected = _Next.VALUE
        self.has_inner_quotes = False

    def scan(self) -> Reading[list[Token] | None]:
        while (yield from self._skip()) and (yield from self._read_token()):
            if not self.closers:
                return self.tokens if (yield from self._ends_here()) else None
        return None

    def _more(self) -> Reading[bool]:
        """Wait for more text; return whether there is any."""
        if self.source.is_all:
            return False
        yield None
        return True

    def _match(self, pattern: _Pattern, ahead: int = 0) -> Reading[re.Match[str] | None]:
        """Match where the source stands, or so many characters ahead."""
        while True:
            text, pos = self.source.text, self.source.pos + ahead
            match = pattern.whole.match(text, pos)
            if match or not pattern.partial.match(text, pos) or not (yield from self._more()):
                return match

    def _skip(self) -> Reading[bool]:
        """Step over white space and comments; tell whether there is something after."""
        source = self.source
        while True:
            space = _WHITE_SPACE.match(source.text, source.pos)
            source.pos = space.end() if space else source.pos
            if source.pos >= len(source.text):
                if not (yield from self._more()):
                    return False
                continue
            if not (yield from self._skip_comment()):
                return True

    def _skip_comment(self) -> Reading[bool]:
        """Step over a comment, if there is one that is not too long."""
        source = self.source
        while True:
            beginning = source.text[source.pos : source.pos + 2]
            opening = beginning if beginning in _COMMENTS else beginning[0]
            if opening in _COMMENTS:
                closing, inside = _COMMENTS[opening], source.pos + len(opening)
                last = inside + _LONGEST_COMMENT + len(closing)
                closed = source.text.find(closing, inside, last)
                if closed >= 0:
                    source.pos = closed + len(closing)
                    return True
                is_open = last > len(source.text)
            else:
                is_open = beginning == "/"
            if not is_open or not (yield from self._more()):
                return False

    def _read_token(self) -> Reading[bool]:
        """Read one token, or a comma; tell whether it may stand here."""
        char, expected = self.source.text[self.source.pos], self.expected
        if self.closers and char == self.closers[-1] and expected is not _Next.VALUE:
            return self._close()
        if expected is _Next.SEPARATOR and char == ",":
            self.source.pos += 1
            self.expected = self._in_container
            return True
        if expected is _Next.KEY or (expected is _Next.SEPARATOR and self.closers[-1] == "}"):
            return (yield from self._read_key())
        if expected is _Next.SEPARATOR:
            return False
        if char in _CLOSER:
            return self._open(char)
        return (yield from self._read_string(char) if char in _BODY else self._read_plain())

    @property
    def _in_container(self) -> _Next:
        return _Next.KEY if self.closers[-1] == "}" else _Next.ITEM

    def _take(self, kind: TokenKind, length: int, key: str = "") -> bool:
        start = self.source.offset
        self.source.pos += length
        self.tokens.append(Token(kind, start, self.source.offset, key))
        return True

    def _open(self, char: str) -> bool:
        self.closers.append(_CLOSER[char])
        self.expected = self._in_container
        return self._take(TokenKind.OPENING, 1) and len(self.closers) <= MAX_DEPTH

    def _close(self) -> bool:
        self.closers.pop()
        self.expected = _Next.SEPARATOR
        return self._take(TokenKind.CLOSING, 1)

    def _read_key(self) -> Reading[bool]:
        match = yield from self._match(_KEY)
        if match is None:
            return False
        key = next(filter(None, match.groups()), "")
        if self.first_keys is not None and key not in self.first_keys:
            return False
        self.first_keys, self.expected = None, _Next.VALUE
        return self._take(TokenKind.KEY, len(match[0]), key)

    def _read_plain(self) -> Reading[bool]:
        match = yield from self._match(_PLAIN)
        self.expected = _Next.SEPARATOR
        return match is not None and self._take(TokenKind.PLAIN, len(match[0]))

    def _read_string(self, quote: str) -> Reading[bool]:
        """Read a string to the quote that plausibly closes it. If it is malformed, the quotes within come in pairs."""
        source, start, inner, before = self.source, self.source.offset, 0, quote
        source.pos += 1
        while True:
            body = _BODY[quote].match(source.text, source.pos)
            if body and body[0]:
                source.pos, before = body.end(), body[0][-1]
            if source.pos + 1 >= len(source.text):
                if not (yield from self._more()):
                    return False
                continue
            if source.text[source.pos] == "\\":
                source.pos, before = source.pos + 2, "\\"
                continue
            closes = yield from self._closes(is_first=inner % 2 == 0)
            if closes is None:
                return False
            source.pos += 1
            if closes:
                self.tokens.append(Token(TokenKind.STRING, start, source.offset))
                self.has_inner_quotes |= (
                    source.slice(start, source.offset)[1:-1].isspace() or source.offset == start + 2
                )
                self.expected = _Next.SEPARATOR
                return inner % 2 == 0
            is_apostrophe = quote == "'" and before.isalnum() and source.text[source.pos].isalpha()
            inner, before = inner + (not is_apostrophe), quote
            self.has_inner_quotes = True

    def _closes(self, *, is_first: bool) -> Reading[bool | None]:
        """Return whether the quote here closes its string; `None`: this is no string, or there are two side by side.

        Args:
            is_first: whether it would be the first of a pair, if it stood within the string.
        """
        after = yield from self._match(_BEHIND_QUOTE, 1)
        if after is None or after[1] in _NO_STRING:
            return None if after else False
        if after[1] in (",", self.closers[-1]):
            return True
        if after[1] not in _BODY:
            return False
        is_apart = self.closers[-1] == "}" and len(after[0]) > 1
        if is_apart and (yield from self._match(_NEXT_KEY, len(after[0]))):
            return True
        return None if is_first else False

    def _ends_here(self) -> Reading[bool]:
        """Where quotes within strings had to be told apart, refuse an end that is followed by another quote."""
        while self.has_inner_quotes and self.source.pos >= len(self.source.text):
            if not (yield from self._more()):
                return True
        return not self.has_inner_quotes or self.source.text[self.source.pos] not in _BODY
