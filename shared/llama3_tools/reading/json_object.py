"""Strict JSON objects that are all there, parsed by the standard library's scanner in C (rule 8).

The scanner accepts more than strict JSON and stops at less: `NaN`, numbers that overflow, halves of surrogate pairs
and keys that stand twice are found here; integers of any size and any depth are decoded once `json_tokens` has found
the grammar to be right.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

from llama3_tools.reading.json_depth import MAX_DEPTH, depth_is_within
from llama3_tools.reading.json_tokens import scan_json
from llama3_tools.reading.python_scalars import is_unicode
from llama3_tools.values import shortened

__all__ = [
    "NO_JSON_VALUE",
    "JsonObject",
    "has_key_twice",
    "parse_elements",
    "parse_lone",
    "parse_object",
    "parse_whole",
    "skip_json_space",
]

NO_JSON_VALUE = "a number or a constant that JSON does not have"
"""Why an object is refused whose grammar is right, and which `parse_object` does not parse."""

_SAFE_DIGITS = 400  # Python converts at least 640 digits at once, however low its limit is set

_W = r"[ \t\n\r]*"
# A key, and its value too if that is a plain string: most members take one step.
_MEMBER = re.compile(rf'{_W}"([^"\\\x00-\x1f]*)"{_W}:{_W}(?:"([^"\\\x00-\x1f]*)"{_W}([,}}]))?').match
_SPACE = re.compile(_W).match
_COLON = re.compile(rf"{_W}:{_W}").match
_COMMA_OR_BRACE = re.compile(rf"{_W}([,}}])").match
_COMMA_OR_BRACKET = re.compile(rf"{_W}([,\]]){_W}").match
_LONG_DIGITS = re.compile(rf"[0-9]{{{_SAFE_DIGITS},}}")
_MAY_BE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]").search


class JsonObject:
    """One object, its members decoded, and where those stand that are no plain strings.

    >>> parsed = parse_object('{"name": "f", "parameters": {"n": 1.0}} and more', 0)
    >>> parsed.members, parsed.written("parameters"), parsed.end
    ({'name': 'f', 'parameters': {'n': 1.0}}, '{"n": 1.0}', 39)
    """

    __slots__ = ("end", "flaw", "members", "spans", "start", "text")

    def __init__(  # noqa: PLR0913, PLR0917 (an attribute each)
        self, text: str, start: int, end: int, members: dict[str, Any], spans: dict[str, tuple[int, int]], flaw: str
    ) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.members = members
        self.spans = spans
        """Where the values stand that are anything but plain strings, as indexes into `text`; if there is no flaw."""
        self.flaw = flaw
        """Why it is not strict, although its grammar is JSON's; empty if it is."""

    @property
    def json(self) -> str:
        """The object as it was written."""
        return self.text[self.start : self.end]

    def written(self, key: str) -> str:
        """Return the value of a member as it was written; the member is no plain string."""
        start, end = self.spans[key]
        return self.text[start:end]


class _NotStrictError(ValueError):
    """A value that Python's JSON takes and strict JSON does not."""


def _refuse(_: str) -> NoReturn:
    raise _NotStrictError


def _finite_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _NotStrictError
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


def parse_object(text: str, start: int, *, checked: bool = False) -> JsonObject | None:  # noqa: C901, PLR0912 (one loop)
    """Parse the object whose brace is at `text[start]`; return `None` if the scanner in C stumbles over it.

    Args:
        text: the text, which may go on after the object.
        start: the index of the opening brace.
        checked: whether the grammar was found to be right. Then it is parsed whatever its size and depth, and `None`
            means a constant or a number that strict JSON does not have.
    """
    decode = _decode_checked if checked else _scan_once
    members: dict[str, Any] = {}
    spans: dict[str, tuple[int, int]] = {}
    flaw = ""
    pos = start + 1
    try:
        while True:
            match = _MEMBER(text, pos)
            if match is not None:
                key, value, separator = match.groups()
                pos = match.end()
            else:  # an empty object, or a key with escapes
                pos = skip_json_space(text, pos)
                if text[pos] == "}" and not members:
                    pos += 1
                    break
                if text[pos] != '"':
                    return None
                key, pos = decode(text, pos)
                colon = _COLON(text, pos)
                if colon is None:
                    return None
                pos, separator = colon.end(), None
            if separator is None:
                value, end = decode(text, pos)
                spans[key] = pos, end
                match = _COMMA_OR_BRACE(text, end)
                if match is None:
                    return None
                separator, pos = match[1], match.end()
            if key in members:
                flaw = flaw or f"the key {shortened(key)!r} stands twice"
            members[key] = value
            if separator == "}":
                break
    except (StopIteration, ValueError, RecursionError, IndexError):
        return None
    if not checked and not depth_is_within(text, start, pos, MAX_DEPTH):
        return None
    if not text.isascii() or "\\u" in text[start:pos]:
        flaw = flaw or _surrogate(text, start, pos)
    return JsonObject(text, start, pos, members, spans, flaw)


def parse_elements(text: str, start: int) -> list[JsonObject] | None:
    """Parse the array of objects whose bracket is at `text[start]`, known to be JSON; `None` if it holds anything else.

    >>> [parsed.json for parsed in parse_elements('[{"a": 1}, {}]', 0)]
    ['{"a": 1}', '{}']
    """
    parsed: list[JsonObject] = []
    pos = skip_json_space(text, start + 1)
    while (
        text.startswith("{", pos)
        and (item := parse_object(text, pos, checked=True))
        and (separator := _COMMA_OR_BRACKET(text, item.end))
    ):
        parsed.append(item)
        if separator[1] == "]":
            return parsed
        pos = separator.end()
    return parsed if not parsed and text.startswith("]", pos) else None


def parse_whole(text: str) -> JsonObject | None:
    """Parse text that is one strict JSON object and nothing else; return `None` if it is not.

    >>> parse_whole(' {"a": 1} ').members
    {'a': 1}
    >>> parse_whole('{"a": 1} and more')
    """
    parsed = parse_lone(text)
    return parsed if parsed and not parsed.flaw else None


def parse_lone(text: str) -> JsonObject | None:
    """Parse text that is one JSON object and nothing else, strict or not; return `None` if it is not."""
    start = skip_json_space(text, 0)
    if not text.startswith("{", start):
        return None
    parsed = parse_object(text, start)
    if parsed is None and scan_json(text, start).refusal is None:
        parsed = parse_object(text, start, checked=True)
    return parsed if parsed and skip_json_space(text, parsed.end) == len(text) else None


def has_key_twice(members: dict[str, Any], written: str) -> bool:
    """Return whether a decoded object has a key at its own level that stood twice in the text.

    >>> has_key_twice({"a": 2}, '{"a": 1, "a": 2}'), has_key_twice({"a": ":"}, '{"a": ":"}')
    (True, False)
    """
    if written.count(":") == len(members):  # each key has a colon; the other colons stand in strings and in objects
        return False
    parsed = parse_object(written, 0, checked=True)
    return parsed is not None and "stands twice" in parsed.flaw


def skip_json_space(text: str, pos: int) -> int:
    """Return the index of the next character that is no white space of JSON's."""
    match = _SPACE(text, pos)
    assert match is not None  # noqa: S101  # it takes nothing, too
    return match.end()


def _surrogate(text: str, start: int, end: int) -> str:
    """Return what is wrong if half a surrogate pair stands there, raw or as an escape; nothing if none does."""
    written = _LONG_DIGITS.sub("0", text[start:end])  # which Python does not write
    if not _MAY_BE_SURROGATE(written):
        return ""
    is_whole = is_unicode(written) and is_unicode(json.dumps(_decode_checked(written, 0)[0], ensure_ascii=False))
    return "" if is_whole else "half a surrogate pair"


def _decode_checked(text: str, pos: int) -> tuple[Any, int]:
    """Decode a value that is known to be JSON, however long its integers and however full the stack."""
    try:
        return _scan_once(text, pos)
    except _NotStrictError:
        raise
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
    """Put a value into the innermost open container; return where the next token starts, past a comma."""
    if not open_values:
        return pos
    parent = open_values[-1]
    if isinstance(parent, dict):
        parent[keys.pop()] = value
    else:
        parent.append(value)
    pos = skip_json_space(text, pos)
    return skip_json_space(text, pos + 1) if text[pos] == "," else pos
