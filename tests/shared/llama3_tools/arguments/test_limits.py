"""What neither deep nesting, nor text in text, nor a full stack can do to coercion."""

from __future__ import annotations

import inspect
import json
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from llama3_tools import (
    ArgumentProblem,
    Coercion,
    ProblemReason,
    coerce_arguments,
    validate_arguments,
)
from llama3_tools.arguments import ArgumentValidator, Coercer
from steps import steps_of


def nested(levels: int, leaf: object) -> object:
    for _ in range(levels):
        leaf = [leaf]
    return leaf


LOOP = {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/x"}}] * 2 + [{"type": "integer"}]}


@pytest.mark.parametrize(("levels", "is_read"), [(1, True), (100, True), (127, True), (128, False), (5000, False)])
def test_a_value_is_looked_at_down_to_a_limit(levels: int, is_read: bool):
    whole = {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": LOOP}}
    coercion = coerce_arguments({"x": nested(levels, "1")}, whole)
    assert len(coercion.changes) == is_read
    assert len(coercion.problems) == (not is_read)


def test_what_is_too_deep_to_be_looked_at_says_so():
    lists = {"type": "array", "items": {"$ref": "#/properties/x"}}
    (problem,) = coerce_arguments({"x": nested(128, "1")}, {"properties": {"x": lists}}).problems
    path, declared = "$.x" + "[0]" * 127, "array of array of array of array"
    message = f"{path}: nested deeper than 128 levels, which are not looked at"
    assert problem == ArgumentProblem(path, declared, ["1"], ProblemReason.TOO_DEEP, message)


def test_text_in_text_in_text_costs_no_more_than_its_length():
    """A schema with many alternatives, each with a schema of its own inside, would be 20**10 readings."""
    inner = [{"type": "object", "properties": {"x": {"$ref": "#/$defs/x", "description": str(n)}}} for n in range(20)]
    text = "oops"
    for _ in range(10):
        text = json.dumps({"x": text})
    coercion = coerce_arguments(
        {"x": text}, {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"anyOf": inner}}}
    )
    assert coercion.changes == ()
    assert len(coercion.problems) == 1


def coercion_problems(arguments: dict[str, Any], schema: dict[str, Any]) -> tuple[ArgumentProblem, ...]:
    return coerce_arguments(arguments, schema).problems


@pytest.mark.parametrize("problems_of", [coercion_problems, validate_arguments])
def test_problems_take_no_more_memory_than_their_number(
    problems_of: Callable[[dict[str, Any], dict[str, Any]], tuple[ArgumentProblem, ...]],
):
    """Neither a long name, nor many of them within each other, is whole in the path of each problem."""
    inner: object = ["x"] * 1000
    for _ in range(20):
        inner = {"n" * 100: inner}
    schema = {"$defs": {"x": {"additionalProperties": {"$ref": "#/$defs/x"}, "items": {"type": "integer"}}}}
    for arguments in ({"k" * 40_000: ["x"] * 1000}, {"a": inner}):
        tracemalloc.start()
        problems = problems_of(arguments, {**schema, "$ref": "#/$defs/x"})
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(problems) == 1000
        assert len({problem.path for problem in problems}) == 1000
        assert size < 6_000_000
        assert all(len(problem.path) < 1100 > len(problem.message) - len(problem.path) for problem in problems)


class Number(int):
    """A number whose comparisons are steps."""

    __slots__ = ()
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return int.__eq__(self, other)


@pytest.mark.parametrize(
    "item",
    [
        lambda number: f"t{number}" if number else None,
        lambda number: {"n": number},
        lambda number: [[number]],
        lambda number: Number(number * sys.hash_info.modulus),
    ],
    ids=["strings after null", "objects", "lists", "numbers of one hash"],
)
def test_items_that_must_differ_are_not_compared_in_pairs(item: Callable[[int], object]):
    validator = ArgumentValidator({"properties": {"x": {"uniqueItems": True}}})

    def work(times: int) -> int:
        arguments = {"x": [item(number) for number in range(times)]}
        return steps_of(lambda: validator.validate(arguments))

    work(3)
    assert work(400) < 5 * work(100)


@pytest.mark.parametrize("text", ["value {}", "VALUE {}", "none {}"])
@pytest.mark.parametrize("is_coerced", [True, False])
def test_an_enum_costs_no_more_than_its_length(text: str, is_coerced: bool):
    def work(times: int) -> int:
        schema = {"properties": {"x": {"items": {"enum": [f"value {n}" for n in range(times)]}}}}
        use = Coercer(schema).coerce if is_coerced else ArgumentValidator(schema).validate
        arguments = {"x": [text.format(n) for n in range(times)]}
        return steps_of(lambda: use(arguments))

    work(3)
    assert work(400) < 5 * work(100)


def test_a_full_stack_is_no_error():
    schema = {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": LOOP}}
    given = {"x": nested(100, "1")}
    problem = ArgumentProblem("$", "object", given, ProblemReason.TOO_DEEP, "$: nested too deep to be looked at here")

    def under(frames: int) -> Coercion:
        return under(frames - 1) if frames else coerce_arguments(given, schema)

    for frames_left in (*range(40, 80), 200):
        coercion = under(sys.getrecursionlimit() - len(inspect.stack(0)) - frames_left)
        assert coercion == Coercion(given, (), (problem,))


def test_a_full_stack_is_no_error_of_validation():
    schema = {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": LOOP}}
    validator = ArgumentValidator(schema)

    def under(frames: int) -> tuple[ArgumentProblem, ...]:
        return under(frames - 1) if frames else validator.validate({"x": nested(10, "1")})

    for frames_left in range(20, 40):
        (problem,) = under(sys.getrecursionlimit() - len(inspect.stack(0)) - frames_left)
        assert problem.reason is ProblemReason.TOO_DEEP
