"""Calls whose arguments are made to fit, as they are extracted, in every wire format."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import ArgumentProblem, Coercion, Extractor, Limits, ProblemReason, extract

TOOLS = [
    {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "days": {"type": "integer"},
                "labels": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["id"],
        },
    },
    {"name": "g"},
]
PLACE = {"type": "object", "properties": {"n": {"type": ["array", "object"], "properties": {"n": {"type": "array"}}}}}
DEEP = {
    "name": "deep",
    "parameters": {
        "type": "object",
        "properties": {
            **PLACE["properties"],
            "labels": {"type": "array", "items": {"type": "string"}},
            "places": {"type": "array", "items": PLACE},
            "either": {"anyOf": [{**PLACE, "required": ["n", "zz"]}, {"type": "array", "items": PLACE}]},
        },
    },
}
WRITTEN = '{"id": "12", "days": "3", "labels": "[\'a\', \'b\']"}'
FITTING = {"id": "12", "days": 3, "labels": ["a", "b"]}


@pytest.mark.parametrize(
    "text",
    [
        f'{{"name": "f", "parameters": {WRITTEN}}}',
        f'{{"name": "f", "arguments": {json.dumps(WRITTEN)}}}',
        f'[{{"name": "f", "parameters": {WRITTEN}}}]',
        f'{{"type": "function", "function": {{"name": "f", "arguments": {WRITTEN}}}}}',
        f'{{"message": "", "tool_call": {{"name": "f", "arguments": {WRITTEN}}}}}',
        f'<tool_call>{{"name": "f", "arguments": {WRITTEN}}}</tool_call>',
        f"<function=f>{WRITTEN}</function>",
        f"[f({WRITTEN})]",
        """[f(id="12", days="3", labels="['a', 'b']")]""",
    ],
)
def test_arguments_fit_their_schema(text: str):
    (call,) = extract_in_every_chunking(text, tools=TOOLS, coerce_arguments=True).tool_calls
    assert call.arguments == FITTING
    assert json.loads(call.arguments_json) == json.loads(WRITTEN)
    assert json.loads(call.to_openai()["function"]["arguments"]) == FITTING
    assert [(change.path, change.before, change.after) for change in call.changes] == [
        ("$.days", "3", 3),
        ("$.labels", "['a', 'b']", ["a", "b"]),
    ]
    assert call.problems == ()


def test_what_does_not_fit_stays_and_is_reported():
    text = '{"name": "f", "parameters": {"days": "soon", "colour": "red"}}'
    (call,) = extract_in_every_chunking(text, tools=TOOLS, coerce_arguments=True).tool_calls
    assert call.arguments == {"days": "soon", "colour": "red"}
    assert {(problem.path, problem.reason) for problem in call.problems} == {
        ("$.days", ProblemReason.WRONG_TYPE),
        ("$.colour", ProblemReason.UNKNOWN_PARAMETER),
        ("$.id", ProblemReason.MISSING_PARAMETER),
    }
    assert call.usable_json == call.arguments_json


def test_arguments_that_fit_keep_the_text_of_the_model():
    (call,) = extract('[f(id="x", days=1_0)]', tools=TOOLS, coerce_arguments=True).tool_calls
    assert (call.changes, call.usable_json) == ((), '{"id": "x", "days": 10}')


@pytest.mark.parametrize("options", [{}, {"coerce_arguments": False}])
def test_without_being_asked_for_nothing_is_changed(options: dict[str, Any]):
    (call,) = extract(f"<function=f>{WRITTEN}</function>", tools=TOOLS, **options).tool_calls
    assert (call.arguments, call.changes, call.problems) == (json.loads(WRITTEN), (), ())


def test_a_tool_that_is_not_declared_has_no_schema_to_go_by():
    text = '{"name": "h", "parameters": {"n": "3"}}'
    (call,) = extract(text, tools=TOOLS, on_unknown_tool="call", coerce_arguments=True).tool_calls
    assert (call.arguments, call.changes, call.problems) == ({"n": "3"}, (), ())


def test_a_tool_without_parameters_has_no_arguments_to_be_called_with():
    (call,) = extract('{"name": "g", "parameters": {"x": 1}}', tools=TOOLS, coerce_arguments=True).tool_calls
    assert call.arguments == {"x": 1}
    assert [problem.message for problem in call.problems] == ["$.x: unknown, expected none"]


def test_an_integer_that_python_does_not_write_is_passed_on_with_what_was_changed():
    digits = "7" * 5000
    (call,) = extract(
        f'<function=f>{{"id": "x", "days": "3", "n": {digits}}}</function>', tools=TOOLS, coerce_arguments=True
    ).tool_calls
    assert call.changes
    assert call.usable_json == f'{{"id": "x", "days": 3, "n": {digits}}}'
    (problem,) = call.problems
    for value in (problem, replace(call.changes[0], before=problem.value), Coercion({"n": problem.value})):
        assert digits in repr(value)


@pytest.mark.parametrize(
    ("written", "fitting", "depth"),
    [
        ({"n": "[[1]]"}, {"n": [[1]]}, 3),
        ({"n": "('[]',)"}, {"n": ["[]"]}, 2),
        ({"n": "[[[1]], []]"}, {"n": [[[1]], []]}, 4),
        ({"n": "{'n': [1]}"}, {"n": {"n": [1]}}, 3),
        ({"n": "{'n': '[1]'}"}, {"n": {"n": [1]}}, 3),
        ({"labels": "a"}, {"labels": ["a"]}, 2),
        ({"places": {"n": "[]"}}, {"places": [{"n": []}]}, 4),
        ({"places": "{'n': '[]'}"}, {"places": [{"n": []}]}, 4),
        ({"either": "{'n': {'n': '[]'}}"}, {"either": [{"n": {"n": []}}]}, 5),
        ({"n": "[" * 126 + "]" * 126}, {"n": json.loads("[" * 126 + "]" * 126)}, 127),
    ],
)
def test_nothing_becomes_deeper_than_the_limit(written: dict[str, Any], fitting: dict[str, Any], depth: int):
    """Neither text that is read, text in such text, nor what is put into a list."""
    for limit in {depth, depth - 1, 2, 127}:
        options = {"tools": [DEEP], "coerce_arguments": True, "limits": Limits(max_depth=limit)}
        text = f"<function=deep>{json.dumps(written)}</function>"
        (call,) = extract_in_every_chunking(text, is_sampled=True, **options).tool_calls
        assert (call.arguments == fitting) is (limit >= depth)
        assert bool(call.problems) is (limit < depth)


def test_what_would_become_too_deep_says_so():
    value = "[" * 127 + "]" * 127
    text = f"<function=deep>{json.dumps({'n': value})}</function>"
    (call,) = extract(text, tools=[DEEP], coerce_arguments=True).tool_calls
    assert call.usable_json in text
    message = "$.n: as a list or an object, it would be nested deeper than 127 levels"
    assert call.problems == (ArgumentProblem("$.n", "array or object", value, ProblemReason.TOO_DEEP, message),)


def test_an_extractor_that_coerces_is_copied_pickled_and_shared_by_threads():
    extractor = Extractor(tools=TOOLS, coerce_arguments=True)
    text = f"<function=f>{WRITTEN}</function>"
    for other in (copy.deepcopy(extractor), copy.copy(extractor), pickle.loads(pickle.dumps(extractor))):  # noqa: S301
        assert other.extract(text) == extractor.extract(text)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(extractor.extract, [text] * 200))
    assert all(extraction.tool_calls[0].arguments == FITTING for extraction in found)
