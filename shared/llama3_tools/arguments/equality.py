"""Which values are equal by JSON Schema: numbers by their value, objects whatever the order of their names.

Unlike in Python, neither `true` nor `false` is a number.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from llama3_tools.literals.json_equality import same_json

__all__ = ["AllowedValues", "first_twice", "identity"]


class AllowedValues:
    """The values of an `enum`, among which one is found at once, however many they are."""

    __slots__ = ("_containers", "_others", "_strings", "values")

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values
        self._strings = {one for one in values if isinstance(one, str)}
        self._containers = [one for one in values if isinstance(one, (dict, list))]
        self._others = {_scalar(one) for one in values if not isinstance(one, (str, dict, list))}

    def __contains__(self, value: object) -> bool:
        """Return whether a value equals one of them."""
        if isinstance(value, str):
            return value in self._strings
        if isinstance(value, (dict, list)):  # which may be far larger than all of these
            return any(same_json(value, one, by_value=True) for one in self._containers)
        return _scalar(value) in self._others


def first_twice(items: Sequence[object]) -> tuple[int, int] | None:
    """Find the first item that equals one before it, and return where the two are.

    >>> first_twice([None, 1, True, {"a": 1, "b": 2}, {"b": 2, "a": 1.0}])
    (3, 4)

    Raises:
        RecursionError: an item holds itself.
    """
    seen: dict[tuple[Hashable, ...], int] = {}
    for index, item in enumerate(items):
        first = seen.setdefault(identity(item), index)
        if first != index:
            return first, index
    return None


def identity(value: object) -> tuple[Hashable, ...]:
    """Return what two values share if they are equal, and only then. It takes time by the size of the value.

    >>> identity([1, "a"]) == identity([1.0, "a"]), identity(1) == identity(True)
    (True, False)

    Raises:
        RecursionError: the value holds itself.
    """
    parts: list[Hashable] = []
    # Without recursion, as Python's limit counts the caller's frames too. What is open goes by its id, and none is 0.
    open_values: dict[int, Iterator[object]] = {0: iter([value])}
    while open_values:
        for one in next(reversed(open_values.values())):
            if not isinstance(one, (dict, list)):
                parts.append(_scalar(one))
                continue
            if id(one) in open_values:
                raise RecursionError
            if isinstance(one, dict):
                names = sorted(one, key=str)
                parts += [f"{{{len(one)}", *names]
                open_values[id(one)] = map(one.__getitem__, names)
            else:
                parts.append(f"[{len(one)}")
                open_values[id(one)] = iter(one)
            break
        else:
            open_values.popitem()
    return tuple(parts)


def _scalar(value: object) -> Hashable:
    """Return the part of an identity that a value is which holds no others.

    Strings and numbers are text: its hashes differ from run to run, so that nobody can make up many that are alike.
    """
    if isinstance(value, str):
        return f'"{value}'
    try:
        if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
            above, below = value.as_integer_ratio()
            return f"{above:x}/{below:x}"
        hash(value)
    except (OverflowError, ValueError):  # infinite, or no number
        return value
    except TypeError:  # no JSON
        return id(value)
    return value
