"""Of very many problems, and changes, the first are listed, and one more that stands for the rest."""

from __future__ import annotations

from llama3_tools import ArgumentChange, ArgumentProblem, ProblemReason, coerce_arguments, validate_arguments

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
