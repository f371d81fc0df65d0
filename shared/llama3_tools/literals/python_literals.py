"""Python's literals as JSON: the arguments of a call, one literal, and objects that are not quite JSON (principle 6).

Nothing is evaluated. What JSON has no word for is refused: bytes, complex numbers, names, keys that are not strings.
Tuples and sets are arrays. Numbers keep their digits.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from llama3_tools.literals.bracket_span import string_end
from llama3_tools.literals.json_depth import MAX_DEPTH
from llama3_tools.literals.python_scalars import is_unicode, number_in_json, unescaped
from llama3_tools.text.json_writing import write_string
from llama3_tools.values import shortened

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_CONSTANTS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_DECODED = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}

# `name=value`, and the comma or the parenthesis after it. But for quotes and constants, the value is the same in JSON.
_NOT_PLAIN = r"\\\x00-\x1f\ud800-\udfff"
_INTEGER = r"-?(?:0|[1-9][0-9]{0,99})"
_NUMBER = rf"{_INTEGER}(?:\.[0-9]{{1,99}})?(?:e[+-]?[0-9]{{1,2}})?"
_ITEM = rf"(?:'[^'\"{_NOT_PLAIN}]*'|\"[^'\"{_NOT_PLAIN}]*\"|{_NUMBER})"
_PLAIN_ARGUMENT = re.compile(
    rf" *(?!True|False|None)([A-Za-z_][A-Za-z0-9_]*) *= *"
    rf"(?:\"([^\"{_NOT_PLAIN}]*)\"|'([^'\"{_NOT_PLAIN}]*)'|({_INTEGER})|({_NUMBER})|({'|'.join(_CONSTANTS)})"
    rf"|(\[(?:{_ITEM}(?:, {_ITEM}){{0,99}})?\])) *(?:,|(\)))"
).match
_NO_ARGUMENTS = re.compile(r"\( *\)").match

_SPACE = r"[ \t\n\r]*"
# Any characters but white space and punctuation of ASCII's: `isidentifier` says whether they are a name.
_WORD = r"[^\x00-/:-@\[-\^`{-\x7f]+"
_TOKEN = re.compile(
    rf"{_SPACE}(?:(?P<string>(?P<prefix>[rRuU]?)(?P<quotes>'''|\"\"\"|['\"]))"
    rf"|(?P<number>[+-]?\.?[0-9][\w.]*(?:(?<=[eE])[+-][\w.]*)?)|(?P<word>{_WORD})"
    rf"|(?P<opening>[(\[{{])|(?P<mark>[)\]}},:])|(?P<other>[\s\S])|\Z)"
).match
_ARGUMENT_NAME = re.compile(rf"{_SPACE}({_WORD}){_SPACE}=").match

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\s\S])")
_SHARED_ESCAPES = frozenset("\"'\\/bfnrt")
# What Python alone escapes, or joins lines by, and `\u` without digits. JSON alone has `\/`.
_DOUBTFUL_ESCAPES = {'"': frozenset("\n\r01234567NUaxuv"), "'": frozenset("\n\r01234567NUaxuv/")}
_CERTAIN_KEY = re.compile(r"\"[^\"'\\:,{}\[\]]*\"").fullmatch
# The other quote where a string might end or begin: `"Paris', 'unit': 'c"`.
_MAY_BE_TWO = {
    quote: re.compile(rf"[^{{]*?{other}{_SPACE}:|[^{other}]*{other}{_SPACE}[,}}\]]").match
    for quote, other in (("'", '"'), ('"', "'"))
}


@dataclass(slots=True, frozen=True)
class Arguments:
    """The arguments of a call, each as JSON."""

    positional: list[str]
    keywords: dict[str, str]


def plain_arguments(text: str, at: int) -> tuple[dict[str, Any], str, int] | None:
    """Parse the arguments of a call if they are as plain as most are; return `None` for all others.

    Each of them has a name, and is a string on one line without escapes, a number, a constant, or a list of such
    strings and numbers. All others, and calls that are not all there, are for `BracketSpan` and `parse_arguments`. They
    come to the same if both read a call.

    >>> plain_arguments("get_weather(city='Paris', days=3) it is", 11)
    ({'city': 'Paris', 'days': 3}, '{"city": "Paris", "days": 3}', 33)
    >>> plain_arguments("get_weather(place={'city': 'Paris'})", 11)

    Returns:
        The arguments, the same as JSON, and the index after the closing parenthesis.
    """
    arguments: dict[str, Any] = {}
    members: list[str] = []
    end = at + 1
    while True:
        match = _PLAIN_ARGUMENT(text, end)
        if match is None:
            empty = None if members else _NO_ARGUMENTS(text, at)
            return ({}, "{}", empty.end()) if empty else None
        name, double, single, integer, real, constant, items, closer = match.groups()
        if single is not None or double is not None:
            arguments[name] = string = double if single is None else single
            members.append(f'"{name}": "{string}"')
        elif integer is not None:
            arguments[name] = int(integer)
            members.append(f'"{name}": {integer}')
        elif real is not None:
            arguments[name] = float(real)
            members.append(f'"{name}": {real}')
        elif constant is not None:
            arguments[name] = _DECODED[constant]
            members.append(f'"{name}": {_CONSTANTS[constant]}')
        else:
            written = items.replace("'", '"')
            arguments[name] = json.loads(written)
            members.append(f'"{name}": {written}')
        end = match.end()
        if closer is not None:
            return (arguments, f"{{{', '.join(members)}}}", end) if len(arguments) == len(members) else None


def parse_arguments(text: str, *, as_they_are: bool = False) -> Arguments:
    r"""Parse the arguments of a call, its parentheses included.

    >>> arguments = parse_arguments("('Paris', days=(1, 0x10), unit=None)")
    >>> arguments.positional, arguments.keywords
    (['"Paris"'], {'days': '[1, 16]', 'unit': 'null'})
    >>> parse_arguments("(city=paris)")
    Traceback (most recent call last):
    ValueError: expected a literal, found the name 'paris'

    Args:
        text: the parentheses and what is between them.
        as_they_are: whether strings in double quotes have no escape but `\"`: Meta's template writes those of its
            built-in tools so.

    Raises:
        ValueError: there is anything but literals; says what.
        EOFError: so far there is nothing else, but the text ends before the call does.
    """
    return _Parser(text, as_they_are=as_they_are).arguments()


def parse_literal(text: str) -> str:
    """Return a literal of Python as JSON; an empty string for anything else.

    >>> parse_literal("{'a': (1,)}"), parse_literal("f(1)")
    ('{"a": [1]}', '')
    """
    try:
        return _Parser(text).literal()
    except (ValueError, EOFError):
        return ""


def mend_object(text: str) -> str | None:
    r"""Return a malformed object as strict JSON if it can be read in one way only; `None` for anything else.

    It may have Python's constants, quotes and numbers, raw control characters and unknown escapes in strings, a comma
    before a closing bracket, and none before a key. No key may be repeated.

    >>> mend_object("{'city': 'Paris' \"days\": [1, 2,], 'note': \"it\\'s\",}")
    '{"city": "Paris", "days": [1, 2], "note": "it\'s"}'
    >>> mend_object("{'note': 'it's'}")
    """
    try:
        return _Parser(text, tolerant=True).literal() if text.startswith("{") else None
    except (ValueError, EOFError):
        return None


class _Container:
    """A bracket that is open, and what was read in it."""

    __slots__ = ("closer", "has_comma", "items", "key", "keys")

    def __init__(self, opener: str) -> None:
        self.closer = _CLOSERS[opener]
        self.has_comma = False
        self.items: list[str] = []
        """Values, or members of a dict, as JSON."""
        self.keys: set[str] = set()
        """The keys of a dict, as JSON."""
        self.key: str | None = None
        """The key whose value comes next."""

    @property
    def may_be_dict(self) -> bool:
        """Whether it is a dict, or is empty and may become one."""
        return self.closer == "}" and (bool(self.keys) or not self.items)

    def in_json(self) -> str:
        """Return the whole value: parentheses around one value are not a tuple."""
        if self.closer == ")" and len(self.items) == 1 and not self.has_comma:
            return self.items[0]
        items = ", ".join(self.items)
        return f"{{{items}}}" if self.may_be_dict else f"[{items}]"


class _Parser:
    """Parses a text that is all there. It does not recurse, as Python's limit counts the caller's frames, too."""

    __slots__ = ("_as_they_are", "_pos", "_text", "_tolerant")

    def __init__(self, text: str, *, as_they_are: bool = False, tolerant: bool = False) -> None:
        self._text = text
        self._pos = 0
        self._as_they_are = as_they_are
        self._tolerant = tolerant

    def arguments(self) -> Arguments:
        """Parse the arguments of a call, and nothing after them."""
        positional: list[str] = []
        keywords: dict[str, str] = {}
        self._pos = 1
        token = self._next()
        while token["mark"] != ")":
            named = _ARGUMENT_NAME(self._text, token.start())
            name = named[1] if named else ""
            if named and name.isidentifier() and name not in ("True", "False", "None"):
                if name in keywords:
                    raise ValueError(f"the argument {shortened(name)!r} occurs twice")
                self._pos = named.end()
                keywords[name] = self._value(self._next())
            else:
                positional.append(self._value(token))
                if keywords:
                    raise ValueError("an argument without a name after one that has one")
            token = self._next()
            if token["mark"] == ",":
                token = self._next()
            elif token["mark"] != ")":
                raise _unexpected(token, "',' or ')'")
        self._end()
        return Arguments(positional, keywords)

    def literal(self) -> str:
        """Parse one literal, and nothing after it."""
        written = self._value(self._next())
        self._end()
        return written

    def _end(self) -> None:
        if self._next().lastgroup:
            raise ValueError("there is more after its end")

    def _next(self) -> re.Match[str]:
        token: re.Match[str] = _TOKEN(self._text, self._pos)  # type: ignore[assignment]  # it matches the end, too
        self._pos = token.end()
        return token

    def _value(self, token: re.Match[str]) -> str:
        """Parse the value that begins with a token; return it as JSON."""
        containers: list[_Container] = []
        while True:
            if token.lastgroup == "opening":
                if len(containers) + 1 == MAX_DEPTH:
                    raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
                containers.append(_Container(token["opening"]))
                token = self._next()
                continue
            if containers and token["mark"] == containers[-1].closer and containers[-1].key is None:
                written = containers.pop().in_json()
            else:
                written = self._scalar(token)
            following = None
            while containers and not (following := self._put(written, containers[-1])):
                written = containers.pop().in_json()
            if following is None:
                return written
            token = following

    def _put(self, written: str, container: _Container) -> re.Match[str] | None:
        """Put a value or a key into its container; return the token after its comma or colon, `None` at the end."""
        token = self._next()
        mark = token["mark"]
        if container.key is not None:
            container.items.append(f"{container.key}: {written}")
            container.key = None
        elif mark == ":" and container.may_be_dict:
            if not written.startswith('"'):
                raise ValueError("a key that is not a string")
            if self._tolerant and (written in container.keys or not _CERTAIN_KEY(written)):
                raise ValueError("a key that occurs twice, or may be more than a key")
            container.keys.add(written)
            container.key = written
            return self._next()
        elif container.keys or (self._tolerant and container.closer == "}"):
            raise _unexpected(token, "':' after the key")
        else:
            container.items.append(written)
        if mark == container.closer:
            return None
        if mark == ",":
            container.has_comma = True
            return self._next()
        is_apart = token.lastgroup == "string" and token.start() < token.start("string")
        if self._tolerant and container.keys and is_apart and not written.rstrip('" ').endswith(","):
            return token  # a key, and no other place for the comma that is missing
        raise _unexpected(token, f"',' or {container.closer!r}")

    def _scalar(self, token: re.Match[str]) -> str:
        """Return the string, number or constant that begins with a token, as JSON."""
        kind, written = token.lastgroup, token[token.lastgroup or 0]
        if kind == "string":
            return write_string(self._string(token))
        if kind == "word" and written in _CONSTANTS:
            return _CONSTANTS[written]
        if kind != "number":
            raise _unexpected(token, "a literal")
        sign = written[0] if written[0] in "+-" else ""
        number = number_in_json(written[len(sign) :].lower())
        if number is None:
            raise _unexpected(token, "a number that JSON has")
        return f"-{number}" if sign == "-" else number

    def _string(self, token: re.Match[str]) -> str:
        """Read a string from its first quote on; return what it says."""
        text, start, quotes = self._text, self._pos, token["quotes"]
        if self._tolerant and len(quotes) > 1:
            raise ValueError("three quotes in a row")
        end = string_end(text, start, quotes, tolerant=self._tolerant)
        if text.startswith(("\n", "\r"), end):
            raise ValueError("a line break in a string")
        if not text.startswith(quotes, end):
            raise EOFError("a string that is not closed")
        self._pos = end + len(quotes)
        written = text[start:end]
        if not is_unicode(written):  # the other half of a pair may be an escape
            raise ValueError("half a surrogate pair in a string")
        if token["prefix"] in ("r", "R"):
            return written
        if self._as_they_are and quotes == '"':
            return written.replace('\\"', '"')
        return _unescaped_tolerantly(written, quotes) if self._tolerant else unescaped(written)


def _unescaped_tolerantly(written: str, quote: str) -> str:
    """Return what a string says in JSON and in Python. A backslash that begins no escape stays.

    Raises:
        ValueError: only one of the languages has an escape, only some backslashes begin one, or it may be two strings.
    """
    if _MAY_BE_TWO[quote](written):
        raise ValueError("a string that may be two")
    escapes = set(_ESCAPE.findall(written))
    known = {escape for escape in escapes if escape in _SHARED_ESCAPES or len(escape) > 1}
    unknown = escapes - known - {"`"}
    if escapes & _DOUBTFUL_ESCAPES[quote] or (known and unknown):
        raise ValueError("a backslash that may begin an escape")
    if unknown:
        return written
    # Neither language has an escaped backtick: models write it as they write an escaped quote.
    plain = {"\\/": "/", "\\`": "`"}
    return unescaped(_ESCAPE.sub(lambda escape: plain.get(escape[0], escape[0]), written))


def _unexpected(token: re.Match[str], expected: str) -> ValueError | EOFError:
    """Return the error for an unexpected token, or for the end of the text in or before it."""
    kind, written = token.lastgroup, shortened(token[token.lastgroup or 0])
    found = "a string" if kind == "string" else repr(written) if kind else "the end"
    if kind == "word":
        found = f"a call of {written!r}" if token.string.startswith("(", token.end()) else f"the name {written!r}"
    may_go_on = kind in (None, "word", "number") or written in ("+", "-", ".")
    is_cut_off = may_go_on and token.end() == len(token.string)
    return (EOFError if is_cut_off else ValueError)(f"expected {expected}, found {found}")
