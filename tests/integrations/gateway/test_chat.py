"""`/v1/chat/completions` with tools."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from integrations.gateway.harness import (
    BREAK,
    CALL,
    QUESTION,
    USAGE,
    WEATHER,
    Answer,
    Asked,
    chunk,
    completion,
    event,
    events,
    gathered,
    in_turn,
    read_events,
    says,
    serving,
    stream,
)

TEXT = f"Let me check. {CALL} One moment."


def test_the_call_in_the_text_is_a_tool_call():
    with serving(says(TEXT)) as served:
        body = served.chat().json()
    choice = body["choices"][0]
    assert choice["message"]["content"] == "Let me check. One moment."
    (call,) = choice["message"]["tool_calls"]
    assert call["function"] == {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    assert call["type"] == "function"
    assert call["id"].startswith("call_")
    assert choice["finish_reason"] == "tool_calls"
    assert (body["id"], body["created"], body["usage"]) == ("chatcmpl-1", 5, USAGE)


def test_the_upstream_gets_the_tools_in_the_prompt_and_every_other_field():
    fields = {"seed": 3, "stop": ["Observation:"], "temperature": 0, "response_format": {"type": "text"}, "top_k": 1}
    with serving(says("Hello.")) as served:
        served.chat(**fields, tool_choice="auto", parallel_tool_calls=True)
        body = served.asked[0].body
    (message,) = body.pop("messages")
    assert body == {"model": "llama3.1", **fields}
    assert "get_weather" in message["content"]
    assert message["content"].endswith("How is the weather in Paris?")


@pytest.mark.parametrize("size", [1, 2, 5, 17, 1000])
def test_a_stream_hands_out_text_and_whole_calls(size: int):
    pieces = [TEXT[at : at + size] for at in range(0, len(TEXT), size)]
    with serving(says(*pieces)) as served:
        chunks = read_events(served.chat(stream=True))
    (choice,) = gathered(chunks).values()
    assert choice.content == "Let me check. One moment."
    assert choice.calls == [{"name": "get_weather", "arguments": '{"city": "Paris"}'}]
    assert choice.finish_reason == "tool_calls"
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert {(one["id"], one["model"], one["created"], one["object"]) for one in chunks} == {
        ("chatcmpl-1", "llama3.1", 5, "chat.completion.chunk")
    }
    assert [one for one in chunks if not one["choices"]] == []


def test_the_usage_comes_if_it_is_asked_for():
    with serving(says(TEXT)) as served:
        chunks = read_events(served.chat(stream=True, stream_options={"include_usage": True}))
        assert served.asked[0].body["stream_options"] == {"include_usage": True}
    assert (chunks[-1]["choices"], chunks[-1]["usage"]) == ([], USAGE)


def test_each_choice_is_read_by_itself():
    texts = [TEXT, "Hello."]
    choices = [{"index": at, "message": {"content": texts[at]}, "finish_reason": "stop"} for at in (0, 1)]
    parts = [chunk({"content": text[at : at + 7]}, index=texts.index(text)) for at in range(0, 91, 7) for text in texts]
    parts += [chunk({}, "stop", index=1), chunk({}, "stop"), b"data: [DONE]\n\n"]
    with serving([completion(choices), events(*parts)]) as served:
        whole_choices = served.chat(n=2).json()["choices"]
        streamed = gathered(read_events(served.chat(n=2, stream=True)))
    assert [choice["finish_reason"] for choice in whole_choices] == ["tool_calls", "stop"]
    assert [choice["message"]["content"] for choice in whole_choices] == ["Let me check. One moment.", "Hello."]
    assert [streamed[at].finish_reason for at in (0, 1)] == ["tool_calls", "stop"]
    assert [streamed[at].content for at in (0, 1)] == ["Let me check. One moment.", "Hello."]
    assert [call["name"] for call in streamed[0].calls] == ["get_weather"]


def test_what_else_the_upstream_says_of_a_choice_comes_through():
    parts = [chunk({"role": "assistant", "content": "Hi"}), chunk({}, "stop", stop_reason=128009), b"data: [DONE]\n\n"]
    with serving([events(*parts)]) as served:
        chunks = read_events(served.chat(stream=True))
    assert chunks[-1]["choices"][0]["stop_reason"] == 128009


class TestLogprobs:
    TOKEN: ClassVar = {"token": "Hi", "logprob": -0.5, "bytes": [72, 105], "top_logprobs": []}

    def answer(self, content: str) -> Answer:
        message = {"role": "assistant", "content": content}
        logprobs = {"content": [self.TOKEN], "refusal": None}
        return completion([{"index": 0, "message": message, "finish_reason": "stop", "logprobs": logprobs}])

    def test_they_stay_if_nothing_was_called(self):
        with serving([self.answer("Hi"), self.answer(CALL)]) as served:
            assert served.chat(logprobs=True).json()["choices"][0]["logprobs"]["content"] == [self.TOKEN]
            assert served.chat(logprobs=True).json()["choices"][0]["logprobs"] is None

    @pytest.mark.parametrize(("text", "count"), [("Hi there. It {is} 5.", 20), (f"Hi {CALL} there", 3)])
    def test_in_a_stream_they_come_up_to_the_first_call(self, text: str, count: int):
        parts = [chunk({"content": one}, logprobs={"content": [{**self.TOKEN, "token": one}]}) for one in text]
        with serving([events(*parts, chunk({}, "stop"), b"data: [DONE]\n\n")]) as served:
            chunks = read_events(served.chat(stream=True, logprobs=True))
        given = [one["choices"][0].get("logprobs") for one in chunks]
        tokens = [token["token"] for logprobs in given if logprobs for token in logprobs["content"]]
        assert "".join(tokens) == text[: len(tokens)]
        assert len(tokens) == count or (count == 3 and len(tokens) == 2)


class TestToolChoice:
    @pytest.mark.parametrize("second", [says(), Answer([b"{}"], status=500)], ids=["silent", "fails"])
    def test_the_end_of_an_answer_that_was_held_goes_out_if_no_other_comes(self, second: Any):
        now = {"type": "function", "function": {"name": "now"}}
        answers = in_turn(says(CALL), second if callable(second) else lambda _: second)
        with serving(answers) as served:
            response = served.chat(tools=[WEATHER, now], tool_choice=now, stream=True, constrain="off")
        (choice,) = gathered(read_events(response)).values()
        assert (choice.content, choice.calls) == (CALL, [])

    @pytest.mark.parametrize("is_stream", [False, True])
    def test_an_answer_that_is_no_text_does_not_stand_if_no_other_comes(self, is_stream: bool):
        wait = {"name": "wait", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}}
        misfit = says('{"name": "wait", "parameters": {"days": "soon"}}')
        with serving(in_turn(misfit, lambda _: Answer([b'{"error": {"message": "slow down"}}'], status=429))) as served:
            response = served.chat(tools=[{"type": "function", "function": wait}], stream=is_stream)
        assert "slow down" in response.text
        assert is_stream or response.status_code == 429


class TestRetries:
    BAD = 'Sure. {"name": "get_weather", "parameters": {oops}}'

    def test_a_malformed_call_is_asked_for_again(self):
        with serving(in_turn(says(self.BAD), says(CALL))) as served:
            body = served.chat().json()
            assert served.asked[1].body["messages"][-1]["content"].startswith("Error of get_weather")
            assert served.metric("retries_total") == 1
        assert body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"city": "Paris"}'
        assert body["usage"] == {"prompt_tokens": 14, "completion_tokens": 6, "total_tokens": 20}

    def test_in_a_stream_the_new_answer_follows_the_first(self):
        with serving(in_turn(says("Sure. ", self.BAD[6:]), says("Sorry. ", CALL))) as served:
            chunks = read_events(served.chat(stream=True, stream_options={"include_usage": True}))
        (choice,) = gathered(chunks).values()
        assert choice.content == "Sure.\n\nSorry."
        assert [call["name"] for call in choice.calls] == ["get_weather"]
        assert choice.finish_reason == "tool_calls"
        assert chunks[-1]["usage"]["total_tokens"] == 20

    def test_of_several_choices_only_that_one_is_asked_for(self):
        parts = [
            chunk({"content": self.BAD}),
            chunk({"content": CALL}, index=1),
            chunk({}, "stop", index=1),
            chunk({}, "stop"),
        ]
        script = [events(*parts, b"data: [DONE]\n\n"), stream(CALL)]
        with serving(script) as served:
            choices = gathered(read_events(served.chat(stream=True, n=2)))
            assert served.asked[1].body["n"] == 1
        assert [len(choices[place].calls) for place in (0, 1)] == [1, 1]
        assert choices[0].finish_reason == "tool_calls"

    def test_if_the_new_answer_breaks_off_so_does_the_stream(self):
        with serving(in_turn(says(self.BAD), lambda _: events(chunk({"content": "Sorry"}), BREAK))) as served:
            response = served.chat(stream=True)
        assert b"[DONE]" not in response.content
        assert b"upstream_broke_off" in response.content


class TestNative:
    def test_tools_go_upstream_and_what_comes_back_as_text_is_called(self):
        with serving(says(TEXT), native=True) as served:
            message = served.chat(tool_choice="required").json()["choices"][0]["message"]
            body = served.asked[0].body
        assert body["tools"] == [WEATHER]
        assert body["tool_choice"] == "required"
        assert body["messages"] == QUESTION
        assert message["tool_calls"][0]["function"]["name"] == "get_weather"


@pytest.mark.parametrize("stream", [False, True])
def test_what_groq_refuses_as_no_call_is_read(stream: bool):
    error = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": f"Hm. {CALL}"}
    with serving(lambda _: Answer([json.dumps({"error": error}).encode()], 400), native=True) as served:
        response = served.chat(stream=stream)
    assert response.status_code == 200
    assert "tool_calls" in response.text
    assert "Hm." in response.text
    assert '{\\"name' not in response.text


class TestConstraint:
    def test_a_schema_that_refers_to_what_it_does_not_have_is_refused(self):
        parameters = {"type": "object", "properties": {"a": {"$ref": "#/$defs/Missing"}}}
        tools = [WEATHER, {"type": "function", "function": {"name": "f", "parameters": parameters}}]
        with serving(says("Hi"), constrain="json_schema", retries=0) as served:
            response = served.chat(tools=tools, tool_choice="required")
            assert served.asked == []
            assert served.chat(tools=tools).status_code == 200
        assert (response.status_code, response.json()["error"]["param"]) == (400, "tools")
        assert "refer to '#/$defs/Missing'" in response.json()["error"]["message"]

    @pytest.mark.parametrize("stream", [False, True])
    def test_a_server_that_refuses_it_is_asked_without_it_from_then_on(self, stream: bool):
        def model(asked: Asked) -> Answer:
            return Answer([b"{}"], 422) if "response_format" in asked.body else says(CALL)(asked)

        with serving(model) as served:
            for _ in range(2):
                assert served.chat(tool_choice="required", stream=stream).status_code == 200
            assert ["response_format" in asked.body for asked in served.asked] == [True, False, False]

    def test_an_error_that_is_about_something_else_is_the_clients(self):
        with serving(lambda _: Answer([b"{}"], 401)) as served:
            assert served.chat(tool_choice="required").status_code == 401
            assert len(served.asked) == 1


@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [
        ({"tools": "all"}, "tools", "tools must be a list"),
        ({"tools": [{"type": "function", "function": {}}]}, "tools", "tools[0]: no name"),
        ({"tools": None, "functions": [WEATHER["function"]]}, "functions", "send the same as tools"),
        ({"tools": [WEATHER, {"type": "web_search"}]}, "tools[1].type", "tools[1] is of type 'web_search'"),
        ({"tool_choice": {"type": "function", "function": {"name": "rm"}}}, "tool_choice", "get_weather"),
        ({"parallel_tool_calls": "yes"}, "parallel_tool_calls", "parallel_tool_calls"),
        ({"messages": "Hi"}, "messages", "messages must be a list"),
        ({"messages": None}, "messages", "messages is missing"),
        ({"stream": "yes"}, "stream", 'stream is true or false, not "yes"'),
        ({"messages": [{"role": "assistant", "tool_calls": {}}, *QUESTION]}, "messages", "tool_calls must be a list"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages", "messages[0].content must be a str or a list"),
    ],
)
def test_a_request_that_cannot_be_read_is_answered_with_400_and_the_place(
    fields: dict[str, Any], param: str, message: str
):
    with serving(says("Hi")) as served:
        response = served.chat(**fields)
        assert served.asked == []
    error = response.json()["error"]
    assert (response.status_code, error["param"], error["type"]) == (400, param, "invalid_request_error")
    assert message in error["message"]


@pytest.mark.parametrize("data", [b"", b"[]"])
def test_a_body_that_is_no_json_object_is_answered_with_400(data: bytes):
    with serving(says("Hi")) as served:
        response = served.http.post(f"{served.base_url}/chat/completions", content=data)
    assert response.status_code == 400
    assert "JSON" in response.json()["error"]["message"]


def test_what_comes_after_the_end_of_an_answer_does_not_count():
    end = (chunk({}, "stop"), chunk({"content": "Ho"}), b"data: [DONE]\n\n", chunk({"content": "Hu"}))
    with serving([events(chunk({"content": "Hi"}), *end), events(chunk({"content": "Hi"}) + b"".join(end))]) as served:
        for _ in range(2):
            assert gathered(read_events(served.chat(stream=True)))[0].content == "Hi"


def test_a_chunk_that_only_counts_is_no_end():
    parts = [event({"choices": [], "usage": USAGE}), chunk({"content": "Hi"}), chunk({}, "stop"), b"data: [DONE]\n\n"]
    with serving([events(*parts)]) as served:
        assert gathered(read_events(served.chat(stream=True)))[0].content == "Hi"
