"""JSON text of decoded values, with integers of any size, which Python itself does not write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llama3_tools.text.escaping import escape_invisible

write_string: Callable[[str], str] = json.JSONEncoder(ensure_ascii=False).encode
"""Writes a string as JSON: `json.dumps` makes such an encoder for each."""

_SAFE_BITS = 2000  # some 600 digits, which Python writes at once, however low its limit is set

_END = object()
"""What ends a container, after its closing bracket."""


def write_json(value: object, *, default: Callable[[Any], object] | None = None, sort_keys: bool = False) -> str:
    """Write a value as JSON, however long its integers and however full the stack.

    >>> write_json({"a": [1, None]})
    '{"a": [1, null]}'
    >>> len(write_json(10**5000))
    5001

    Args:
        value: the value; other mappings and sequences than `dict`, `list` and `tuple` are not JSON.
        default: gives what is written instead of a value that is not JSON.
        sort_keys: whether the members of objects are written in the order of their keys, which are strings.

    Raises:
        TypeError: the value is not JSON, or has a key that JSON cannot have.
        ValueError: it contains itself.
    """
    try:
        return json.dumps(value, ensure_ascii=False, default=default, sort_keys=sort_keys)
    except (ValueError, RecursionError):
        return "".join(_pieces(value, default, sort_keys=sort_keys))


def shown(value: object) -> str:
    """Show a value as Python would, and what Python does not write as JSON in which no character hides.

    >>> shown({"a": None})
    "{'a': None}"
    """
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return escape_invisible(write_json(value, default=lambda other: f"<{type(other).__name__}>"))


def written_arguments(arguments: object) -> str:
    """Write the arguments of a call as JSON, what JSON has no form for as Python shows it. Text is taken as it is.

    What cannot be written so either is a JSON string, which nothing takes for arguments.

    >>> from datetime import date
    >>> written_arguments({"day": date(2026, 1, 2)}), written_arguments({(1, 2): 3}), written_arguments('{"n": 1}')
    ('{"day": "2026-01-02"}', '"{…}"', '{"n": 1}')
    """
    if isinstance(arguments, str):
        return arguments
    try:
        return write_json(arguments, default=str)
    except (TypeError, ValueError, RecursionError):  # keys like (1, 2), a circle
        return '"{…}"'


def _pieces(whole: object, default: Callable[[Any], object] | None, *, sort_keys: bool) -> Iterator[str]:
    """Write without recursion, as Python's limit counts the caller's frames too."""
    to_write: list[tuple[str, object]] = [("", whole)]
    open_ids: dict[int, None] = {}
    while to_write:
        before, value = to_write.pop()
        yield before
        if value is _END:
            open_ids.popitem()
        elif isinstance(value, (dict, list, tuple)):
            if id(value) in open_ids:
                raise ValueError("it contains itself")
            open_ids[id(value)] = None
            opening, closing = "{}" if isinstance(value, dict) else "[]"
            yield opening
            to_write += [(closing, _END), *reversed(_members(value, sort_keys=sort_keys))]
        elif type(value) is int:
            yield _digits(value)
        else:
            yield json.dumps(value, ensure_ascii=False, default=default)


def _members(container: dict[Any, Any] | Sequence[Any], *, sort_keys: bool) -> list[tuple[str, object]]:
    """Return what is in a container, each with the comma and the key that are written before it."""
    if not isinstance(container, dict):
        return [(", " if index else "", value) for index, value in enumerate(container)]
    members = sorted(container.items()) if sort_keys else container.items()
    keyed = ((json.dumps({key: None}, ensure_ascii=False)[1 : -len("null}")], value) for key, value in members)
    return [(f", {key}" if index else key, value) for index, (key, value) in enumerate(keyed)]


def _digits(number: int) -> str:
    """Write an integer half by half."""
    if number < 0:
        return "-" + _digits(-number)
    if number.bit_length() <= _SAFE_BITS:
        return str(number)
    half = number.bit_length() * 3 // 20  # about half of its digits
    power: int = 10**half
    above, below = divmod(number, power)
    return _digits(above) + _digits(below).zfill(half)
