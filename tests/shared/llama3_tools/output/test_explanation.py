"""What is said of each place of an output, whoever shows it; `cli/test_show.py` has how a terminal does."""

from __future__ import annotations

from typing import Any

import pytest

from llama3_tools import Extractor
from llama3_tools.output.explanation import ExplainedOutput, Place, escaped_segment, explain_output
from llama3_tools.output.other_readings import Option, other_calls
from llama3_tools.output.segments import SegmentKind, read_segments

SPELLED = {option: f"<{option.value}>" for option in Option}
CITIES = {"type": "object", "properties": {"cities": {"type": "array", "items": {"type": "string"}}}}


def explained(text: str, **options: Any) -> ExplainedOutput:
    extractor = Extractor(**options)
    return explain_output(read_segments(extractor, text), other_calls(extractor, text), SPELLED)


def test_a_place_is_told_as_editors_count():
    assert str(Place(1, 1).after("ab")) == "1:3"
    assert str(Place(4, 7).after("a\nbc\nd")) == "6:2"


def test_each_explanation_names_its_segment():
    text = 'So: <tool_call>{"name": "f", "arguments": {}}</tool_call>\n{"name": "g", "parameters": 7}'
    segments = read_segments(Extractor(), text).segments
    found = [(one.kind, one.subject, segments[one.segment].text) for one in explained(text).explanations]
    assert found == [
        (SegmentKind.REMOVED, "' <tool_call>'", " <tool_call>"),
        (SegmentKind.CALL, "f {}", '{"name": "f", "arguments": {}}'),
        (SegmentKind.REMOVED, r"'</tool_call>\n'", "</tool_call>\n"),
        (SegmentKind.REJECTED, "invalid_arguments", '{"name": "g", "parameters": 7}'),
    ]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('{"tool": "f", "args": {}}', "with <tools> that declare f, it is a call: f {}"),
        ("{'name': 'f', 'args': {}}", "with <tools> that declare f and <repair>, it is a call: f {}"),
    ],
)
def test_options_are_spelled_as_the_reader_writes_them(text: str, note: str):
    assert explained(text).explanations[-1].notes[0].startswith(note)


def test_what_was_made_of_arguments_is_told():
    tools = [{"name": "forecast", "parameters": CITIES}]
    text = '{"name": "forecast", "parameters": {"cities": "[\'Oslo\']"}}'
    (explanation,) = explained(text, tools=tools, coerce_arguments=True).explanations
    assert explanation.notes == ("$.cities is array of string: \"['Oslo']\" became ['Oslo']",)


def test_what_does_not_fit_all_the_same_is_told():
    tools = [{"name": "forecast", "parameters": CITIES}]
    text = '{"name": "forecast", "parameters": {"cities": 5, "\\u202e": 1}}'
    (explanation,) = explained(text, tools=tools, coerce_arguments=True).explanations
    assert len(explanation.notes) == 2
    assert explanation.notes[0].startswith("$.cities")
    assert all("\u202e" not in note for note in explanation.notes)


def test_an_output_in_which_nothing_looks_like_a_call_is_told_so():
    assert "There is none with <formats> or with other tools either." in (explained("Hello!").remark or "")
    assert explained('{"name": "f", "parameters": {}}').remark is None


def test_no_character_hides_in_a_segment():
    text = 'e\u200de \u202e {"name": "a\u200da", "parameters": {}}'
    prose, call = read_segments(Extractor(), text).segments[0], read_segments(Extractor(), text).segments[-1]
    assert escaped_segment(prose).startswith("e\\u200de \\u202e")
    assert '"a\\u200da"' in escaped_segment(call)
