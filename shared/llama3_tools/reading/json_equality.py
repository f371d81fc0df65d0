"""Whether two values are the same JSON."""

from __future__ import annotations

__all__ = ["same_json"]


def same_json(one: object, other: object, *, by_value: bool = False) -> bool:
    """Tell whether two decoded values are the same JSON: unlike in Python, `true` is not `1`.

    >>> same_json({"a": 1}, {"a": True})
    False
    >>> same_json(1, 1.0), same_json(1, 1.0, by_value=True)
    (False, True)

    Args:
        one: a value.
        other: another.
        by_value: whether numbers are the same if their values are, as JSON Schema has it.
    """
    pairs = [(one, other)]  # without recursion, as Python's limit counts the caller's frames too
    while pairs:
        first, second = pairs.pop()
        if type(first) is not type(second) and not (by_value and bool not in (type(first), type(second))):
            return False
        if isinstance(first, dict) and isinstance(second, dict):
            if first.keys() != second.keys():
                return False
            pairs += [(value, second[key]) for key, value in first.items()]
        elif isinstance(first, list) and isinstance(second, list):
            if len(first) != len(second):
                return False
            pairs += zip(first, second, strict=True)
        elif first != second:
            return False
    return True
