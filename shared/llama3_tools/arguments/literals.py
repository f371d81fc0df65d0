"""What a string says when the schema declares something else there: a number, a boolean, null, a list or an object.

Each reader is asked only for what the schema declares. Nothing is evaluated, and the work is linear in the text.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any

from llama3_tools.literals.json_object import parse_whole
from llama3_tools.literals.python_literals import parse_literal

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<float>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")  # JSON's grammar
_MAX_NUMBER_LENGTH = 400  # Python converts at least 640 digits at once, however low its limit is set

_MARKER = r"(?:[-*+•]|[0-9]{1,3}[.)])[ \t]"
_CONTAINER = re.compile(
    rf"""\s*(?:[\[{{(]|```|["']\s*[\[{{]|"[^"]*"\s*,|'[^']*'\s*,|{_MARKER}[^\r\n]*[\r\n]\s*{_MARKER})"""
)
_NULL_WORDS = ("", "None", "null")
_BOOLEANS = {"true": True, "false": False}


def is_null_word(text: str) -> bool:
    """Return whether the text is one of those that models write for null.

    >>> is_null_word("None"), is_null_word("nothing")
    (True, False)
    """
    return text.strip() in _NULL_WORDS


def read_boolean(text: str) -> bool | None:
    """Read `true` or `false`, in any case.

    >>> read_boolean("True"), read_boolean("yes")
    (True, None)
    """
    return _BOOLEANS.get(text.strip().lower()) if len(text) < _MAX_NUMBER_LENGTH else None


def read_number(text: str, *, integer: bool = False) -> int | float | None:
    """Read a number in JSON's grammar.

    >>> read_number("-2.5"), read_number("5.0", integer=True), read_number("5 km")
    (-2.5, 5, None)

    Args:
        text: what may be a number.
        integer: read only a number without a fraction, as an `int`.
    """
    text = text.strip() if len(text) < _MAX_NUMBER_LENGTH else ""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if not match["float"]:
        return int(text)
    value = float(text)
    if not math.isfinite(value):
        return None
    return _as_integer(text) if integer else value


def _as_integer(text: str) -> int | None:
    """Return the integer that a number is, by all of its digits: more than a float has."""
    try:
        exact = Decimal(text)
    except InvalidOperation:  # an exponent of twenty digits
        return None
    return int(exact) if exact == int(exact) else None


def read_container(text: str) -> list[Any] | dict[str, Any] | None:
    """Read a list or an object, as strict JSON (principle 1) or as a Python literal, whose tuples and sets are lists.

    An object that has a key twice, at any depth, is not read, nor are strings that are merely side by side: nobody
    knows what was meant.

    >>> read_container('["a"]'), read_container("{'a': None}"), read_container("[a]")
    (['a'], {'a': None}, None)
    >>> read_container("['light' 'switch']")
    """
    if not is_bracketed(text):
        return None
    value = _parse(text)
    return value if value is not None else _parse(parse_literal(text))


def is_bracketed(text: str) -> bool:
    """Return whether the text is between brackets, braces or parentheses, so that a list or an object is meant.

    >>> is_bracketed(" [a, b] "), is_bracketed("[a] b")
    (True, False)
    """
    text = text.strip()
    return text[:1] + text[-1:] in ("[]", "{}", "()")


def looks_like_container(text: str) -> bool:
    r"""Return whether the text begins as a list or an object does.

    That is with a bracket, a bracket in quotes, a fence, the first of many quotes, or two items of a list in Markdown.

    >>> looks_like_container("['a', 'b'"), looks_like_container("'a', 'b'"), looks_like_container("a, b")
    (True, True, False)
    >>> looks_like_container("- a\n- b"), looks_like_container("1. FC Köln"), looks_like_container('"[1, 2]"')
    (True, False, True)
    """
    return _CONTAINER.match(text) is not None


def _parse(text: str) -> list[Any] | dict[str, Any] | None:
    # The strict parser reads objects: so the value becomes the only member of one.
    parsed = parse_whole(f'{{"":{text}}}')
    value = parsed.members.get("") if parsed is not None and len(parsed.members) == 1 else None
    return value if isinstance(value, (list, dict)) and not _has_key_twice(text) else None


def _has_key_twice(text: str) -> bool:
    try:
        json.loads(text, object_pairs_hook=_require_distinct, parse_int=len)  # an int may be too long
    except KeyError:
        return True
    return False


def _require_distinct(pairs: list[tuple[str, object]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise KeyError
