"""Ollama's `/api/chat` with tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from integrations.gateway.harness import (
    BREAK,
    CALL,
    COUNTS,
    OLLAMA_HEAD,
    QUESTION,
    WEATHER,
    Answer,
    Served,
    in_turn,
    ollama_line,
    says,
    serving,
)

TEXT = f"Let me check. {CALL} One moment."
CALLED = [{"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]


def ask(served: Served, **fields: object) -> list[dict[str, Any]]:
    body = {"model": "llama3.1", "messages": QUESTION, "tools": [WEATHER], **fields}
    response = served.post("/api/chat", body)
    assert response.status_code == 200
    return [json.loads(line) for line in response.content.splitlines()]


def test_the_call_in_the_text_is_a_tool_call():
    with serving(says(TEXT)) as served:
        (body,) = ask(served, stream=False, options={"num_ctx": 4096}, keep_alive="5m")
        asked = served.asked[0].body
    assert body["message"] == {"role": "assistant", "content": "Let me check. One moment.", "tool_calls": CALLED}
    assert {name: body[name] for name in (*OLLAMA_HEAD, *COUNTS)} == {**OLLAMA_HEAD, **COUNTS}
    assert (body["done"], body["done_reason"]) == (True, "stop")
    assert "tools" not in asked
    assert "get_weather" in asked["messages"][0]["content"]
    assert (asked["options"], asked["keep_alive"]) == ({"num_ctx": 4096}, "5m")


@pytest.mark.parametrize("size", [3, 100])
@pytest.mark.parametrize("fields", [{}, {"stream": True}, {"stream": None}])
def test_it_streams_unless_told_otherwise(size: int, fields: dict[str, Any]):
    with serving(says(*(TEXT[at : at + size] for at in range(0, len(TEXT), size)))) as served:
        *lines, last = ask(served, **fields)
    assert "".join(line["message"]["content"] for line in lines) == "Let me check. One moment."
    assert [call for line in lines for call in line["message"].get("tool_calls", ())] == CALLED
    assert {line["done"] for line in lines} == {False}
    assert last == {
        **OLLAMA_HEAD,
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "stop",
        **COUNTS,
    }


def test_arguments_keep_every_digit_and_stand_in_one_line():
    arguments = '{\n"city": "Pa\\nris", "height": 1.10, "n": 123456789012345678901234567890}'
    with serving(says(f'{{"name": "get_weather", "parameters": {arguments}}}'), coerce=False) as served:
        response = served.post("/api/chat", {"model": "m", "messages": QUESTION, "tools": [WEATHER]})
    assert arguments.replace("\n", " ") in response.text


def test_results_find_their_calls_by_name_and_order():
    calls = [{"function": {"name": "get_weather", "arguments": {"city": city}}} for city in ("Rome", "Oslo")]
    history = [
        *QUESTION,
        {"role": "assistant", "content": "", "tool_calls": [*calls, {"function": {"name": "now", "arguments": {}}}]},
        {"role": "tool", "tool_name": "get_weather", "content": "Sun"},
        {"role": "tool", "tool_name": "now", "content": "12:30"},
        {"role": "tool", "tool_name": "get_weather", "content": "Snow"},
    ]
    for tools in ([WEATHER], []):
        with serving(says("It depends.")) as served:
            ask(served, messages=history, tools=tools, stream=False)
            *_, calling, told = served.asked[0].body["messages"]
        assert calling["role"] == "assistant"
        assert told["role"] == "user"
        first, second, third = told["content"].split("\n\n")
        assert ("Rome" in first, "Sun" in first) == (True, True)
        assert ("Oslo" in second, "Snow" in second) == (True, True)
        assert third == "Result of now: 12:30"


@pytest.mark.parametrize("tools", [[WEATHER], []])
@pytest.mark.parametrize("role", ["user", "tool"])
def test_images_of_results_stay_with_the_message_that_has_the_results(tools: list[object], role: str):
    calls = [{"function": {"name": name, "arguments": {}}} for name in ("look", "zoom", "size", "now")]
    results = [
        {"role": "tool", "tool_name": "look", "content": "A cat.", "images": ["YQ==", "Yg=="]},
        {"role": "tool", "tool_name": "zoom", "content": "", "images": ["Yw=="]},
        {"role": "tool", "tool_name": "size", "content": {"width": 2}, "images": ["ZA=="]},
        {"role": "tool", "tool_name": "now", "content": "12:30", "images": []},
    ]
    history = [*QUESTION, {"role": "assistant", "content": "", "tool_calls": calls}, *results]
    with serving(says("A cat."), tool_role=role) as served:
        ask(served, messages=history, tools=tools)
        told = [one for one in served.asked[0].body["messages"] if "Result of" in one["content"]]
    texts = ["Result of look: A cat.", "Result of zoom:", 'Result of size: {"width": 2}', "Result of now: 12:30"]
    images = [["YQ==", "Yg=="], ["Yw=="], ["ZA=="], []]
    if role == "tool":
        assert [(one["content"], one.get("images", [])) for one in told] == list(zip(texts, images, strict=True))
    else:
        assert told == [{"role": role, "content": "\n\n".join(texts), "images": [*images[0], *images[1], *images[2]]}]


def test_thoughts_stay_apart():
    message = {"role": "assistant", "content": "Yes.", "thinking": "Hm."}
    answer = Answer([json.dumps({**OLLAMA_HEAD, "message": message, "done": True}).encode()])
    lines = [
        json.dumps({**OLLAMA_HEAD, "message": {"role": "assistant", "content": "", "thinking": "Hm."}}).encode()
        + b"\n",
        ollama_line("Yes."),
    ]
    end = json.dumps({**OLLAMA_HEAD, "message": {"content": ""}, "done": True, "done_reason": "length"}).encode()
    with serving([answer, Answer([*lines, end], content_type="application/x-ndjson")]) as served:
        (body,) = ask(served, stream=False)
        *streamed, last = ask(served)
    assert (body["message"]["thinking"], body["message"]["content"]) == ("Hm.", "Yes.")
    assert [line["message"].get("thinking") for line in streamed] == ["Hm.", None]
    assert last["done_reason"] == "length"


def test_a_malformed_call_is_asked_for_again_and_all_tokens_count():
    bad = '{"name": "get_weather", "parameters": {oops}}'
    with serving(in_turn(says(bad), says(CALL), says(bad), says(CALL))) as served:
        (body,) = ask(served, stream=False)
        *_, last = ask(served)
    assert body["message"]["tool_calls"] == CALLED
    assert (body["eval_count"], last["eval_count"]) == (6, 6)


def test_an_error_of_the_upstreams_is_the_last_line():
    lines = [ollama_line(CALL[:20]), b'{"error": "out of memory"}\n']
    with serving([Answer(lines, content_type="application/x-ndjson")]) as served:
        *begun, last = ask(served)
    assert "".join(line["message"]["content"] for line in begun) == CALL[:20]
    assert last == {"error": "out of memory"}


@pytest.mark.parametrize("end", [(BREAK,), (), (b'{"mess',), (b"5\n",)])
def test_a_stream_that_breaks_off_says_so_and_calls_nothing(end: tuple[object, ...]):
    with serving([Answer([ollama_line(CALL[:20]), *end], content_type="application/x-ndjson")]) as served:
        *begun, last = ask(served)
    assert "".join(line["message"]["content"] for line in begun) == CALL[:20]
    assert isinstance(last["error"], str)
    assert not any("tool_calls" in line["message"] or line["done"] for line in begun)


@pytest.mark.parametrize(
    ("fields", "status"), [({"tools": [{}]}, 400), ({"messages": 5}, 400), ({"messages": [5]}, 400)]
)
def test_errors_are_in_ollamas_form(fields: dict[str, Any], status: int):
    with serving(says("Hi")) as served:
        response = served.post("/api/chat", {"messages": QUESTION, "tools": [WEATHER], **fields})
    assert response.status_code == status
    assert isinstance(response.json()["error"], str)


@pytest.mark.parametrize("data", [b"{}", b"5"])
def test_an_answer_that_is_none_is_answered_with_502(data: bytes):
    with serving([Answer([data])]) as served:
        response = served.post("/api/chat", {"messages": QUESTION, "tools": [WEATHER], "stream": False})
    assert response.status_code == 502
    assert "has sent" in response.json()["error"]


@pytest.mark.parametrize("city", ["Par\u2028is\u2029\u0085", "Z\u00fcrich \U0001f600"])
@pytest.mark.parametrize("is_stream", [False, True])
def test_calls_are_lines_of_ascii(city: str, is_stream: bool):
    call = f'{{"name": "get_weather", "parameters": {{"city": "{city}"}}}}'
    with serving(says(call)) as served:
        response = served.post("/api/chat", {"messages": QUESTION, "tools": [WEATHER], "stream": is_stream})
    assert response.content.isascii()
    calls = [call for line in response.text.splitlines() for call in json.loads(line)["message"].get("tool_calls", ())]
    assert [call["function"]["arguments"] for call in calls] == [{"city": city}]


@pytest.mark.parametrize("constrain", ["json_schema", "json_object"])
def test_a_call_that_has_to_be_made_is_held_to_by_ollamas_own_word(constrain: str):
    named = {"type": "function", "function": {"name": "get_weather"}}
    with serving(says(CALL), constrain=constrain) as served:
        ask(served, stream=False, tool_choice=named)
        ask(served, stream=False)
        ask(served, stream=False, tool_choice="required", format="json")
        held, free, own = (asked.body for asked in served.asked)
    assert held["format"]["properties"]["name"] == {"type": "string", "enum": ["get_weather"]}
    assert held["format"]["required"] == ["name", "parameters"]
    assert not held.keys() & {"response_format", "tool_choice"}
    assert "format" not in free
    assert own["format"] == "json"
