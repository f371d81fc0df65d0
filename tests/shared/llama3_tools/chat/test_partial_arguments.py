"""What a stream shows of an object while the model writes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llama3_tools import Tool
from llama3_tools.chat import arguments_so_far

PERSON = Tool("Person", parameters={"type": "object", "properties": {"name": {}, "age": {}}})
AL = {"name": "Al", "age": 3}


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        (f"Sure: {json.dumps(AL)}", AL),
        ('{"name": "Person", "parameters": {"name": "Al"}}', {"name": "Al"}),
        ('{"message": "Hm.", "tool_call": {"name": "Person", "arguments": {"name": "Al"}}}', {"name": "Al"}),
        ('<think>{"name": "Bo"}?</think>{"name": "Al"}', {"name": "Al"}),
        ('<think>{"name": "Bo"}', None),
        ('{"name": "Per"}', None),
        ('{"name": null}', None),
        ('{"name": "Person", "parameters": "x"}', None),
        ('{"city": "Rome"}', None),
        ("{x", None),
        ("No.", None),
    ],
)
def test_they_are_those_of_a_call_or_an_object_alone(written: str, arguments: dict[str, Any] | None):
    assert arguments_so_far(written, PERSON, json.loads) == arguments


def test_an_answer_that_begins_in_a_thought_has_none_before_its_end():
    thought = '{"name": "Bo"}?'
    assert arguments_so_far(thought, PERSON, json.loads, starts_reasoning=True) is None
    written = f'{thought}</think>{{"name": "Al"}}'
    assert arguments_so_far(written, PERSON, json.loads, starts_reasoning=True) == {"name": "Al"}


def test_a_parser_may_find_nothing():
    assert arguments_so_far("{", PERSON, lambda _: None) is None
