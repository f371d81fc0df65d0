"""The values as a person, a log or an OpenAI client sees them."""

from __future__ import annotations

import json
import pickle

import pytest

from llama3_tools import (
    Extraction,
    Extractor,
    Rejection,
    RejectionReason,
    TextDelta,
    ToolCall,
    extract,
)
from llama3_tools.output.segments import Segment, SegmentKind

CALL = '{"name": "f", "parameters": {"city": "Paris", "n": 1.10}}'


def test_to_openai_gives_the_message_that_a_server_should_have_sent():
    extraction = extract(f"One {CALL} two", id_factory=lambda: "call_1")
    assert extraction.to_openai() == {
        "role": "assistant",
        "content": "One two",
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"city": "Paris", "n": 1.10}'}}
        ],
    }
    assert json.loads(json.dumps(extraction.to_openai())) == extraction.to_openai()


@pytest.mark.parametrize(("text", "content"), [(CALL, None), ("", ""), ("Hi ", "Hi ")])
def test_to_openai_has_calls_only_where_there_are_some(text: str, content: str | None):
    message = extract(text).to_openai()
    assert message["content"] == content
    assert ("tool_calls" in message) is (text == CALL)


def test_a_repr_is_for_people():
    extraction = extract(f'One {CALL} two {{"name": "g", "parameters": {{oops}}}}')
    assert repr(extraction).splitlines() == [
        'Extraction(content=\'One two {"name": "g", "parameters": {oops}}\'',
        '  <ToolCall f({"city": "Paris", "n": 1.10}) json 4:61>',
        "  <Rejection 66:95 of 'g' malformed: expected a key or '}' at offset 95, found 'o'>)",
    ]
    assert len(repr(extract("x" * 10_000))) < 200


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (ToolCall("f\n", {}, "{}", "", (0, 2), "json"), r"<ToolCall 'f\n'({}) json 0:2>"),
        (
            ToolCall("f", {}, "{'a'}", "", (0, 2), "json", repaired_from="{'a'}"),
            "<ToolCall f({'a'}) json 0:2 repaired>",
        ),
        (ToolCall("f", {}, '{"a": "é\u200dé"}', "", (0, 2), "json"), r'<ToolCall f({"a": "é\u200dé"}) json 0:2>'),
        (
            ToolCall("github.com/get-it:v2", {}, "{}", "", (0, 2), "json"),
            "<ToolCall github.com/get-it:v2({}) json 0:2>",
        ),
        (
            ToolCall("ls({}) json>, <ToolCall rm", {}, "{}", "", (0, 2), "json"),
            "<ToolCall 'ls({}) json>, <ToolCall rm'({}) json 0:2>",
        ),
        (Rejection((0, 2), RejectionReason.MALFORMED, "no  é\u200dé"), r"<Rejection 0:2 malformed: no  é\u200dé>"),
        (Extraction("Hi", reasoning="A greeting."), "Extraction(content='Hi', reasoning='A greeting.')"),
        (TextDelta("❤\ufe0f\u202e"), r"TextDelta(text='❤\ufe0f\u202e')"),
        (Segment(SegmentKind.TEXT, "a"), "Segment(kind=<SegmentKind.TEXT: 'text'>, text='a', index=None)"),
        (Extractor(), "Extractor(tools=any, on_unknown_tool='text')"),
        (Extraction("x" * 121), f"Extraction(content='{'x' * 100}… (121 characters)')"),
    ],
)
def test_a_repr_shows_what_there_is(value: object, shown: str):
    assert repr(value) == shown


def test_a_call_that_was_written_in_many_lines_is_shown_in_one():
    (call,) = extract('{\n  "name": "f",\n  "parameters": {\n    "n": "a  b",\r\n\t"m": 1\n  }\n}').tool_calls
    assert repr(call) == '<ToolCall f({ "n": "a  b", "m": 1 }) json 0:66>'


def test_calls_are_equal_whatever_their_ids():
    assert extract(CALL).tool_calls == extract(CALL).tool_calls
    assert extract(CALL).tool_calls[0].id != extract(CALL).tool_calls[0].id


def test_values_can_be_hashed():
    extraction = extract(CALL)
    assert len({*extraction.tool_calls, *extract(CALL).tool_calls}) == 1
    assert len({extraction, extract(CALL)}) == 1


def test_what_a_model_writes_does_not_blow_up_a_repr_or_a_detail():
    name = "f\x1b[31m\n" + "x" * 10_000
    (call,) = extract(json.dumps({"name": name, "parameters": {}})).tool_calls
    (rejection,) = extract(json.dumps({"name": name, "parameters": {}}), tools=[]).rejections
    for shown in (repr(call), repr(rejection), rejection.detail):
        assert len(shown) < 400
        assert shown.isprintable()


def test_values_are_frozen_and_can_be_pickled():
    extraction = extract(f'{CALL} {{"a": 1}}')
    with pytest.raises(AttributeError):
        extraction.content = "x"  # type: ignore[misc]  # on purpose
    assert pickle.loads(pickle.dumps(extraction)) == extraction  # noqa: S301 - our own bytes


@pytest.mark.parametrize("reason", RejectionReason)
def test_a_reason_is_its_word(reason: RejectionReason):
    assert str(reason) == reason.value == f"{reason}"
    assert json.dumps({"reason": reason}) == f'{{"reason": "{reason}"}}'
