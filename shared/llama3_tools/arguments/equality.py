"""Which values are equal by JSON Schema: numbers by their value, objects whatever the order of their names.

Unlike in Python, neither `true` nor `false` is a number.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any


class AllowedValues:
    """The values of an `enum`, among which one is found at once, however many they are.

    >>> 1.0 in AllowedValues([1, {"a": []}]), True in AllowedValues([1]), {"a": []} in AllowedValues([{"a": []}])
    (True, False, True)
    """

    __slots__ = ("_keys", "values")

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values
        self._keys = set(map(_key, values))

    def __contains__(self, value: object) -> bool:
        """Return whether a value equals one of them."""
        return _key(value) in self._keys


def has_twice(items: Sequence[object]) -> bool:
    """Return whether two items are equal, without comparing each with each other one.

    >>> has_twice([None, 1, True]), has_twice([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}])
    (False, True)
    """
    return len(set(map(_key, items))) < len(items)


def _key(value: object) -> Hashable:
    """Return what two values share if they are equal, and only then."""
    if isinstance(value, (list, tuple)):
        return list, tuple(map(_key, value))
    if isinstance(value, dict):
        return dict, frozenset((name, _key(inner)) for name, inner in value.items())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return type(value), value
    try:  # as text: its hashes differ from run to run, so that nobody can make up many numbers that are alike
        above, below = value.as_integer_ratio()
    except (OverflowError, ValueError):  # infinite, or no number
        return value
    return int, f"{above:x}/{below:x}"
