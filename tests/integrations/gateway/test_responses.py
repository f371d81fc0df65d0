"""`/v1/responses`: stateless, with function tools."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from integrations.gateway.harness import (
    CALL,
    Served,
    chunk,
    completion,
    event,
    events,
    in_turn,
    named_events,
    says,
    serving,
    whole_answer,
)
from llama3_gateway.openai_responses import ResponseShape
from llama3_gateway.responses_input import KeptItems

TEXT = f"Let me check. {CALL} One moment."
TOOL = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "strict": True,
}
BODY = {"model": "llama3.1", "input": "How is the weather in Paris?", "tools": [TOOL]}


def ask(served: Served, **fields: object) -> dict[str, Any]:
    return whole_answer(served, "/v1/responses", {**BODY, **fields})


def streamed(served: Served, **fields: object) -> list[dict[str, Any]]:
    """The events, each of which has the next number."""
    bodies = named_events(served, "/v1/responses", {**BODY, **fields})
    assert [body["sequence_number"] for body in bodies] == list(range(len(bodies)))
    return bodies


def without_ids(output: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in item.items() if key not in {"id", "call_id"}} for item in output]


MESSAGE = {
    "type": "message",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Let me check. One moment.", "annotations": [], "logprobs": []}],
}
FUNCTION_CALL = {
    "type": "function_call",
    "name": "get_weather",
    "arguments": '{"city": "Paris"}',
    "status": "completed",
}


def test_the_call_in_the_text_is_a_function_call():
    with serving(says(TEXT)) as served:
        body = ask(served, metadata={"a": "b"})
    assert without_ids(body["output"]) == [MESSAGE, FUNCTION_CALL]
    assert body["output"][1]["call_id"].startswith("call_")
    assert (body["object"], body["status"], body["model"], body["store"]) == (
        "response",
        "completed",
        "llama3.1",
        False,
    )
    assert (body["tools"], body["metadata"]) == ([TOOL], {"a": "b"})
    assert body["usage"] == {
        "input_tokens": 7,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 10,
    }


def test_halves_of_a_character_become_one():
    parts = [b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % half for half in (rb"\ud83d", rb"\ude00 Hi")]
    with serving([events(*parts, chunk({}, "stop"), b"data: [DONE]\n\n")]) as served:
        *_, last = streamed(served)
    assert last["response"]["output"][0]["content"][0]["text"] == "\U0001f600 Hi"


def test_a_long_stream_keeps_its_text_in_few_bytes():
    """Besides the two texts that reading keeps: each delta would take fifty bytes beside its characters."""
    shape = ResponseShape({}, KeptItems())
    shape.begin({})
    tracemalloc.start()
    try:
        for number in range(5_000):
            shape.deltas(0, [{"content": f"{number:04} wörd "}], None)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 2 * 5_000 * 11


@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_stream_ends_with_what_comes_whole(size: int):
    with serving(says(*(TEXT[at : at + size] for at in range(0, len(TEXT), size)))) as served:
        first, second, *bodies, last = streamed(served)
    assert [first["type"], second["type"], last["type"]] == [
        "response.created",
        "response.in_progress",
        "response.completed",
    ]
    assert without_ids(last["response"]["output"]) == [MESSAGE, FUNCTION_CALL]
    assert last["response"]["usage"]["total_tokens"] == 10
    deltas = [body["delta"] for body in bodies if body["type"] == "response.output_text.delta"]
    assert "".join(deltas) == "Let me check. One moment."
    items = [body for body in bodies if body["type"].startswith("response.output_item")]
    assert [body["type"].rpartition(".")[2] for body in items] == ["added", "done"] * 2  # one item at a time
    assert [body["item"] for body in items[1::2]] == last["response"]["output"]


def test_the_events_of_a_call_come_in_order():
    with serving(says(CALL)) as served:
        kinds = [body["type"] for body in streamed(served)]
    assert kinds == [
        *("response.created", "response.in_progress", "response.output_item.added"),
        *("response.function_call_arguments.delta", "response.function_call_arguments.done"),
        *("response.output_item.done", "response.completed"),
    ]


def test_an_empty_answer_is_an_empty_message():
    with serving(says("")) as served:
        for body in (streamed(served)[-1]["response"], ask(served)):
            (message,) = body["output"]
            assert message["content"][0]["text"] == ""


@pytest.mark.parametrize(("reason", "told"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_an_answer_that_a_limit_ended_is_incomplete(reason: str, told: str):
    with serving(says("Hello", finish_reason=reason)) as served:
        last, body = streamed(served)[-1], ask(served)
    assert last["type"] == "response.incomplete"
    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": told})


def test_thoughts_are_an_item_of_their_own():
    with serving(says("<think>Hm.", "</think>", f"Yes. {CALL}"), split_reasoning=True) as served:
        whole_body = ask(served)
        bodies = streamed(served)
    for output in (whole_body["output"], bodies[-1]["response"]["output"]):
        assert [item["type"] for item in output] == ["reasoning", "message", "function_call"]
        assert output[0]["content"] == [{"type": "reasoning_text", "text": "Hm."}]
    kinds = [body["type"] for body in bodies]
    assert kinds.index("response.reasoning_text.done") < kinds.index("response.output_text.delta")


def test_the_request_becomes_a_chat_completion():
    image = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
    given = [
        {"role": "developer", "content": "Be brief."},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Hi "}, {"type": "input_text", "text": "there"}],
        },
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Sure.", "annotations": []}],
        },
        {"type": "function_call", "call_id": "a", "name": "get_weather", "arguments": '{"city": "Rome"}'},
        {"type": "function_call", "call_id": "b", "name": "get_weather", "arguments": '{"city": "Oslo"}'},
        {"type": "function_call_output", "call_id": "b", "output": "Snow"},
        {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "Sun"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "And this?"}, image]},
    ]
    text = {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": True}}
    fields = {"temperature": 0.5, "max_output_tokens": 9, "instructions": "Hi.", "text": text, "store": True}
    with serving(says("Fine.")) as served:
        ask(served, input=given, **fields, reasoning={"effort": "low"}, top_k=3, parallel_tool_calls=False)
        body = served.asked[0].body
    messages = body.pop("messages")
    assert served.asked[0].path == "/v1/chat/completions"
    schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": True}}
    assert body == {
        "model": "llama3.1",
        "temperature": 0.5,
        "max_tokens": 9,
        "top_k": 3,
        "reasoning_effort": "low",
        "response_format": schema,
    }
    assert [message["role"] for message in messages] == ["system", "system", "user", "assistant", "user"]
    assert messages[2]["content"].endswith("Hi there")
    assert messages[3]["content"].startswith('Sure.\n{"name": "get_weather", "parameters": {"city": "Rome"}}')
    told, asked, shown = messages[4]["content"]
    assert "Sun\n\n" in told["text"]
    assert asked["text"].strip() == "And this?"
    assert shown == {"type": "image_url", "image_url": {"url": image["image_url"]}}


def test_fields_that_a_server_may_refuse_are_not_sent():
    with serving(says("Fine.")) as served:
        ask(served, store=False, include=[], client_metadata={"installation_id": "i"}, top_p=0.5)
        body = served.asked[0].body
    assert body.keys() == {"model", "messages", "top_p"}


def test_text_after_calls_belongs_to_the_same_turn():
    given = [
        {"type": "function_call", "call_id": "a", "name": "get_weather", "arguments": "{}"},
        {"type": "message", "role": "assistant", "content": "One moment."},
        {"type": "function_call_output", "call_id": "a", "output": "Snow"},
    ]
    with serving(says("Fine.")) as served:
        ask(served, input=[{"role": "user", "content": "Hi"}, *given])
        roles = [message["role"] for message in served.asked[0].body["messages"]]
    assert roles == ["user", "assistant", "user"]


PATCH = {"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "definition": "start: begin"}}
EDIT = '{"name": "apply_patch", "parameters": {"input": "*** Begin Patch\\n\\"six\\""}}'


def test_a_custom_tool_is_a_function_with_one_text():
    with serving(in_turn(says(EDIT), says(EDIT), says("Done."))) as served:
        whole_call = ask(served, tools=[PATCH, TOOL])["output"]
        *bodies, last = streamed(served, tools=[PATCH, TOOL])
        told = {"type": "custom_tool_call_output", "call_id": whole_call[0]["call_id"], "output": "Patched"}
        ask(served, tools=[PATCH], input=[{"role": "user", "content": "Edit"}, *whole_call, told])
        shown, history = served.asked[0].body["messages"][0]["content"], served.asked[2].body["messages"]
    call = {"type": "custom_tool_call", "name": "apply_patch", "input": '*** Begin Patch\n"six"', "status": "completed"}
    assert without_ids(whole_call) == without_ids(last["response"]["output"]) == [call]
    assert [body["type"] for body in bodies][-4:] == [
        *("response.output_item.added", "response.custom_tool_call_input.delta"),
        *("response.custom_tool_call_input.done", "response.output_item.done"),
    ]
    assert "start: begin" in shown
    assert [message["content"] for message in history[1:]] == [EDIT, "Result of apply_patch: Patched"]


def test_tools_that_the_server_would_run_are_left_out_and_logged(caplog: pytest.LogCaptureFixture):
    """As Codex declares them."""
    served_tools = [{"type": kind} for kind in ("namespace", "web_search", "local_shell")]
    with serving(says(CALL)) as served, caplog.at_level("INFO", "llama3_gateway"):
        assert without_ids(ask(served, tools=[*served_tools, TOOL])["output"]) == [FUNCTION_CALL]
    assert "left out tools that the server would have to run: namespace, web_search, local_shell" in caplog.text


def test_items_and_parts_that_the_model_cannot_read_become_texts():
    parts = [{"type": "input_text", "text": "This? "}, {"type": "input_file", "file_id": "f"}]
    with serving(says("Fine.")) as served:
        ask(served, tools=[], input=[{"role": "user", "content": parts}, {"type": "web_search_call", "id": "w"}])
        contents = [message["content"] for message in served.asked[0].body["messages"]]
    assert contents == ["This? [a file that this model cannot read]", "[a web_search_call that this model cannot read]"]


@pytest.mark.parametrize("is_stream", [False, True])
def test_an_item_may_be_referred_to_by_its_id(is_stream: bool):
    with serving(says(TEXT)) as served:
        output = streamed(served)[-1]["response"]["output"] if is_stream else ask(served)["output"]
        references = [{"type": "item_reference", "id": item["id"]} for item in output]
        told = {"type": "function_call_output", "call_id": output[-1]["call_id"], "output": "Sun"}
        ask(served, input=[{"role": "user", "content": "Paris?"}, *references, told])
        messages = served.asked[1].body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[1]["content"].startswith("Let me check. One moment.")
    assert messages[2]["content"] == "Result of get_weather: Sun"


def test_only_so_many_items_are_kept():
    kept = KeptItems(most_characters=42)
    for number in range(5):
        kept.add({"id": f"msg_{number}"})
    assert [kept.get(f"msg_{number}") is not None for number in range(5)] == [False, False, True, True, True]
    kept.add({"id": "msg_6", "text": "a" * 700})
    assert [kept.get(of) for of in ("msg_4", "msg_6", 5)] == [None] * 3


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "c"}, "conversation"),
        ({"background": True}, "background"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"tools": [5]}, "tools[0]"),
        ({"tools": [{"name": "f"}]}, "tools[0].type"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"tools": [TOOL, {"type": "function", "function": {"name": "f"}}]}, "tools[1].name"),
        ({"stream": "yes"}, "stream"),
        ({"tools": "all"}, "tools"),
        ({"input": 5}, "input"),
        ({"input": [5]}, "input[0]"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0]"),
        ({"input": [{"role": "user", "content": [5]}]}, "input[0].content[0]"),
        ({"tool_choice": {"type": "function", "name": "rm"}}, "tool_choice"),
    ],
)
def test_what_needs_state_or_hosted_tools_is_answered_with_400(fields: dict[str, object], param: str):
    with serving(says("Hi")) as served:
        response = served.post("/v1/responses", {**BODY, **fields})
        assert served.asked == []
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)


def test_of_several_choices_the_first_counts():
    parts = [chunk({"content": "Hi"}), chunk({"content": "Ho"}, index=1), chunk({}, "stop", index=1), chunk({}, "stop")]
    with serving([events(*parts, b"data: [DONE]\n\n")]) as served:
        (message,) = streamed(served, n=2)[-1]["response"]["output"]
    assert message["content"][0]["text"] == "Hi"


def test_a_refusal_and_a_format_are_kept():
    refusal = {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    given = [{"role": "user", "content": "Hi"}, refusal, {"role": "user", "content": "Please"}]
    with serving(says("Fine.")) as served:
        ask(served, input=given, text={"format": {"type": "json_object"}})
        body = served.asked[0].body
    assert body["messages"][1]["content"] == "No."
    assert body["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("DELETE", "/v1/responses/resp_1"), ("POST", "/v1/responses/resp_1/cancel"), ("POST", "/v1/conversations")),
        *(("GET", "/v1/responses/resp_1/input_items"), ("POST", "/v1/conversations/c/items")),
    ],
)
def test_paths_that_need_state_are_answered_with_400(method: str, path: str):
    with serving(says("Hi")) as served:
        response = served.http.request(method, served.address + path)
        assert served.asked == []
    assert response.status_code == 400
    assert "needs a server that keeps what it has answered" in response.json()["error"]["message"]


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": "7", "completion_tokens": 3},
        {"prompt_tokens": 7, "completion_tokens": [3], "prompt_tokens_details": [1]},
        {"prompt_tokens": 7, "completion_tokens_details": "x", "total_tokens": "10"},
    ],
)
def test_an_odd_usage_takes_no_answer_away(usage: dict[str, Any], is_stream: bool):
    done = [event({"choices": [], "usage": usage}), b"data: [DONE]\n\n"]
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
    answer = (
        events(chunk({"content": "Hi"}), chunk({}, "stop"), *done) if is_stream else completion([choice], usage=usage)
    )
    with serving([answer]) as served:
        response = streamed(served)[-1]["response"] if is_stream else ask(served)
    assert response["output"][0]["content"][0]["text"] == "Hi"
    assert all(isinstance(response["usage"][f"{name}_tokens"], int) for name in ("input", "output", "total"))
