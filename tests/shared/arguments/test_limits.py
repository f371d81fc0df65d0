"""What neither deep nesting, nor text in text, nor a full stack can do to coercion."""

from __future__ import annotations

import inspect
import json
import sys
from contextlib import suppress

import pytest

from llama3_tools import ArgumentProblem, Coercion, ProblemReason, ToolDefinitionError, coerce_arguments
from llama3_tools.arguments import ArgumentValidator
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
    assert is_read or "nested deeper than 128 levels" in coercion.problems[0].message


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


class Name(str):
    """A name whose comparisons are steps."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)


def test_names_of_another_alternative_cost_no_more_than_their_number():
    some = {"type": "object", "properties": {"a": {"type": "string"}}}
    others = {"type": "object", "required": ["zz"], "additionalProperties": {"type": "integer"}}

    def work(times: int) -> int:
        value = {Name(n): "x" if n < times else 1 for n in range(2 * times)}
        return steps_of(lambda: coerce_arguments({"a": value}, {"properties": {"a": {"anyOf": [some, others]}}}))

    work(3)
    assert work(400) < 5 * work(100)


def test_a_full_stack_is_no_error():
    schema = {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": LOOP}}

    def under(frames: int) -> Coercion:
        return under(frames - 1) if frames else coerce_arguments({"x": nested(100, "1")}, schema)

    for frames_left in (*range(40, 80), 200):
        coercion = under(sys.getrecursionlimit() - len(inspect.stack(0)) - frames_left)
        assert [problem.reason for problem in coercion.problems] == [ProblemReason.TOO_DEEP]


def test_a_full_stack_is_no_error_of_validation():
    schema = {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": LOOP}}
    validator = ArgumentValidator(schema)

    def under(frames: int) -> tuple[ArgumentProblem, ...]:
        return under(frames - 1) if frames else validator.validate({"x": nested(10, "1")})

    for frames_left in range(20, 40):
        (problem,) = under(sys.getrecursionlimit() - len(inspect.stack(0)) - frames_left)
        assert problem.reason is ProblemReason.TOO_DEEP


def test_nor_is_it_of_reading_a_schema():
    """Somewhere on the way down, the library's Rust half panics, which is no `Exception`."""

    def under(frames: int) -> ArgumentValidator:
        return under(frames - 1) if frames else ArgumentValidator({"properties": {"x": LOOP}, "$defs": {"x": LOOP}})

    for frames_left in range(20, 150):
        with suppress(ToolDefinitionError):
            under(sys.getrecursionlimit() - len(inspect.stack(0)) - frames_left)
