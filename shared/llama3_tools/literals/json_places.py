"""The places in JSON that a message names: of what is not strict, of a repeated key, of a value (principle 1)."""

from __future__ import annotations

import json
import math
import re
from typing import NamedTuple

from llama3_tools.literals.json_object import JsonObject, half_of_pair, parse_object, skip_json_space
from llama3_tools.literals.json_tokens import JsonTokens
from llama3_tools.literals.refusal import Refusal
from llama3_tools.values import RejectionReason

_KEY_OR_BRACKET = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"([ \t\n\r]*:)?|[{}\[\]]')
_STRING_OR_NUMBER = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)')
_decoded = json.JSONDecoder().raw_decode


class BrokenObject(NamedTuple):
    """An object that is not strict JSON."""

    refusal: Refusal
    """Why."""
    end: int
    """The index at which it breaks."""


def read_object(text: str, start: int) -> JsonObject | BrokenObject:
    """Return the object whose brace is at an index of a whole text, or why it is not strict JSON.

    It may still have a key twice: its `flaw` says so.

    >>> read_object('{"a": 1} and more', 0).members
    {'a': 1}
    >>> read_object('{"a": 1e999}', 0)[0].detail, read_object('{"a": oops}', 0).end
    ('a number too large for a float, before offset 11', 6)

    Args:
        text: the text, which may go on after the object.
        start: the index of the brace.
    """
    parsed = parse_object(text, start)
    if parsed is None:
        tokens = JsonTokens()
        end = tokens.read(text, start, 0, ended=True)
        if tokens.refusal is not None:
            return BrokenObject(tokens.refusal, end)
        parsed = parse_object(text, start, checked=True)
        if parsed is None:
            return _malformed("a number too large for a float, before offset", _large_number(text, start))
    half = half_of_pair(text, start, parsed.end) if parsed.flaw else None
    return parsed if half is None else _malformed("half a surrogate pair, at offset", half)


def key_twice(text: str, start: int, end: int) -> tuple[str, int] | None:
    """Find the first key that an object has twice, at any depth of strict JSON, and where it is repeated.

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


def value_start(parsed: JsonObject, key: str) -> int:
    """Return the index at which a member's value begins, in an object without repeated keys.

    >>> value_start(parse_object('{"a": "b", "c": [1]}', 0), "a")
    6
    """
    text, spans = parsed.text, parsed.spans
    if key in spans:
        return spans[key][0]
    pos = parsed.start
    while True:
        name, end = _decoded(text, skip_json_space(text, pos + 1))
        value = skip_json_space(text, skip_json_space(text, end) + 1)
        if name == key:
            return value
        end = spans[name][1] if name in spans else _decoded(text, value)[1]
        pos = skip_json_space(text, end)


def _large_number(text: str, start: int) -> int:
    """Find the end of the number because of which an object with JSON's grammar is not strict JSON."""
    numbers = ((match[1], match.end()) for match in _STRING_OR_NUMBER.finditer(text, start) if match[1])
    return next(end for number, end in numbers if not number.lstrip("-").isdigit() and math.isinf(float(number)))


def _malformed(detail: str, index: int) -> BrokenObject:
    return BrokenObject(Refusal(RejectionReason.MALFORMED, f"{detail} {index}"), index)
