"""Whether a value is one that a rule accepts: strings, numbers, lists, and lists in strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from llama3_acceptance.judging.pairing import pair
from llama3_acceptance.values import ArgumentRule
from llama3_tools.arguments.literals import read_container

_ROUNDING = 1 + 1e-9
"""20.1 is within 0.1 of 20, although not in binary."""


def accepts(rule: ArgumentRule, value: object, *, stringified_lists: bool = True) -> bool:
    """Return whether a value is one of those that a rule accepts.

    >>> accepts(ArgumentRule((["a", "b"],), unordered=True), "['b', 'a']")
    True
    >>> accepts(ArgumentRule((5,)), "5")
    False

    Args:
        rule: what is accepted.
        value: what was found, as JSON has it.
        stringified_lists: whether a string that the model gave is compared as the list that it contains, if a list is
            accepted. What is accepted is never changed: a string that contains a list is accepted as that string.
    """
    comparison = _Comparison(rule, stringified_lists)
    return any(comparison.equal(accepted, value) for accepted in rule.any_of)


def json_type(value: object) -> str:
    """Name a value's JSON type; an integer is a number, as 20 and 20.0 are one value.

    >>> json_type("[1]"), json_type(20.0)
    ('string', 'number')
    """
    types = (
        (type(None), "null"),
        (bool, "boolean"),
        ((int, float), "number"),
        (str, "string"),
        ((list, tuple), "array"),
        (Mapping, "object"),
    )
    return next((name for kind, name in types if isinstance(value, kind)), type(value).__name__)


@dataclass(frozen=True, slots=True)
class _Comparison:
    rule: ArgumentRule
    stringified_lists: bool

    def equal(self, accepted: object, value: object) -> bool:
        if self.stringified_lists and isinstance(accepted, (list, tuple)) and isinstance(value, str):
            held = list_in(value)
            return held is not None and self._equal_lists(accepted, held)
        kind = json_type(accepted)
        if kind != json_type(value):
            return False
        if isinstance(accepted, str) and isinstance(value, str):
            return accepted == value or (self.rule.equal == "folded" and _folded(accepted) == _folded(value))
        if isinstance(accepted, (list, tuple)) and isinstance(value, (list, tuple)):
            return self._equal_lists(accepted, value)
        if isinstance(accepted, Mapping) and isinstance(value, Mapping):
            return accepted.keys() == value.keys() and all(self.equal(accepted[key], value[key]) for key in accepted)
        return accepted == value or (kind == "number" and self._within_tolerance(accepted, value))

    def _equal_lists(self, accepted: Sequence[Any], value: Sequence[Any]) -> bool:
        if len(accepted) != len(value):
            return False
        if not self.rule.unordered:
            return all(map(self.equal, accepted, value))
        fits = []
        for one in accepted:
            fits.append([self.equal(one, other) for other in value])
            if not any(fits[-1]):
                return False
        return len(pair(fits)) == len(value)

    def _within_tolerance(self, accepted: Any, value: Any) -> bool:  # noqa: ANN401 - an int or a float
        try:
            return bool(abs(accepted - value) <= self.rule.tolerance * _ROUNDING)
        except OverflowError:  # an integer that no float can contain
            return False


def _folded(text: str) -> str:
    folded = normalize("NFC", " ".join(text.split())).casefold()
    return normalize("NFC", folded)  # which folding may undo


def list_in(text: str) -> list[Any] | None:
    """Return the list that a string contains, as JSON or as Python writes it; `None` if it contains none.

    >>> list_in("['a', 'b']"), list_in("a, b")
    (['a', 'b'], None)
    """
    held = read_container(text)
    return held if isinstance(held, list) else None
