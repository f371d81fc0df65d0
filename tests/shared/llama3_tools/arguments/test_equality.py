"""Which values are equal by JSON Schema, for `uniqueItems`, `enum` and `const`."""

from __future__ import annotations

import math

import pytest

from llama3_tools import Coercion, ProblemReason, coerce_arguments, validate_arguments

UNIQUE = {"properties": {"x": {"uniqueItems": True}}}

SAME: list[tuple[object, object]] = [
    (None, None),
    (True, True),
    (1, 1.0),
    (0, -0.0),
    (2**70, float(2**70)),
    ([], []),
    ([1, [None]], [1.0, [None]]),
    ({"a": 1, "b": {"c": 2}}, {"b": {"c": 2.0}, "a": 1}),
    (math.inf, math.inf),
]
OTHER: list[tuple[object, object]] = [
    ("a", "A"),
    ("1", 1),
    (1, True),
    (0, False),
    (2**53, 2**53 + 1),
    (2.0**53, 2**53 + 1),
    ([1], [True]),
    ([[]], []),
    ([], {}),
    ({"a": 1}, {"a": True}),
    (math.inf, -math.inf),
]
PAIRS = [*((*pair, True) for pair in SAME), *((*pair, False) for pair in OTHER)]


@pytest.mark.parametrize(("one", "other", "are_equal"), PAIRS, ids=range(len(PAIRS)))
def test_values_are_equal_as_json_schema_says(one: object, other: object, are_equal: bool):
    for first, second in ((one, other), (other, one)):
        assert bool(validate_arguments({"x": [first, second]}, UNIQUE)) is are_equal
        given = {"x": first}
        for allowed in ({"enum": ["y", second, None, [2]]}, {"enum": [{}, second]}, {"const": second}):
            if first not in (None, {}):
                schema = {"properties": {"x": allowed}}
                assert (coerce_arguments(given, schema) == Coercion(given)) is are_equal
                assert (validate_arguments(given, schema) == ()) is are_equal


def test_items_that_hold_themselves_are_too_deep():
    circle: list[object] = []
    circle.append({"a": circle})
    (problem,) = validate_arguments({"x": circle}, UNIQUE)
    assert problem.reason is ProblemReason.TOO_DEEP
