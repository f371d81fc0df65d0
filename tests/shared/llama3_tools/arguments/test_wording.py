"""How problems are put into words, and how many of them are listed."""

from __future__ import annotations

import pytest

from llama3_tools import ArgumentChange, ArgumentProblem, ProblemReason, coerce_arguments, validate_arguments
from llama3_tools.arguments.schema import SchemaReader
from llama3_tools.arguments.wording import problem_at

INTEGERS = {"type": "object", "properties": {"a": {"additionalProperties": {"items": {"type": "integer"}}}}}


def test_of_very_many_problems_the_last_one_says_so():
    more = "$: more does not fit than the 1000 places that are listed"
    for number in (1000, 1001, 5000):
        given = {"a": {"b": ["x"] * number}}
        for problems in (coerce_arguments(given, INTEGERS).problems, validate_arguments(given, INTEGERS)):
            assert [problem.path for problem in problems[:1000]] == [f"$.a.b[{n}]" for n in range(1000)]
            assert problems[1000:] == (
                (ArgumentProblem("$", "", None, ProblemReason.TOO_MANY, more),) if number > 1000 else ()
            )


def test_places_whose_paths_are_shortened_alike_are_reported_each():
    schema = {"additionalProperties": {"type": "integer", "enum": [1, 2]}}
    names = [f"{'k' * 200}{n}" for n in range(10)]
    found = validate_arguments({name: "x" if n else 5 for n, name in enumerate(names)}, schema)
    assert [problem.reason.value for problem in found] == ["not_in_enum"] + ["wrong_type"] * 9


def test_of_very_many_changes_the_last_one_is_the_whole():
    for number in (1000, 1001, 5000):
        given = {"a": {"b": ["1"] * number}}
        coercion = coerce_arguments(given, INTEGERS)
        assert coercion.arguments == {"a": {"b": [1] * number}}
        assert coercion.changes[999] == ArgumentChange("$.a.b[999]", "integer", "1", 1)
        assert coercion.changes[1000:] == (
            (ArgumentChange("$", "object", given, coercion.arguments),) if number > 1000 else ()
        )


def declared(schema: object) -> str:
    return SchemaReader({"$defs": {"a": {"type": "boolean"}}}).node(schema).declared


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (True, "anything"),
        (False, "nothing"),
        ({"type": ["null", "number", "string"]}, "string, number or null"),
        ({"type": "string", "nullable": True}, "string or null"),
        ({"type": "array"}, "array"),
        ({"type": "array", "items": {}}, "array"),
        ({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}, "array of array of string"),
        ({"type": "array", "items": False}, "array"),
        ({"type": "array", "items": {"$ref": "#"}, "prefixItems": [{}]}, "array"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, 'array of ("a" or "b")'),
        ({"const": None}, "null"),
        ({"enum": [1, "a", [2]]}, '1, "a" or [2]'),
        ({"enum": "ab", "type": "string"}, "string"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]}, "string or null"),
        ({"type": "integer", "enum": [1, 2, "a"], "allOf": [{"enum": [2, "a", 3]}]}, "2"),
        ({"anyOf": [False, {"type": "string"}]}, "string"),
        ({"$ref": "#/$defs/a"}, "boolean"),
    ],
)
def test_a_schema_is_a_few_words(schema: object, words: str):
    assert declared(schema) == words


def test_a_schema_of_many_words_is_shortened():
    assert declared({"enum": list(range(20))}) == "0, 1, 2, 3, 4, 5, 6 or 13 others"
    assert declared({"const": "a" * 200}).endswith("… (202 characters)")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("soon", 'the string "soon"'),
        (1.5, "the number 1.5"),
        (True, "the boolean true"),
        (None, "null"),
        ([5], "an array of 1"),
        ({}, "an empty object"),
        (b"5", "a value of the type bytes"),
        pytest.param(10**5000, "a value of the type int", id="too many digits"),
    ],
)
def test_what_was_found_is_said(value: object, words: str):
    message = problem_at(("a",), "integer", value, ProblemReason.WRONG_TYPE).message
    assert message == f"$.a: expected integer, got {words}"
