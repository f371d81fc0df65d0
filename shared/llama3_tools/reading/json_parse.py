"""JSON that is all there: an object, or an array of objects, read by the standard library's scanner in C.

It gives up (`None`) on whatever is cut off, malformed or merely unusual: `json_scan` has the last word on what is
strict JSON (rule 8). It accepts nothing that `json_scan` would not, as long as it is not given the surrogates
that Python's scanner lets through: `Source.json_text` sees to that.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from llama3_tools.reading.json_depth import MAX_DEPTH, depth_is_within

__all__ = [
    "JsonMember",
    "JsonObject",
    "decode_checked",
    "decode_object",
    "key_twice",
    "parse_object",
    "parse_objects",
    "skip_json_space",
]

_WHITE_SPACE = re.compile(r"[ \t\n\r]*")
_SIMPLE_KEY = re.compile(r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*')
_KEY_OR_BRACKET = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"([ \t\n\r]*:)?|[{}\[\]]')
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
_COMMA_OR_BRACE = re.compile(r"[ \t\n\r]*([,}])")
_COMMA_OR_BRACKET = re.compile(r"[ \t\n\r]*([,\]])[ \t\n\r]*")

_SAFE_DIGITS = 400  # Python converts at least 640 digits at once, however low its limit is set


class JsonMember(NamedTuple):
    """One key of an object with its value, and where the value stands in the text."""

    key: str
    value: Any
    start: int
    end: int


class JsonObject(NamedTuple):
    """An object with its members in the order of the text, duplicates included."""

    text: str
    start: int
    end: int
    members: list[JsonMember]

    @property
    def json(self) -> str:
        """The object as it was written."""
        return self.text[self.start : self.end]

    @property
    def value(self) -> dict[str, Any]:
        """The object as Python has it: of a key that stands twice, the last."""
        return {member.key: member.value for member in self.members}


class _NotStrictError(ValueError):
    """A value that Python's JSON takes and strict JSON does not."""


def _refuse(constant: str) -> NoReturn:
    raise _NotStrictError(constant)


def _finite_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _NotStrictError(text)
    return value


def _long_int(text: str) -> int:
    """Convert an integer of any size: Python refuses more than some thousand digits at once."""
    if len(text) <= _SAFE_DIGITS:
        return int(text)
    if text.startswith("-"):
        return -_long_int(text[1:])
    half = len(text) // 2
    power: int = 10**half
    return _long_int(text[:-half]) * power + _long_int(text[-half:])


def _scanner(parse_int: Callable[[str], int]) -> Callable[[str, int], tuple[Any, int]]:
    # scan_once is what raw_decode calls, and what it catches is what we have to catch anyway.
    decoder = json.JSONDecoder(parse_float=_finite_float, parse_int=parse_int, parse_constant=_refuse)
    scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once  # type: ignore[attr-defined]  # not in typeshed
    return scan


_scan_once = _scanner(int)
_scan_long_ints = _scanner(_long_int)


def parse_object(text: str, start: int, *, checked: bool = False, levels: int = MAX_DEPTH) -> JsonObject | None:
    """Parse the object whose brace is at `text[start]`; `None` where it is not plainly strict JSON.

    >>> parse_object('{"a": [1]} and more', 0).members
    [JsonMember(key='a', value=[1], start=6, end=9)]

    Args:
        text: the text, which may go on after the object.
        start: the index of the opening brace.
        checked: `json_scan` has found the object to be strict JSON. Then it is always parsed.
        levels: how many levels of objects and arrays it may have.
    """
    parsed = _members(text, start, _decode_checked if checked else _decode)
    return parsed if parsed is None or checked or depth_is_within(text, start, parsed.end, levels) else None


def parse_objects(text: str, start: int, *, checked: bool) -> list[JsonObject] | None:
    """Parse the array of objects whose bracket is at `text[start]`; `None` where it is anything else.

    >>> [parsed.json for parsed in parse_objects('[{"a": 1}, {}]', 0, checked=False)]
    ['{"a": 1}', '{}']
    """
    parsed: list[JsonObject] = []
    pos = skip_json_space(text, start + 1)
    while text.startswith("{", pos):
        item = parse_object(text, pos, checked=checked, levels=MAX_DEPTH - 1)
        if item is None:
            return None
        parsed.append(item)
        separator = _COMMA_OR_BRACKET.match(text, item.end)
        if separator is None:
            return None
        if separator[1] == "]":
            return parsed
        pos = separator.end()
    return parsed if not parsed and text.startswith("]", pos) else None


def key_twice(text: str, start: int, end: int) -> tuple[str, int] | None:
    """Find the first key that one object has twice, at any depth of strict JSON, and where it stands again.

    >>> key_twice('{"a": {"b": 1, "b": 2}, "c": "a"}', 0, 33)
    ('b', 15)
    """
    open_values: list[set[str]] = []
    for match in _KEY_OR_BRACKET.finditer(text, start, end):
        found = match[0]
        if found in "{[":
            open_values.append(set())
        elif found in "}]":
            open_values.pop()
        elif match[2]:
            written: str = match[1]
            key = json.loads(f'"{written}"') if "\\" in written else written
            if key in open_values[-1]:
                return key, match.start()
            open_values[-1].add(key)
    return None


def decode_checked(text: str) -> dict[str, Any]:
    """Decode an object that is known to be strict JSON, and no key of its own to stand twice.

    >>> decode_checked('{"a": 1}')
    {'a': 1}
    """
    value: dict[str, Any] = _decode_checked(text, 0)[0]
    return value


def decode_object(text: str, start: int, *, levels: int = MAX_DEPTH) -> tuple[dict[str, Any], int] | None:
    """Decode the object whose brace is at `text[start]`, and give its end; `None` where it is not plainly strict JSON.

    >>> decode_object('{"a": 1} and more', 0)
    ({'a': 1}, 8)
    """
    decoded = _decode(text, start)
    if decoded is None:
        return None
    value, end = decoded
    return decoded if depth_is_within(text, start, end, levels, value) else None


def skip_json_space(text: str, pos: int) -> int:
    """Give the index of the next character that is no white space of JSON's."""
    match = _WHITE_SPACE.match(text, pos)
    return match.end() if match else pos


def _members(text: str, start: int, decode: Callable[[str, int], tuple[Any, int] | None]) -> JsonObject | None:
    members: list[JsonMember] = []
    pos = start + 1
    if text.startswith("}", skip_json_space(text, pos)):
        return JsonObject(text, start, skip_json_space(text, pos) + 1, members)
    while True:
        match = _SIMPLE_KEY.match(text, pos)
        if match is not None:
            key, pos = match[1], match.end()
        else:
            pos = skip_json_space(text, pos)
            decoded = decode(text, pos) if text.startswith('"', pos) else None
            colon = decoded and _COLON.match(text, decoded[1])
            if not decoded or not colon:
                return None
            key, pos = decoded[0], colon.end()
        decoded = decode(text, pos)
        if decoded is None:
            return None
        value, end = decoded
        members.append(JsonMember(key, value, pos, end))
        separator = _COMMA_OR_BRACE.match(text, end)
        if separator is None:
            return None
        pos = separator.end()
        if separator[1] == "}":
            return JsonObject(text, start, pos, members)


def _decode(text: str, pos: int) -> tuple[Any, int] | None:
    try:
        return _scan_once(text, pos)
    except (StopIteration, ValueError, RecursionError):
        return None


def _decode_checked(text: str, pos: int) -> tuple[Any, int]:
    """Decode a value that is known to be strict JSON, however long its integers and however full the stack."""
    try:
        return _scan_once(text, pos)
    except (ValueError, RecursionError):
        return _decode_iteratively(text, pos)


def _decode_iteratively(text: str, pos: int) -> tuple[Any, int]:
    """Decode without recursion, as Python's limit counts the caller's frames too."""
    open_values: list[dict[str, Any] | list[Any]] = []
    keys: list[str] = []
    while True:
        value: Any
        if text[pos] in "{[":
            open_values.append({} if text[pos] == "{" else [])
            pos = skip_json_space(text, pos + 1)
        else:
            value, pos = _scan_long_ints(text, pos)
            pos = _attach(open_values, keys, value, text, pos)
        while open_values and text[pos] in "}]":
            value, pos = open_values.pop(), pos + 1
            if not open_values:
                return value, pos
            pos = _attach(open_values, keys, value, text, pos)
        if not open_values:
            return value, pos
        if type(open_values[-1]) is dict:
            key, pos = _scan_long_ints(text, pos)
            keys.append(key)
            pos = skip_json_space(text, skip_json_space(text, pos) + 1)


def _attach(open_values: list[dict[str, Any] | list[Any]], keys: list[str], value: object, text: str, pos: int) -> int:
    """Put a value into the innermost open container; give where the next token starts, past a comma."""
    if not open_values:
        return pos
    parent = open_values[-1]
    if isinstance(parent, dict):
        parent[keys.pop()] = value
    else:
        parent.append(value)
    pos = skip_json_space(text, pos)
    return skip_json_space(text, pos + 1) if text[pos] == "," else pos
