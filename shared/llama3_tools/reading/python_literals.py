"""Reading the arguments of a Python call token by token, across chunks: literals only, and nothing is evaluated.

What JSON has no word for is not read: bytes, complex numbers, keys that are no strings. Tuples and sets are arrays.
The values are written out as JSON on the way, so that every number keeps its digits (rule 8).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from llama3_tools.reading.json_depth import MAX_DEPTH
from llama3_tools.reading.json_scan import Refusal
from llama3_tools.reading.python_scalars import is_unicode, number_in_json, unescaped
from llama3_tools.reading.source import Reading, Source
from llama3_tools.text.json_writing import write_string
from llama3_tools.values import RejectionReason, shortened

__all__ = ["BrokenArguments", "PythonArguments", "read_arguments", "read_rest", "read_run"]


class PythonArguments(NamedTuple):
    """The arguments of one call, each value as JSON text."""

    positional: list[str]
    keywords: dict[str, str]


class BrokenArguments(NamedTuple):
    """Why the arguments could not be read. Offsets count from the start of the output."""

    refusal: Refusal
    end: int
    """Where the last token ends that could still be part of the call."""
    resume: int
    """Where the token stands that could not (rule 6), or the end of the output."""
    closers: str
    """What closes the brackets that are open there, the call's own included, the outermost first."""


class _Next(Enum):
    """What may come next."""

    VALUE = "a literal"
    VALUE_OR_END = "a literal or the closing bracket"
    COMMA_OR_END = "',' or the closing bracket"
    COLON = "':' after the key"
    COLON_COMMA_OR_END = "':', ',' or the closing bracket"


_VALUES = (_Next.VALUE, _Next.VALUE_OR_END)
_COLONS = (_Next.COLON, _Next.COLON_COMMA_OR_END)
_COMMAS = (_Next.COMMA_OR_END, _Next.COLON_COMMA_OR_END)
_ENDS = (_Next.VALUE_OR_END, *_COMMAS)
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}

_WHITE_SPACE = re.compile(r"[ \t\n\r]*")
# All but ASCII's white space and punctuation: what is an identifier is told by the whole of it, as in Python.
_WORD = re.compile(r"[^\x00-/:-@\[-\^`{-\x7f]*")
_FIRST_WORD = re.compile(r"\w+")
_WORD_LENGTH = 8  # how much is shown of a word that cannot stand where it does
_PREFIXES = {
    **dict.fromkeys(("b", "br", "rb"), "bytes"),
    **dict.fromkeys(("f", "fr", "rf"), "an f-string"),
    **dict.fromkeys(("t", "tr", "rt"), "a t-string"),
}
_LONGEST_REST = 1000
_MOST_TOKENS = 100
_REST = re.compile(  # strings, as they stand in Python; brackets; and the rest of a line
    r"(?P<string>\'\'\'[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*\'\'\'"
    r'|"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"""'
    r"|'(?!'')[^'\\\n\r]*(?:\\[\s\S][^'\\\n\r]*)*'"
    r'|"(?!"")[^"\\\n\r]*(?:\\[\s\S][^"\\\n\r]*)*")'
    r"|(?P<opening>[(\[{])|(?P<closing>[)\]}])|[^()\[\]{}'\"\n\r]+"
)
_MAY_BE_STRING = re.compile(r"(?:\A|[^\w'\"])[bfrtuBFRTU]{0,2}\Z")
"""What stands before the quote that opens a string, rather than an apostrophe."""
_PLAIN_ARGUMENT = re.compile(  # most are: it reads them in one go, and what it takes is the same whatever follows
    r"[ \t\n\r]*([A-Za-z_][A-Za-z0-9_]*)[ \t\n\r]*=[ \t\n\r]*"
    r"(?:'([^'\"\\\x00-\x1f\ud800-\udfff]*)'|\"([^'\"\\\x00-\x1f\ud800-\udfff]*)\""
    r"|(-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?)|(True|False|None))[ \t\n\r]*([,)])"
)
_LINE_BREAK = re.compile(r"[\n\r]")
_NUMBER_BODY = re.compile(r"[\w.]*")
_ANY_CHAR = r"\\[\s\S]"
_STRING_BODY = {  # by the quote that ends it; bounded, as `re` keeps a record of each repetition
    **{quote: re.compile(rf"(?:[^{quote}\\\n\r]+|{_ANY_CHAR}){{0,4096}}") for quote in "'\""},
    **{quote * 3: re.compile(rf"(?:[^{quote}\\]+|{_ANY_CHAR}){{0,4096}}") for quote in "'\""},
}


@dataclass(slots=True)
class _Container:
    """A bracket that is open."""

    kind: str
    place: int
    """The index of its opening among the pieces, where it turns out what it was."""
    items: int = 0
    has_comma: bool = False
    is_dict: bool = False
    has_key: bool = False
    """Whether what comes next is the value of a key."""

    def in_json(self) -> tuple[str, str]:
        """Give its opening and its closing in JSON: of parentheses around one value, nothing."""
        if self.kind == "{" and (self.is_dict or not self.items):
            return "{", "}"
        if self.kind == "(" and self.items == 1 and not self.has_comma:
            return "", ""
        return "[", "]"


class _BrokenError(Exception):
    """What is wrong at a token; caught within this file. Without a reason, it may be that the token was cut off."""

    def __init__(self, detail: str, reason: RejectionReason | None = None) -> None:
        super().__init__(detail)
        self.reason = reason


def read_arguments(source: Source, *, as_they_are: bool = False) -> Reading[PythonArguments | BrokenArguments]:
    """Read the arguments behind the parenthesis at which the source stands, up to and with the closing one.

    Args:
        source: where to read. Afterwards it stands behind what was read.
        as_they_are: whether strings in double quotes have no escapes, but for the quote.
    """
    return _Reader(source, as_they_are=as_they_are).read()


def read_rest(source: Source, closers: str) -> Reading[None]:
    """Step over the rest of a broken call, to where the brackets that are open close: its strings are data (rule 6).

    Where they do not on the same line, or a string on the way is not closed, the source stands as before.

    Args:
        source: where to read, behind what broke the call.
        closers: what closes the open brackets, the outermost first.
    """
    while True:
        end = _end_of_rest(source.text, source.pos, closers, is_all=source.ended)
        if end is not None:
            break
        yield None
    source.pos = max(source.pos, end)


def _end_of_rest(text: str, start: int, closers: str, *, is_all: bool) -> int | None:
    """Give where the brackets close, or 0 where they do not; `None` where it takes more text to know."""
    pos, end = start, min(len(text), start + _LONGEST_REST)
    may_go_on = not is_all and len(text) < start + _LONGEST_REST
    for _ in range(_MOST_TOKENS):
        token = _REST.match(text, pos, end)
        if token is None:  # the end of the line or of the text, or a string that nothing closes
            is_open = text.startswith(("'" * 3, '"' * 3), pos) or not _LINE_BREAK.search(text, pos, end)
            return None if may_go_on and is_open else 0
        if token["string"] and not _MAY_BE_STRING.search(text[max(start, pos - 3) : pos]):
            return 0
        pos = token.end()
        if token["opening"]:
            closers += _CLOSER[token["opening"]]
        elif token["closing"] and token["closing"] != closers[-1]:
            return 0
        elif token["closing"]:
            closers = closers[:-1]
            if not closers:
                return pos
    return 0


def read_run(source: Source, pattern: re.Pattern[str]) -> Reading[str]:
    """Step over the characters that a pattern takes, and give them. It has to match no character, too."""
    start = source.offset
    while True:
        match = pattern.match(source.text, source.pos)
        source.pos = match.end() if match else source.pos
        if not source.exhausted or source.ended:
            return source.slice(start, source.offset)
        yield None


class _Reader:
    """The state of one reading."""

    __slots__ = ("arguments", "as_they_are", "containers", "expected", "last_is_string", "name", "pieces", "source")

    def __init__(self, source: Source, *, as_they_are: bool) -> None:
        self.source = source
        self.as_they_are = as_they_are
        self.expected = _Next.VALUE_OR_END
        self.containers: list[_Container] = []
        self.arguments = PythonArguments([], {})
        self.name: str | None = None
        """The name of the current argument, if it has one."""
        self.pieces: list[str] = []
        """Its value, as JSON."""
        self.last_is_string = False
        """Whether the last token was a string, to which another one can be joined."""

    def read(self) -> Reading[PythonArguments | BrokenArguments]:
        source = self.source
        source.pos += 1
        if self._take_plain_arguments():
            return self.arguments
        while True:
            end = source.offset
            yield from read_run(source, _WHITE_SPACE)
            start = source.offset
            try:
                is_closed = yield from self._read_token(source.text[source.pos : source.pos + 1])
            except _BrokenError as broken:
                if source.finished and broken.reason is None:
                    refusal = Refusal(RejectionReason.TRUNCATED, str(broken))
                    return BrokenArguments(refusal, source.offset, source.offset, self._closers())
                refusal = Refusal(broken.reason or RejectionReason.MALFORMED, str(broken))
                return BrokenArguments(refusal, end, start, self._closers())
            if is_closed:
                return self.arguments

    def _closers(self) -> str:
        return ")" + "".join(_CLOSER[container.kind] for container in self.containers)

    def _take_plain_arguments(self) -> bool:
        """Take arguments with a name and a simple value, up to any other; tell whether the call is closed."""
        source, keywords = self.source, self.arguments.keywords
        while argument := _PLAIN_ARGUMENT.match(source.text, source.pos):
            name, single, double, number, constant, closer = argument.groups()
            if name in keywords or name in _CONSTANTS:
                break
            if constant or number:
                keywords[name] = number or _CONSTANTS[constant]
            else:
                keywords[name] = f'"{double if single is None else single}"'
            source.pos = argument.end()
            if closer == ")":
                return True
        return False

    def _read_token(self, char: str) -> Reading[bool]:
        """Read one token; tell whether it closed the call."""
        if not char:
            raise _BrokenError(f"the output ends inside it, where {self.expected.value} was due")
        if char in ")]}":
            return self._close(char)
        if self.expected in _VALUES:
            yield from self._read_value(char)
        elif char in _STRING_BODY and self.last_is_string:
            yield from self._read_string(is_joined=True)
        elif char == "," and self.expected in _COMMAS:
            self._separate()
        elif char == ":" and self.expected in _COLONS:
            self._take_key()
        else:
            found = (yield from self._peek(_WORD_LENGTH)) if char.isidentifier() else char
            match = _FIRST_WORD.match(found)
            raise self._unexpected(match[0] if match else char)
        return False

    def _peek(self, length: int) -> Reading[str]:
        """Look at the next few characters."""
        source = self.source
        while not source.ended and len(source.text) < source.pos + length:
            yield None
        return source.text[source.pos : source.pos + length]

    def _unexpected(self, found: str) -> _BrokenError:
        return self._no_literal(self.source.offset, repr(found))

    def _no_literal(self, offset: int, found: str) -> _BrokenError:
        return _BrokenError(f"expected {self.expected.value} at offset {offset}, found {found}")

    def _close(self, char: str) -> bool:
        closer = _CLOSER[self.containers[-1].kind] if self.containers else ")"
        if char != closer or self.expected not in _ENDS:
            raise self._unexpected(char)
        self.source.pos += 1
        if not self.containers:
            self._end_argument()
            return True
        container = self.containers.pop()
        self.pieces[container.place], closing = container.in_json()
        self._end_value(closing)
        return False

    def _separate(self) -> None:
        if self.containers:
            self.containers[-1].has_comma = True
            self.containers[-1].has_key = False
        else:
            self._end_argument()
        self.source.pos += 1
        self.expected = _Next.VALUE_OR_END

    def _take_key(self) -> None:
        if not self.last_is_string:
            raise _BrokenError(f"a key that is no string, before offset {self.source.offset}")
        self.source.pos += 1
        self.pieces.append(": ")
        self.containers[-1].is_dict = self.containers[-1].has_key = True
        self.expected = _Next.VALUE

    def _end_argument(self) -> None:
        """File the argument that ends here, if there is one."""
        text, name = "".join(self.pieces), self.name
        if name is not None:
            self.arguments.keywords[name] = text
        elif text and self.arguments.keywords:
            detail = f"an argument without a name behind one that has one, before offset {self.source.offset}"
            raise _BrokenError(detail, RejectionReason.MALFORMED)
        elif text:
            self.arguments.positional.append(text)
        self.pieces, self.name = [], None

    def _begin_value(self) -> None:
        """Count the value that begins here, and write what parts it from the one before."""
        if self.containers and not self.containers[-1].has_key:
            if self.containers[-1].items:
                self.pieces.append(", ")
            self.containers[-1].items += 1

    def _end_value(self, *pieces: str, is_string: bool = False) -> None:
        self.pieces += pieces
        self.last_is_string = is_string
        container = self.containers[-1] if self.containers else None
        if container is None or container.kind != "{" or container.has_key:
            self.expected = _Next.COMMA_OR_END
        elif container.is_dict:
            self.expected = _Next.COLON
        else:
            self.expected = _Next.COLON_COMMA_OR_END if container.items == 1 else _Next.COMMA_OR_END

    def _read_value(self, char: str) -> Reading[None]:
        if char in _CLOSER:
            self._open(char)
        elif char in _STRING_BODY:
            yield from self._read_string()
        elif char.isidentifier():
            yield from self._read_word()
        elif char in "+-.0123456789":
            yield from self._read_number()
        else:
            raise self._unexpected(char)

    def _open(self, char: str) -> None:
        if len(self.containers) + 1 == MAX_DEPTH:
            raise _BrokenError(f"nested deeper than {MAX_DEPTH} levels", RejectionReason.TOO_DEEP)
        self._begin_value()
        self.containers.append(_Container(char, len(self.pieces)))
        self.pieces.append(char)
        self.source.pos += 1
        self.expected = _Next.VALUE_OR_END

    def _read_word(self) -> Reading[None]:
        """Read a constant, the prefix of a string, or the name of an argument: any other name is no literal."""
        source, start = self.source, self.source.offset
        word = yield from read_run(source, _WORD)
        following = source.text[source.pos : source.pos + 1]
        if word in _CONSTANTS:
            self._begin_value()
            self._end_value(_CONSTANTS[word])
            return
        if word in ("r", "R", "u", "U") and following in _STRING_BODY:
            yield from self._read_string(is_raw=word in "rR")
            return
        if following and following in "'\"" and word.lower() in _PREFIXES:
            raise self._no_literal(start, _PREFIXES[word.lower()])
        yield from read_run(source, _WHITE_SPACE)
        is_name = word.isidentifier() and source.text.startswith("=", source.pos)
        if self.containers or self.name is not None or not is_name:
            behind = yield from self._peek(_WORD_LENGTH)
            raise self._no_literal(start, self._named(shortened(word), behind))
        if word in self.arguments.keywords:
            raise _BrokenError(f"the argument {shortened(word)!r} stands twice, at offset {start}")
        source.pos += 1
        self.name = word
        self.expected = _Next.VALUE

    def _named(self, name: str, behind: str) -> str:
        """Say what a name is that is no literal, by what stands behind it."""
        if behind.startswith("("):
            return f"a call of {name!r}"
        if behind.startswith(":="):
            return f"an assignment to {name!r}"
        if behind.startswith("=") and self.containers:
            return f"'{name}=' within {self.containers[-1].kind!r}"
        match = _FIRST_WORD.match(behind)
        return "a comprehension" if match and match[0] == "for" else f"the name {name!r}"

    def _read_number(self) -> Reading[None]:
        source, start = self.source, self.source.offset
        sign = source.text[source.pos] if source.text[source.pos] in "+-" else ""
        source.pos += len(sign)
        body = yield from read_run(source, _NUMBER_BODY)
        if body[-1:] in ("e", "E") and source.text[source.pos : source.pos + 1] in ("+", "-"):
            body += source.text[source.pos]
            source.pos += 1
            body += yield from read_run(source, _NUMBER_BODY)
        number = number_in_json(body.lower())
        if number is None:
            raise self._no_literal(start, f"{shortened(sign + body)!r}, no number that JSON has")
        self._begin_value()
        self._end_value(f"-{number}" if sign == "-" else number)

    def _read_string(self, *, is_raw: bool = False, is_joined: bool = False) -> Reading[None]:
        source = self.source
        quote = yield from self._read_quote()
        start = source.offset
        as_it_is = self.as_they_are and quote == '"'
        while not source.text.startswith(quote, source.pos):
            body = _STRING_BODY[quote].match(source.text, source.pos)
            if body and body.end() > source.pos:
                source.pos = body.end()
                continue
            rest = source.text[source.pos : source.pos + len(quote)]
            if rest[:1] == quote[0] and len(rest) == len(quote):
                source.pos += 1  # a quote inside of a string that ends with three
            elif rest[:1] in ("\n", "\r"):
                raise _BrokenError(f"a line break in a string, at offset {source.offset}")
            elif source.ended:
                source.pos = len(source.text)
                raise _BrokenError("an open string")
            else:
                yield None
        text = source.slice(start, source.offset)
        source.pos += len(quote)
        try:
            plain = text.replace('\\"', '"') if as_it_is else text if is_raw else unescaped(text)
            decoded = write_string(plain)[1:-1]
        except ValueError as error:
            raise _BrokenError(str(error), RejectionReason.MALFORMED) from None
        if is_joined:
            self.pieces.pop()
        else:
            self._begin_value()
            self.pieces.append('"')
        if not (is_unicode(text) and is_unicode(decoded)):  # half a pair may be raw, and the other half an escape
            detail = f"half a surrogate pair in the string at offset {start}"
            raise _BrokenError(detail, RejectionReason.MALFORMED)
        expected = self.expected
        self._end_value(decoded, '"', is_string=True)
        if is_joined:
            self.expected = expected

    def _read_quote(self) -> Reading[str]:
        """Read the quote that begins a string: one, or three."""
        source = self.source
        quote = source.text[source.pos]
        while True:
            rest = source.text[source.pos : source.pos + 3]
            if rest == quote * 3:
                source.pos += 3
                return rest
            if len(rest) == len(quote * 3) or source.ended or rest != quote * len(rest):
                source.pos += 1
                return quote
            yield None
