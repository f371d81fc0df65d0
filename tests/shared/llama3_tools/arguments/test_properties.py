"""What holds for every schema and all arguments.

- Coercion never raises, and does not touch what it is given.
- What is valid by the standard is left alone, and only its names may be reported, where none but some are declared.
- Coerced arguments are left alone by a second coercion, which reports the same problems.
- Every change is where its path says, from the value that was there; without changes, the arguments are the same.
- Validation finds nothing exactly where the standard finds nothing.
"""

from __future__ import annotations

import re
from contextlib import suppress
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from generated_schemas import arguments, odd_schemas, roots
from llama3_tools import ProblemReason, ToolDefinitionError, coerce_arguments, validate_arguments

_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\['([^']*)'\]")


def is_valid(given_arguments: dict[str, Any], schema: dict[str, Any]) -> bool | None:
    """What the standard says; nothing where a reference leads nowhere."""
    try:
        return Draft202012Validator(schema, registry=Registry()).is_valid(given_arguments)
    except (RecursionError, Unresolvable):
        return None


def value_at(value: Any, path: str) -> object:
    for match in _STEP.finditer(path):
        name, index, quoted = match.groups()
        value = value[int(index)] if index else value[name or quoted]
    return value


@given(arguments, odd_schemas)
@settings(max_examples=150)
def test_no_schema_is_too_odd(given_arguments: dict[str, Any], inner: Any):
    schema = {"properties": {"a": inner, "b": inner}, "x": inner}
    coercion = coerce_arguments(given_arguments, schema)
    assert coerce_arguments(coercion.arguments, schema).changes == ()
    with suppress(ToolDefinitionError):
        validate_arguments(given_arguments, schema)


@given(arguments, roots)
@settings(max_examples=150)
def test_what_is_valid_is_left_alone(given_arguments: dict[str, Any], schema: dict[str, Any]):
    if is_valid(given_arguments, schema):
        coercion = coerce_arguments(given_arguments, schema)
        assert coercion.arguments is given_arguments
        assert coercion.changes == ()
        assert {problem.reason for problem in coercion.problems} <= {ProblemReason.UNKNOWN_PARAMETER}


@given(arguments, roots)
@settings(max_examples=150)
def test_a_second_coercion_changes_nothing(given_arguments: dict[str, Any], schema: dict[str, Any]):
    before = deepcopy(given_arguments)
    first = coerce_arguments(given_arguments, schema)
    assert repr(given_arguments) == repr(before)
    second = coerce_arguments(first.arguments, schema)
    assert second.changes == ()
    assert second.arguments is first.arguments
    assert second.problems == first.problems


@given(arguments, roots)
@settings(max_examples=150)
def test_a_change_is_where_its_path_says(given_arguments: dict[str, Any], schema: dict[str, Any]):
    coercion = coerce_arguments(given_arguments, schema)
    assert (coercion.arguments is given_arguments) is not bool(coercion.changes)
    for change in coercion.changes:
        assert value_at(given_arguments, change.path) is change.before
        assert repr(value_at(coercion.arguments, change.path)) == repr(change.after)
        assert repr(change.before) != repr(change.after)


@given(arguments, roots)
@settings(max_examples=150)
def test_validation_says_what_the_standard_says(given_arguments: dict[str, Any], schema: dict[str, Any]):
    expected = is_valid(given_arguments, schema)
    problems = validate_arguments(given_arguments, schema)
    assert expected is None or expected is not bool(problems)
    assert all(problem.message.startswith(f"{problem.path}: ") for problem in problems)
