"""`/v1/messages`, Anthropic's Messages API, and its count of tokens."""

from __future__ import annotations

import json
from typing import Any

import pytest

from integrations.gateway.harness import (
    BREAK,
    CALL,
    Answer,
    Asked,
    Served,
    chunk,
    completion,
    event,
    events,
    named_events,
    says,
    serving,
    whole,
    whole_answer,
)

TEXT = f"Let me check. {CALL}"
TOOL = {
    "name": "get_weather",
    "description": "The weather of a city",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
QUESTION = {"role": "user", "content": "How is the weather in Paris?"}
BODY = {"model": "llama3.1", "max_tokens": 100, "messages": [QUESTION], "tools": [TOOL]}
TOOL_USE = {"type": "tool_use", "name": "get_weather", "input": {"city": "Paris"}}
CALLED = {"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Rome"}}
USAGE = {"input_tokens": 7, "output_tokens": 3}


def ask(served: Served, **fields: object) -> dict[str, Any]:
    return whole_answer(served, "/v1/messages", {**BODY, **fields})


def streamed(served: Served, **fields: object) -> list[dict[str, Any]]:
    return named_events(served, "/v1/messages", {**BODY, **fields})


def gathered(bodies: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that a client makes of a stream, in which one block begins after another."""
    first, *bodies = bodies
    assert first["type"] == "message_start"
    message: dict[str, Any] = first["message"]
    is_open, pieces = False, ""
    for body in bodies:
        kind, delta = body["type"], body.get("delta")
        if "index" in body:
            assert body["index"] == len(message["content"]) - (kind != "content_block_start")
        if kind == "content_block_start":
            assert not is_open
            is_open, pieces = True, ""
            message["content"].append(body["content_block"])
        elif kind == "content_block_delta":
            assert is_open
            field = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
            pieces += delta[field[delta["type"]]]
        elif kind == "content_block_stop":
            assert is_open
            is_open, block = False, message["content"][-1]
            block.update({"input": json.loads(pieces)} if block["type"] == "tool_use" else {block["type"]: pieces})
        elif kind == "message_delta":
            message.update(**delta, usage=body["usage"])
    assert not is_open
    return message


def answered(served: Served, *, is_stream: bool, **fields: object) -> dict[str, Any]:
    return gathered(streamed(served, **fields)) if is_stream else ask(served, **fields)


def without_ids(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in block.items() if key != "id"} for block in content]


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def test_the_call_in_the_text_is_a_tool_use():
    with serving(says(TEXT)) as served:
        body = ask(served)
        (asked,) = served.asked
    assert without_ids(body.pop("content")) == [text("Let me check."), TOOL_USE]
    assert body.pop("id").startswith("msg_")
    assert body == {
        "type": "message",
        "role": "assistant",
        "model": "llama3.1",
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": USAGE,
    }
    assert (asked.path, "tools" in asked.body) == ("/v1/chat/completions", False)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_stream_has_what_comes_whole(size: int):
    with serving(says(*(TEXT[at : at + size] for at in range(0, len(TEXT), size)))) as served:
        message = gathered(streamed(served))
    assert without_ids(message["content"]) == [text("Let me check."), TOOL_USE]
    assert (message["stop_reason"], message["usage"], message["model"]) == ("tool_use", USAGE, "llama3.1")


def test_the_events_come_in_order():
    with serving(says("<think>Hm.</think>", "Let me ", "check. ", CALL), split_reasoning=True) as served:
        bodies = streamed(served)
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    kinds = [body["type"] for body in bodies]
    assert kinds == [
        *("message_start", *block, *block[:2], *block[1:], *block),
        *("message_delta", "message_stop"),
    ]
    first = bodies[0]["message"]
    assert (first["type"], first["content"], first["stop_reason"]) == ("message", [], None)
    begun = [body["content_block"] for body in bodies if body["type"] == "content_block_start"]
    assert without_ids(begun) == [
        {"type": "thinking", "thinking": "", "signature": ""},
        text(""),
        {**TOOL_USE, "input": {}},
    ]
    assert bodies[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}


def test_thoughts_and_in_a_stream_text_after_a_call_are_blocks_of_their_own():
    with serving(says("<think>Hm.", "</think>", f"{TEXT} One moment."), split_reasoning=True) as served:
        whole_content, content = (answered(served, is_stream=is_stream)["content"] for is_stream in (False, True))
    thoughts = {"type": "thinking", "thinking": "Hm.", "signature": ""}
    assert without_ids(whole_content) == [thoughts, text("Let me check. One moment."), TOOL_USE]
    assert without_ids(content) == [thoughts, text("Let me check."), TOOL_USE, text(" One moment.")]


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    ("finish_reason", "stop_reason"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal"), ("odd", "end_turn")],
)
def test_why_it_stopped_is_said_in_anthropics_words(finish_reason: str, stop_reason: str, is_stream: bool):
    with serving(says("Hello", finish_reason=finish_reason)) as served:
        message = answered(served, is_stream=is_stream)
    assert (message["stop_reason"], message["content"]) == (stop_reason, [text("Hello")])


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"stop_reason": "END"}, ("stop_sequence", "END")),
        ({"matched_stop": "END"}, ("stop_sequence", "END")),
        ({"stop_reason": 128009, "matched_stop": "<|eot_id|>"}, ("end_turn", None)),
    ],
)
def test_the_text_that_stopped_it_is_told_if_the_server_tells_it(
    said: dict[str, object], told: tuple[str, str | None], is_stream: bool
):
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop", **said}
    parts = [chunk({"content": "Hi"}), chunk({}, "stop", **said), b"data: [DONE]\n\n"]
    with serving([events(*parts) if is_stream else completion([choice])]) as served:
        message = answered(served, is_stream=is_stream, stop_sequences=["END"])
        assert served.asked[0].body["stop"] == ["END"]
    assert (message["stop_reason"], message["stop_sequence"]) == told


def test_an_empty_answer_has_no_blocks():
    with serving(says("")) as served:
        for message in (ask(served), gathered(streamed(served))):
            assert (message["content"], message["stop_reason"]) == ([], "end_turn")


def test_arguments_keep_every_digit():
    with serving(says(CALL.replace("}}", ', "height": 1.10000000000000000001}}'))) as served:
        assert '"height": 1.10000000000000000001' in served.post("/v1/messages", BODY).text


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
LINKED = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
DATA_URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
LINKED_URL = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
UNREAD = "[a {} that this model cannot read]"
CACHED = {"cache_control": {"type": "ephemeral"}}


def messages_for_model(*messages: dict[str, Any], **fields: object) -> list[dict[str, Any]]:
    """The messages that the upstream is sent, without the tools before the first one of the user."""
    with serving(says("Fine.")) as served:
        ask(served, messages=list(messages), **{"tools": [], **fields})
        sent: list[dict[str, Any]] = served.asked[0].body["messages"]
    return sent


@pytest.mark.parametrize(
    ("system", "sent"),
    [
        ("Be brief.", ["Be brief."]),
        ([{**text("Be brief."), **CACHED}, text("Be kind.")], ["Be brief.\n\nBe kind."]),
        *((empty, []) for empty in ("", [], None)),
    ],
)
def test_the_system_prompt_is_a_message_unless_it_is_empty(system: object, sent: list[str]):
    of_system = [{"role": "system", "content": one} for one in sent]
    assert messages_for_model(QUESTION, system=system) == [*of_system, QUESTION]


@pytest.mark.parametrize(
    ("content", "sent"),
    [
        ([{**text("Hi"), **CACHED}, text("there")], "Hi\n\nthere"),
        ([text("This?"), IMAGE, LINKED], [text("This?"), DATA_URL, LINKED_URL]),
        ([], ""),
        ([{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Tides"}}], "Tides"),
        (
            [{"type": "document", "source": {"type": "content", "content": [text("Tides"), IMAGE]}}],
            [text("Tides"), DATA_URL],
        ),
        (
            [{"type": "search_result", "source": "a.org", "title": "A", "content": [text("Tides")]}],
            "A (a.org)\n\nTides",
        ),
        ([{"type": "document", "source": {"type": "base64", "data": "JVBERi0="}}], UNREAD.format("PDF")),
        ([{"type": "document", "source": {"type": "url", "url": "https://a.org"}}], UNREAD.format("PDF")),
        ([{"type": "document", "source": {"type": "file", "file_id": "f"}}], UNREAD.format("document")),
        ([text("Hi"), {"type": "magic"}], "Hi\n\n" + UNREAD.format("magic")),
    ],
)
def test_blocks_become_a_text_or_parts(content: object, sent: object):
    assert messages_for_model({"role": "user", "content": content}) == [{"role": "user", "content": sent}]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
        (400, "this model does not support image input"),
        (400, "m is not a multimodal model"),
        (400, "Model does not support images. Please use a model that does."),
    ],
    ids=["llama.cpp", "Ollama", "vLLM", "LM Studio"],
)
def test_a_model_without_eyes_is_told_of_an_image(status: int, said: str):
    refusal = Answer([json.dumps({"error": {"message": said}}).encode()], status=status)

    def respond(asked: Asked) -> Answer:
        return refusal if "image_url" in str(asked.body) else whole("Fine.")

    with serving(respond) as served:
        assert ask(served, messages=[{"role": "user", "content": [text("This?"), IMAGE]}], tools=[])["content"]
        assert served.asked[1].body["messages"][0]["content"] == "This?\n\n[an image that this model cannot read]"


def test_tools_that_the_server_would_run_are_left_out_and_logged(caplog: pytest.LogCaptureFixture):
    search = {"type": "web_search_20250305", "name": "web_search"}
    with serving(says(CALL)) as served, caplog.at_level("INFO", "llama3_gateway"):
        assert without_ids(ask(served, tools=[search, TOOL])["content"]) == [TOOL_USE]
    assert "left out tools that the server would have to run: web_search_20250305" in caplog.text


TOO_LONG = "prompt is too long: 5000 tokens > 4096 maximum"
SIZES = "(5000 tokens) exceeds the available context size (4096 tokens)"
VLLM = "This model's maximum context length is"
OF_VLLM = "You passed 3000 input tokens and requested 2000 output tokens. However, the model's context length"
PARTS = "3000 in the messages, 2000 in the completion"
SGLANG = "3000 tokens from the input messages and 2000 tokens for the completion."
LM_STUDIO = "Trying to keep the first 5000 tokens when context the overflows."
TOO_MUCH = "input length and `max_tokens` exceed context limit: 3000 + 2000 > 4096"


class TestAFullContext:
    """Claude Code sums up, and goes on; it asks for a shorter answer, if only that is too long."""

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            (f"request {SIZES}, try increasing it", TOO_LONG),
            ({"message": "it exceeds the available context size", "n_prompt_tokens": 5000, "n_ctx": 4096}, TOO_LONG),
            ("the input length exceeds the context length", "prompt is too long: the input length"),
            ("prompt too long; exceeded max context length by 904 tokens", "prompt is too long: prompt too"),
            ("Context size has been exceeded.", "prompt is too long: Context size"),
            (f"Error code: 400 - {{'error': {{'message': 'request {SIZES}'}}}}", TOO_LONG),
            (f"{VLLM} 4096 tokens. However, your prompt contains at least 5000 input tokens, which exceeds", TOO_LONG),
            (f"{OF_VLLM} is only 4096 tokens, resulting in a maximum input length of 2096 tokens.", TOO_MUCH),
            (f"'max_tokens' is too large: 2000. {VLLM} 4096 tokens and your request has 3000 input tokens", TOO_MUCH),
            (f"{VLLM} 4096 tokens. However, you requested 5000 tokens ({PARTS})", TOO_MUCH),
            ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", TOO_LONG),
            (f"maximum context length of 4096 tokens. You requested a total of 5000 tokens: {SGLANG}", TOO_MUCH),
            (f"{LM_STUDIO} However, the model is loaded with context length of only 4096 tokens", TOO_LONG),
        ],
        ids=[
            *("llama.cpp", "llama.cpp before", "Ollama", "Ollama's newer", "llama.cpp's answer", "a proxy"),
            *("vLLM", "vLLM before", "vLLM's max_tokens"),
            *("vLLM's oldest", "SGLang", "SGLang's total", "LM Studio"),
        ],
    )
    def test_it_is_told_in_the_words_of_each_api(self, said: object, told: str):
        error = said if isinstance(said, dict) else {"message": said}
        with serving(lambda _: Answer([json.dumps({"error": error}).encode()], status=400)) as served:
            anthropic = served.post("/v1/messages", BODY)
            others = [served.chat(), served.post("/v1/responses", {"input": "Hi"})]
        assert (anthropic.status_code, anthropic.json()["error"]["type"]) == (400, "invalid_request_error")
        assert anthropic.json()["error"]["message"].startswith(told)
        assert {(one.status_code, one.json()["error"]["code"]) for one in others} == {(400, "context_length_exceeded")}

    @pytest.mark.parametrize(
        "said",
        [
            "there is no role 'prompt is too long'",
            f"[{{'type': 'missing', 'input': {{'text': 'request {SIZES}'}}}}]",
            "Failed to parse input at pos 3: prompt is too long",
        ],
    )
    def test_what_a_server_only_quotes_is_none(self, said: str):
        with serving(lambda _: Answer([json.dumps({"error": {"message": said}}).encode()], status=500)) as served:
            assert served.post("/v1/messages", BODY).json()["error"]["message"] == said

    @pytest.mark.parametrize(
        "error",
        [{"message": "n_keep: 5000 >= n_ctx: 4096"}, {"message": "No.", "n_prompt_tokens": 5000, "n_ctx": 4096}],
    )
    def test_a_stream_that_has_begun_says_so_too(self, error: dict[str, object]):
        said = {"error": error}
        with serving([events(event(said))]) as served:
            (last,) = streamed(served)
        assert last["error"]["type"] == "invalid_request_error"
        assert last["error"]["message"].startswith(TOO_LONG)


def test_calls_and_results_become_text():
    thoughts = [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, {"type": "redacted_thinking", "data": "x"}]
    second = {**CALLED, "id": "b", "name": "get_time", "input": {}}
    failed = {"type": "tool_result", "tool_use_id": "b", "is_error": True, "content": [text("no clock")], **CACHED}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "Sun"}
    _, assistant, user = messages_for_model(
        QUESTION,
        {"role": "assistant", "content": [*thoughts, text("Let me check."), text(" Now."), CALLED, second]},
        {"role": "user", "content": [failed, result, text("And?")]},
    )
    calls = '{"name": "get_weather", "parameters": {"city": "Rome"}}\n{"name": "get_time", "parameters": {}}'
    assert assistant == {"role": "assistant", "content": f"Let me check. Now.\n{calls}"}
    assert user == {"role": "user", "content": "Result of get_weather: Sun\n\nError of get_time: no clock\n\nAnd?"}


def test_an_image_that_a_tool_gave_stays_with_its_result():
    given = [text("A map:"), IMAGE]
    *_, results = messages_for_model(
        QUESTION,
        {"role": "assistant", "content": [CALLED]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": given}]},
    )
    assert results["content"] == [text("Result of get_weather: A map:"), DATA_URL]


def test_only_what_a_chat_completion_has_is_sent():
    schema = {"type": "object", "properties": {"sun": {"type": "boolean"}}}
    known = {"temperature": 0.5, "top_p": 0.9, "top_k": 3}
    changed = {"stop_sequences": ["END"], "output_config": {"format": {"type": "json_schema", "schema": schema}}}
    left_out = {"metadata": {"user_id": "u"}, "thinking": {"type": "enabled"}, "some_beta": 1, **CACHED}
    with serving(says("Fine.")) as served:
        streamed(served, **known, **changed, **left_out)
        body = served.asked[0].body
    del body["messages"]
    json_schema = {"name": "answer", "schema": schema, "strict": True}
    assert body == {
        "model": "llama3.1",
        "max_tokens": 100,
        "stream": True,
        **known,
        "stop": ["END"],
        "stream_options": {"include_usage": True},
        "response_format": {"type": "json_schema", "json_schema": json_schema},
    }


def test_a_tool_is_shown_without_what_is_anthropics():
    more = {"type": "custom", "cache_control": {"type": "ephemeral"}, "defer_loading": False, "input_examples": [{}]}
    with serving(says("Fine."), native=True) as served:
        ask(served, tools=[{**TOOL, **more}])
        (tool,) = served.asked[0].body["tools"]
    function = {"name": "get_weather", "description": TOOL["description"], "parameters": TOOL["input_schema"]}
    assert tool == {"type": "function", "function": function}


def test_a_tool_choice_goes_to_a_server_that_takes_tools_in_its_form():
    with serving(says(CALL), native=True) as served:
        ask(served, tool_choice={"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True})
        body = served.asked[0].body
    assert body["tool_choice"] == {"type": "function", "function": {"name": "get_weather"}}
    assert body["parallel_tool_calls"] is False


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_refusal_of_the_servers_is_text(is_stream: bool):
    message = {"role": "assistant", "content": None, "refusal": "I cannot help"}
    parts = [chunk({"refusal": "I cannot "}), chunk({"refusal": "help"}), chunk({}, "stop"), b"data: [DONE]\n\n"]
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    with serving([events(*parts) if is_stream else completion([choice])]) as served:
        assert answered(served, is_stream=is_stream)["content"] == [text("I cannot help")]


class TestErrors:
    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"mcp_servers": [{"url": "https://example.org"}]}, "mcp_servers needs Anthropic's own servers"),
            ({"container": "c"}, "container needs Anthropic's own servers"),
            ({"thread": {"type": "create"}}, "thread needs Anthropic's own servers"),
            ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "have to run web_search_20250305"),
            ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools[0] is to be declared with an input_schema"),
            ({"tools": [{"type": "text_editor_20250728", "name": "x"}]}, "known to Anthropic's models only"),
            ({"tools": [{"name": "x"}]}, "tools[0] is to be declared with an input_schema: it has none"),
            ({"tools": [{"input_schema": {}}]}, "tools[0] has no name"),
            ({"tools": [5]}, "tools[0] is an object"),
            ({"tools": "all"}, 'tools is a list such as [{"name": …, "input_schema": …}]'),
            ({"tool_choice": "auto"}, 'tool_choice is {"type": "auto"}'),
            ({"tool_choice": {"type": "tool", "name": "rm"}}, "get_weather"),
            ({"stream": "yes"}, "stream is true or false"),
            ({"messages": None}, "messages is missing"),
            ({"messages": "Hi"}, "messages"),
            ({"messages": [5]}, "messages[0] is an object"),
            ({"messages": [{"content": "Hi"}]}, "messages[0] is an object"),
            ({"messages": [{"role": "user", "content": 5}], "system": "Hi"}, "messages[0].content is a text"),
            ({"system": 5}, "system is a text"),
            ({"messages": [{"role": "user", "content": [5]}]}, "messages[0].content[0] is a block"),
            ({"messages": [{"role": "user", "content": [{"type": 5}]}]}, "messages[0].content[0] is a block"),
        ],
    )
    def test_what_cannot_be_answered_is_a_400_that_says_so(self, fields: dict[str, object], told: str):
        with serving(says("Hi")) as served:
            response, counted = (
                served.post(f"/v1/messages{what}", {**BODY, **fields}) for what in ("", "/count_tokens")
            )
            assert served.asked == []
        body = response.json()
        assert counted.json() == body
        assert (response.status_code, body["type"], body["error"]["type"]) == (400, "error", "invalid_request_error")
        assert told in body["error"]["message"]

    def test_a_thread_is_refused_in_the_words_by_which_the_sdks_go_on_without_one(self):
        with serving(says("Hi")) as served:
            response = served.post("/v1/messages", {**BODY, "thread": {"type": "create"}})
        assert response.json()["error"]["details"] == {"error_code": "thread_unsupported_request"}

    @pytest.mark.parametrize(
        ("method", "path"), [("POST", "/v1/messages/batches"), ("GET", "/v1/messages/batches/b/results")]
    )
    def test_batches_need_anthropics_servers(self, method: str, path: str):
        with serving(says("Hi")) as served:
            response = served.http.request(method, served.address + path)
            assert served.asked == []
        assert (response.status_code, response.json()["error"]["type"]) == (400, "invalid_request_error")
        assert "needs Anthropic's own servers" in response.json()["error"]["message"]

    @pytest.mark.parametrize(
        ("status", "kind"),
        [(400, "invalid_request_error"), (401, "authentication_error"), (500, "api_error"), (529, "overloaded_error")],
    )
    def test_one_of_the_upstreams_comes_in_anthropics_form(self, status: int, kind: str):
        with serving([Answer([b'{"error": {"message": "no"}}'], status=status)]) as served:
            response = served.post("/v1/messages", BODY)
        error = {"type": "error", "error": {"type": kind, "message": "no"}}
        assert (response.status_code, response.json()) == (status, error)


@pytest.mark.parametrize(
    ("path", "settings", "keys", "sent"),
    [
        ("/v1/messages", {}, {"x-api-key": "mine"}, {"authorization": "Bearer mine"}),
        ("/v1/messages", {}, {"x-api-key": "b", "authorization": "Bearer a"}, {"authorization": "Bearer a"}),
        ("/v1/messages", {"api_key": "own"}, {"x-api-key": "own"}, {}),
        ("/v1/messages", {"api_key": "own"}, {"authorization": "Bearer own"}, {}),
        ("/v1/chat/completions", {"api_key": "own"}, {"x-api-key": "own"}, {}),
        ("/v1/messages", {"upstream_api_key": "theirs"}, {"x-api-key": "b"}, {"authorization": "Bearer theirs"}),
        ("/v1/embeddings", {"upstream_api_key": "theirs"}, {"x-api-key": "b"}, {"authorization": "Bearer theirs"}),
        ("/v1/embeddings", {}, {"x-api-key": "mine"}, {"x-api-key": "mine"}),
    ],
)
def test_a_key_is_taken_in_both_headers_and_goes_on_as_it_is_looked_for(
    path: str, settings: dict[str, object], keys: dict[str, str], sent: dict[str, str]
):
    with serving(says("Hi"), **settings) as served:
        assert served.post(path, {**BODY, "tools": []}, keys).status_code == 200
        given = served.asked[0].headers
    assert {name: given[name] for name in ("authorization", "x-api-key") if name in given} == sent


class TestTokenCount:
    def count(self, answer: Answer, path: str) -> tuple[int, str, Asked]:
        """The count, how it was made, and what the server was asked last; it counts at one path."""
        with serving(lambda asked: answer if asked.path == path else Answer([b"{}"], status=404)) as served:
            response = served.post("/v1/messages/count_tokens", BODY)
            *_, asked = served.asked
        assert response.status_code == 200, response.text
        assert response.json().keys() == {"input_tokens"}
        return response.json()["input_tokens"], response.headers["llama3-tools-token-count"], asked

    @pytest.mark.parametrize(
        ("path", "name", "answer", "tokens"),
        [
            ("/v1/chat/completions/input_tokens", "content", {"input_tokens": 42}, 42),
            ("/tokenize", "content", {"count": 42, "tokens": [1, 2]}, 42),
            ("/tokenize", "content", {"tokens": [1, 2, 3]}, 3),
            ("/extras/tokenize/count", "input", {"count": 3}, 3),
        ],
        ids=["llama.cpp", "vLLM and SGLang", "llama.cpp before", "llama-cpp-python"],
    )
    def test_a_server_counts_the_messages_or_a_text(self, path: str, name: str, answer: dict[str, object], tokens: int):
        """SGLang takes `messages` or a `prompt`, and not both."""
        *found, asked = self.count(Answer([json.dumps(answer).encode()]), path)
        assert (*found, asked.body["model"], "prompt" in asked.body) == (tokens, "counted", "llama3.1", False)
        assert "get_weather" in asked.body["messages"][0]["content"]
        assert "get_weather" in asked.body[name]
        assert asked.body[name].endswith("How is the weather in Paris?<|eot_id|>")

    @pytest.mark.parametrize(
        "answer", [Answer([b"no"], status=404), Answer([b'{"tokens": []}']), Answer([b"<html>"]), Answer([b"{", BREAK])]
    )
    def test_a_server_that_does_not_count_leaves_an_estimate(self, answer: Answer):
        tokens, how, _ = self.count(answer, "/tokenize")
        assert how == "estimate"
        assert 50 < tokens < 300
