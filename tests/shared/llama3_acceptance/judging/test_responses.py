"""One answer comes out the same of every kind of response."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage
from llama_index.core.base.llms.types import ChatMessage, ChatResponse

from llama3_acceptance import Answer, FoundCall, read_response
from response_kinds import KINDS, TEXT_KINDS, Kind

CALLS = [("get_weather", {"city": "Zürich"}), ("clock", {})]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("text", ["", "One moment."])
def test_calls_and_text_are_read(kind: Kind, text: str):
    answer = read_response(kind(text, CALLS))
    assert (answer.text, [(call.name, call.arguments) for call in answer.calls]) == (text, CALLS)


@pytest.mark.parametrize("kind", TEXT_KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("text", ["", "Hello!"])
def test_text_is_read(kind: Kind, text: str):
    answer = read_response(kind(text, []))
    assert (answer.text, answer.calls) == (text, ())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"n": 1}', ({"n": 1}, '{"n": 1}')),
        ({"n": 1}, ({"n": 1}, '{"n": 1}')),
        ("", ({}, "")),
        (None, ({}, "")),
        ('{"n": 1', (None, '{"n": 1')),
        ("[1]", (None, "[1]")),
        (7, (None, "7")),
    ],
)
def test_arguments_are_an_object_or_nothing(arguments: object, expected: object):
    message = {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}
    assert read_response(message).calls == (FoundCall("f", *expected),)


@pytest.mark.parametrize("args", ["{", "", None])
def test_beside_calls_that_it_could_parse_it_is_one_too(args: str | None):
    invalid = {"name": "f", "args": args, "id": "1", "error": None, "type": "invalid_tool_call"}
    message = AIMessage("", tool_calls=[{"name": "g", "args": {}, "id": "2"}], invalid_tool_calls=[invalid])
    assert [(call.name, call.arguments) for call in read_response(message).calls] == [("g", {}), ("f", None)]


@pytest.mark.parametrize(
    "response",
    [
        {"role": "assistant", "content": None, "refusal": "I will not."},
        {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "I will not."}]}]},
        {"model": "llama3.1", "response": "I will not.", "done_reason": "stop"},
    ],
)
def test_a_refusal_is_text_and_so_is_what_ollama_generates(response: object):
    assert read_response(response).text == "I will not."


def test_why_a_server_stopped_and_what_the_model_thought_are_kept():
    choice = {"message": {"content": None, "reasoning_content": "Hm."}, "finish_reason": "length"}
    assert read_response(choice) == Answer(finish_reason="length", reasoning="Hm.")
    message = AIMessage("", response_metadata={"done_reason": "length"}, additional_kwargs={"reasoning_content": "Hm."})
    assert read_response(message) == Answer(finish_reason="length", reasoning="Hm.")
    assert read_response({"content": "", "reasoning": "Hm."}) == Answer(reasoning="Hm.")
    assert read_response({"message": {"content": "I"}, "done_reason": "length"}).finish_reason == "length"
    raw = {"choices": [{"finish_reason": "length"}]}
    response = ChatResponse(message=ChatMessage(role="assistant", content="I"), raw=raw)
    assert read_response(response) == Answer("I", finish_reason="length")
    assert read_response(AIMessage("", response_metadata={"finish_reason": 7})) == Answer()
    assert read_response(AIMessage("", response_metadata={"finish_reason": "stop"})) == Answer(finish_reason="stop")


@pytest.mark.parametrize("response", [{"choices": []}, {"tool_calls": []}, {"output": []}])
def test_no_choice_at_all_is_an_empty_answer(response: object):
    assert read_response(response) == Answer()


def test_a_call_without_a_name_is_one():
    message = {"tool_calls": [{"function": {"arguments": "{}"}}, {"type": "invalid_tool_call"}]}
    assert read_response(message).calls == (FoundCall("", {}, "{}"), FoundCall("", None))


@pytest.mark.parametrize(
    ("response", "found"), [(7, "an int"), ({}, "an empty dict"), ({"choices": [{}]}, "a dict with the keys choices")]
)
def test_what_is_no_response_is_refused(response: object, found: str):
    with pytest.raises(TypeError, match=rf"^expected OpenAI's chat completion or message.*, got {found}$"):
        read_response(response)


def test_a_dict_of_a_program_is_read_where_its_meaning_is_clear():
    message = {"assistant_message": "Hello!", "tool_calls": [], "mood": {"good": 1}, "stop_reason": "complete"}
    assert read_response(message) == Answer("Hello!", finish_reason="complete")


@pytest.mark.parametrize(
    "message",
    [
        *({"tool_calls": [], "said": "Hello!"}, {"content": "", "msg": "Hello!"}, {"text": "", "a": "b"}),
        {"role": "assistant", "content": None, "parts": [{"text": "Hello!"}]},
    ],
)
def test_text_that_is_not_found_is_an_error_and_no_empty_answer(message: dict[str, object]):
    told = f"got a message that has its text in none of the known places: a dict with the keys {', '.join(message)}$"
    with pytest.raises(TypeError, match=told):
        read_response(message)


CALL = {"name": "f", "arguments": {"n": 1}}


@pytest.mark.parametrize("key", ["toolCalls", "function_call", "tool_calls"])
@pytest.mark.parametrize("is_listed", [True, False], ids=["list", "one"])
def test_calls_of_a_program_are_read_where_their_meaning_is_clear(key: str, is_listed: bool):
    answer = read_response({"assistant_message": "Hello!", key: [CALL] if is_listed else CALL})
    assert answer == Answer("Hello!", (FoundCall("f", {"n": 1}, '{"n": 1}'),))


def test_what_may_be_calls_is_an_error_that_names_the_keys():
    with pytest.raises(TypeError, match="under 'my_calls': a dict with the keys text, my_calls; rename it"):
        read_response({"text": "Hello!", "my_calls": [CALL]})


@pytest.mark.parametrize("calls", [["x"], [None], "x", 7, [{"id": "1"}], [{"name": "f", "payload": {"n": 1}}]])
def test_calls_that_are_none_are_an_error(calls: object):
    with pytest.raises(TypeError, match=r"^expected (?:a call|calls).*, got "):
        read_response({"content": "Hello!", "tool_calls": calls})


@pytest.mark.parametrize("key", ["arguments", "parameters", "args"])
@pytest.mark.parametrize("name", ["name", "tool_name"])
def test_a_call_of_a_program_is_read_under_its_usual_names(key: str, name: str):
    call = {name: "f", key: {"n": 1}}
    for written in (call, {"type": "function", "function": call}, {"function": "f", key: {"n": 1}}):
        (found,) = read_response({"content": "", "tool_calls": [written]}).calls
        assert (found.name, found.arguments) == ("f", {"n": 1})


@pytest.mark.parametrize("block", [{"type": "foo", "text": "Hello!"}, {"type": "foo", "value": "Hello!"}, {"a": ""}, 7])
def test_a_block_of_an_unknown_type_is_an_error(block: object):
    with pytest.raises(TypeError, match=r"a block of text of the unknown type (?:'foo'|None)$"):
        read_response({"content": [block]})


@pytest.mark.parametrize("text", [{"value": "Hello!"}, 7], ids=str)
def test_a_text_that_is_none_is_an_error_too(text: object):
    with pytest.raises(TypeError, match=r"got a message whose text cannot be read: a dict with the keys content$"):
        read_response({"content": text})


def test_the_blocks_of_anthropic_are_text_and_calls():
    blocks = [{"type": "text", "text": "Sure."}, {"type": "tool_use", "id": "a", "name": "f", "input": {"n": 1}}]
    answer = read_response({"role": "assistant", "content": blocks, "stop_reason": "tool_use"})
    assert answer == Answer("Sure.", (FoundCall("f", {"n": 1}, '{"n": 1}'),), finish_reason="tool_use")


@pytest.mark.parametrize("written", ['{"n": NaN}', '{"n": 1}{', '{"n": 1e999}', {"n": float("nan")}], ids=str)
def test_arguments_of_a_server_are_held_to_strict_json(written: object):
    message = {"tool_calls": [{"function": {"name": "f", "arguments": written}}]}
    assert read_response(message).calls[0].arguments is None


def test_an_error_in_place_of_a_response_is_told():
    with pytest.raises(TypeError, match="got an error: model not found"):
        read_response({"error": "model not found"})


@pytest.mark.parametrize(
    ("written", "deviations"),
    [
        ('{"n": 1, "n": 5}', ("the key 'n' occurs twice in the arguments; the last value counts",)),
        (' {"n": 5}', ()),
        ('{"n": {"a": 1, "a": 2}}', ()),
    ],
    ids=["twice", "once", "twice within"],
)
def test_a_key_that_stands_twice_is_told(written: str, deviations: tuple[str, ...]):
    function = {"name": "f", "arguments": written}
    (call,) = read_response({"content": None, "tool_calls": [{"function": function}]}).calls
    assert call.arguments == json.loads(written)
    assert call.deviations == deviations
