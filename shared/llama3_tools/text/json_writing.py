"""JSON text of decoded values, with integers of any size, which Python itself does not write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llama3_tools.text.escaping import escape_invisible

write_string: Callable[[str], str] = json.JSONEncoder(ensure_ascii=False).encode
"""Writes a string as JSON: `json.dumps` makes such an encoder for each."""

_SAFE_BITS = 2000  # some 600 digits, which Python writes at once, however low its limit is set


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
        ValueError: it holds itself.
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


def written_arguments(arguments: Mapping[str, Any] | str) -> str:
    """Write the arguments of a call that a server found as JSON: what JSON has no form for as Python shows it.

    What cannot be written so either is a JSON string, which nothing takes for arguments.

    >>> from datetime import date
    >>> written_arguments({"day": date(2026, 1, 2)}), written_arguments({(1, 2): 3}), written_arguments({"n": 10**5000})
    ('{"day": "2026-01-02"}', '"{…}"', '"{…}"')
    """
    try:
        return json.dumps(arguments, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):  # keys like (1, 2), a circle, an integer of too many digits
        return '"{…}"'


class _Closing(str):
    """What ends a container, on the list of what is still to be written."""

    __slots__ = ("of",)
    of: int


class _Punctuation(str):
    """What stands between values."""

    __slots__ = ()


def _pieces(whole: object, default: Callable[[Any], object] | None, *, sort_keys: bool) -> Iterator[str]:
    """Write without recursion, as Python's limit counts the caller's frames too."""
    to_write, open_ids = [whole], set[int]()
    while to_write:
        value = to_write.pop()
        if isinstance(value, (_Closing, _Punctuation)):
            if isinstance(value, _Closing):
                open_ids.discard(value.of)
            yield value
        elif isinstance(value, (dict, list, tuple)):
            if id(value) in open_ids:
                raise ValueError("it holds itself")
            open_ids.add(id(value))
            is_dict = isinstance(value, dict)
            closing = _Closing("}" if is_dict else "]")
            closing.of = id(value)
            yield "{" if is_dict else "["
            members = dict(sorted(value.items())) if sort_keys and isinstance(value, dict) else value
            to_write += [closing, *reversed(list(_members(members)))]
        elif type(value) is int:
            yield _digits(value)
        else:
            yield json.dumps(value, ensure_ascii=False, default=default)


def _members(container: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> Iterator[object]:
    """Yield what stands in a container, and what stands between."""
    separator = ""
    for member in container:
        if isinstance(container, dict):
            key = json.dumps({member: None}, ensure_ascii=False)[1 : -len("null}")]
            yield _Punctuation(separator + key)
            yield container[member]
        else:
            yield _Punctuation(separator)
            yield member
        separator = ", "


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
