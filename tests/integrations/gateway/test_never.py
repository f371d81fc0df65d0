"""What upstreams, clients and models cannot do: make the gateway crash, hang, leak a connection, or lose text."""

from __future__ import annotations

import itertools
import json
import logging
import resource
import socket
import threading
import time
from typing import Any

import httpx
import pytest

from integrations.gateway.harness import (
    BREAK,
    CALL,
    QUESTION,
    WAIT,
    WEATHER,
    Answer,
    Gathered,
    Served,
    answering,
    ask,
    chunk,
    completion,
    connected,
    event,
    events,
    gathered,
    in_turn,
    metric,
    ollama_stream,
    read_events,
    request_of,
    running,
    says,
    serving,
    silent_upstream,
    stream,
    wait_until,
    whole,
)
from llama3_gateway import Gateway, GatewaySettings
from llama3_gateway.framing import EventReader
from llama3_tools.chat import ChatOptions
from llama3_tools.options import ReadOptions

CALL_BEGUN = CALL[:30]


def streamed(served: Served, **fields: object) -> list[dict[str, Any]]:
    """All events of a stream that may end in any way."""
    response = served.chat(stream=True, **fields)
    assert response.status_code == 200
    data = [one.data for one in EventReader().feed(response.content)]
    return [{"done": True} if one == b"[DONE]" else json.loads(one) for one in data]


def tool_for(path: str) -> dict[str, Any]:
    """A tool as the API of a path declares it."""
    if path == "/v1/messages":
        return {"name": "get_weather", "input_schema": {"type": "object"}}
    return {**WEATHER, **WEATHER["function"]}  # type: ignore[dict-item]


def broken(served: Served, **fields: object) -> tuple[Gathered, dict[str, Any]]:
    """What a client has of a stream that breaks off, and the error at its end."""
    *chunks, last = streamed(served, **fields)
    assert "error" in last
    (choice,) = gathered(chunks).values()
    assert choice.finish_reason is None
    return choice, last["error"]


def text_of(body: dict[str, Any]) -> str:
    """The text in an event of any of the three shapes, which is its delta or in it."""
    for choice in body.get("choices", ()):
        assert choice["finish_reason"] is None
        return str(choice["delta"].get("content") or "")
    delta = body.get("delta", "")
    return delta if isinstance(delta, str) else str(delta["text"])


_OPENAI, _OLLAMA = "/v1/chat/completions", "/api/chat"


def _error(message: str) -> str:
    return json.dumps({"error": {"message": message}})


class TestSlowHeads:
    """A request whose head does not come in time."""

    @pytest.mark.parametrize("begun", [b"", b"POST /v1/chat/completions HTTP/1.1\r\nHost: loc"])
    def test_the_connection_is_closed(self, begun: bytes, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("llama3_gateway.server._SECONDS_FOR_HEAD", 0.2)
        with serving(says("Hi")) as served, connected(served.address, begun) as client:
            assert client.recv(1) == b""

    def test_one_that_comes_in_time_is_answered(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("llama3_gateway.server._SECONDS_FOR_HEAD", 60)
        with serving(says("Hi")) as served, connected(served.address) as client:
            for piece in (b"GET /healthz HT", b"TP/1.1\r\nHost: localhost\r\n\r\n") * 2:
                client.sendall(piece)
                time.sleep(0.05)
            assert client.recv(12) == b"HTTP/1.1 200"


class TestUpstreamErrors:
    @pytest.mark.parametrize("is_stream", [False, True])
    def test_one_in_the_form_of_the_api_comes_back_as_it_is(self, is_stream: bool):
        body = b'{"error": {"message": "no", "odd": 1}}'
        answer = Answer([body], status=400, content_type="text/odd", headers=[("retry-after", "7")])
        with serving([answer]) as served:
            response = served.chat(stream=is_stream)
        assert (response.status_code, response.content) == (400, body)
        assert (response.headers["content-type"], response.headers["retry-after"]) == ("text/odd", "7")

    @pytest.mark.parametrize("path", [_OPENAI, _OLLAMA, "/v1/responses", "/v1/messages"])
    @pytest.mark.parametrize(
        ("status", "body", "said"),
        [
            *((429, b"slow down", "slow down"), (503, b"<html>\n Loading", "<html> Loading"), (400, b"[]", "[]")),
            *((429, b'{"detail": "no"}', "no"), (400, b'{"detail": [1]}', '{"detail": [1]}')),
        ],
    )
    def test_another_one_takes_that_form(self, path: str, status: int, body: bytes, said: str):
        answer = Answer([body], status=status, content_type="text/odd", headers=[("retry-after", "7")])
        with serving([answer]) as served:
            response = served.post(path, {"model": "m", "messages": QUESTION, "input": "Hi", "tools": [tool_for(path)]})
        assert (response.status_code, response.headers["retry-after"]) == (status, "7")
        error = response.json()["error"]
        assert said in (error if path == _OLLAMA else error["message"])

    @pytest.mark.parametrize("is_stream", [False, True])
    @pytest.mark.parametrize(
        ("path", "settings", "answer", "said"),
        [
            (_OPENAI, {}, (404, "404 page not found"), "404 page not found (the server"),
            (_OPENAI, {}, (404, '{"detail": "Not Found"}'), "does the address end in /v1"),
            (_OPENAI, {}, (404, _error("model not found")), "/v1/models lists those that it has)"),
            (_OPENAI, {"native": True}, (400, _error("x does not support tools")), "tools (without --native"),
            (_OPENAI, {"tool_role": "tool"}, (500, _error("Unknown role")), "Unknown role (the server does not"),
            (_OLLAMA, {}, (404, "404 page not found"), "404 page not found (the server has no /api/chat: is it Ollama"),
            (_OLLAMA, {}, (404, '{"error": "model not found"}'), "model not found (the server has no model 'm': http"),
            (_OLLAMA, {"native": True}, (400, '{"error": "x does not support tools"}'), "tools (without --native"),
        ],
    )
    def test_they_say_what_to_do_where_an_option_is_the_cure(
        self, path: str, settings: dict[str, object], answer: tuple[int, str], said: str, is_stream: bool
    ):
        status, body = answer
        with serving([Answer([body.encode()], status=status, content_type="text/plain")], **settings) as served:
            response = served.post(path, {"model": "m", "messages": QUESTION, "tools": [WEATHER], "stream": is_stream})
        error = response.json()["error"]
        assert response.status_code == status
        assert response.headers["content-type"] == "application/json"
        assert said in (error["message"] if path == _OPENAI else error)

    def test_a_redirect_is_not_followed(self):
        with serving([Answer([b""], status=307, headers=[("location", "http://127.0.0.1:1/")])]) as served:
            response = served.chat()
        assert response.status_code == 502
        assert "redirects to http://127.0.0.1:1/: start the gateway with" in response.json()["error"]["message"]


class TestUnreachable:
    @pytest.mark.parametrize("path", ["/v1/responses", "/v1/models", "/v1/embeddings", _OLLAMA])
    def test_it_is_answered_with_502_and_what_to_do(self, path: str):
        with running(Gateway(GatewaySettings(upstream="http://127.0.0.1:1/v1"))) as address:
            body = {"messages": QUESTION, "input": "Hi", "tools": [tool_for(path)]}
            method = "GET" if path == "/v1/models" else "POST"
            response = httpx.request(method, address + path, json=body, trust_env=False)
        assert response.status_code == 502
        error = response.json()["error"]
        assert path == _OLLAMA or error["code"] == "upstream_unreachable"
        assert "is the server running there?" in str(error)

    def test_a_silent_one_is_answered_with_504(self):
        with silent_upstream() as (url, _), running(Gateway(GatewaySettings(upstream=url, timeout=0.2))) as address:
            response = ask(address)
        assert response.status_code == 504
        assert "--timeout allows more" in response.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "is the server running there?"),
        (b"HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n", "the status 999"),
    ],
)
def test_what_is_no_http_is_answered_with_502(data: bytes, said: str, path: str):
    with answering(data) as url:
        gateway = Gateway(GatewaySettings(upstream=url))
        with running(gateway) as address:
            body = {"messages": QUESTION, "tools": [WEATHER]}
            response = httpx.post(address + path, json=body, trust_env=False)
            wait_until(lambda: metric(gateway, "open_requests") == 0)
    assert (response.status_code, said in response.text, metric(gateway, "faults_total")) == (502, True, 0)


@pytest.mark.parametrize("status", [204, 304])
def test_answers_without_a_body_may_say_a_length(status: int):
    head = b"HTTP/1.1 %d Odd\r\ncontent-length: 50\r\n\r\n" % status
    with answering(head) as url, running(Gateway(GatewaySettings(upstream=url))) as address:
        response = httpx.post(f"{address}/v1/files", trust_env=False)
    assert (response.status_code, response.content) == (status, b"")


def test_a_connection_that_the_upstream_has_closed_is_not_used():
    answer = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{"choices": []}'
    with answering(answer) as url, running(Gateway(GatewaySettings(upstream=url))) as address, httpx.Client() as client:
        for _ in range(5):
            assert client.get(f"{address}/v1/models").status_code == 200
            time.sleep(0.02)


class TestAnswersThatAreNone:
    @pytest.mark.parametrize("is_stream", [False, True])
    @pytest.mark.parametrize(
        "data",
        [
            *(b"<!doctype html><title>Welcome to nginx!</title>", b"", b"[]", b'{"object": "list"}'),
            *(b"\xff\xfe", b'{"choices": [5]}', b'{"choices": [{"message": "Hi"}]}', b'{"a":' * 100_000),
        ],
    )
    def test_they_are_answered_with_502_and_what_came(self, data: bytes, is_stream: bool):
        with serving([Answer([data], content_type="text/html")]) as served:
            response = served.chat(stream=is_stream)
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (502, "no_completion")
        assert "does the address end in /v1" in error["message"]
        assert (data[:9].decode("utf-8", "replace") or "the prompt may be too long") in error["message"]

    def test_one_without_an_end_is_answered_with_502(self):
        endless = itertools.chain([b'{"choices": "'], itertools.repeat(b"a" * 65536))
        with serving([Answer(endless)], max_answer=1_000_000) as served:  # type: ignore[arg-type]
            response = served.chat()
            assert served.upstream.sent < 30_000_000
        assert (response.status_code, "--max-answer allows more" in response.text) == (502, True)

    def test_one_that_falls_silent_is_answered_with_502(self):
        with serving([Answer([b'{"choices": [', WAIT])], timeout=0.5) as served:
            response = served.chat()
        assert (response.status_code, "--timeout allows more" in response.text) == (502, True)

    def test_one_without_choices_is_one_without_choices(self):
        body = {"messages": QUESTION, "input": "Hi"}
        with serving([completion([])] * 3) as served:
            assert served.chat().json()["choices"] == []
            assert served.post("/v1/messages", body).json()["content"] == []
            assert served.post("/v1/responses", body).json()["output"] == []

    @pytest.mark.parametrize(
        ("message", "content"),
        [
            ({"role": "assistant"}, None),
            ({"role": "assistant", "content": None}, None),
            ({"content": [{"type": "text", "text": CALL}]}, None),
            ({"content": "\ud800 Hi"}, "\ud800 Hi"),
        ],
    )
    def test_odd_messages_come_back_as_they_are(self, message: dict[str, Any], content: object):
        whole_answer = completion([{"index": 0, "message": message, "finish_reason": "stop"}])
        streamed_answer = json.dumps({"choices": [{"delta": message, "finish_reason": "stop"}]}).encode()
        with serving([whole_answer, events(b"data: " + streamed_answer + b"\n\n")]) as served:
            assert served.chat().json()["choices"][0]["message"].get("content") == content
            (choice,) = gathered(read_events(served.chat(stream=True))).values()
        assert (choice.content or None) == content

    @pytest.mark.parametrize("message", [{"content": 5}, {"content": "Hi", "tool_calls": [5]}])
    def test_messages_that_are_none_are_answered_with_502(self, message: dict[str, Any]):
        with serving([completion([{"index": 0, "message": message}]), events(chunk(message))]) as served:
            assert served.chat().status_code == 502
            assert "upstream_broke_off" in served.chat(stream=True).text


class TestStreamsThatBreakOff:
    """An error event comes, no `[DONE]`; what was held back is text, and is not called."""

    @pytest.mark.parametrize(
        "end",
        [
            pytest.param((BREAK,), id="connection"),
            pytest.param((), id="end without a reason"),
            pytest.param((b'data: {"choices": [{"delta": {"con',), id="half an event"),
            pytest.param((b"data: {oops}\n\n", chunk({"content": "}}"}), chunk({}, "stop")), id="no JSON"),
            pytest.param((b"data: 5\n\n",), id="no object"),
            pytest.param((b"data: \xff\n\n",), id="no UTF-8"),
            pytest.param((b'data: {"choices": [5]}\n\n',), id="no choice"),
            pytest.param((b'data: {"choices": [{"delta": 5}]}\n\n',), id="no delta"),
            pytest.param((b"data: " + b"[" * 100_000 + b"\n\n",), id="too deep"),
        ],
    )
    @pytest.mark.parametrize("path", [_OPENAI, "/v1/responses", "/v1/messages"])
    def test_nothing_held_back_is_called(self, path: str, end: tuple[object, ...]):
        begun = [chunk({"content": "Let me check. "}), chunk({"content": CALL_BEGUN})]
        body = {"messages": QUESTION, "input": "Paris?", "tools": [tool_for(path)], "stream": True}
        with serving([events(*begun, *end)]) as served:
            *bodies, last = [json.loads(one.data) for one in EventReader().feed(served.post(path, body).content)]
        assert "".join(map(text_of, bodies)) == f"Let me check. {CALL_BEGUN}"
        error = last["response"]["error"] if path == "/v1/responses" else last["error"]
        if path == "/v1/messages":
            assert (last["type"], error["type"]) == ("error", "api_error")
        else:
            assert error["code"] == "upstream_broke_off"

    def test_what_was_called_before_stays_called(self):
        begun = [chunk({"content": f"{CALL} and <tool_call>{CALL}"})]
        with serving([events(*begun, BREAK)]) as served:
            choice, _ = broken(served)
        assert len(choice.calls) == 1
        assert CALL in choice.content

    @pytest.mark.parametrize("name", [b"", b"event: error\n"])
    def test_an_error_of_the_upstreams_comes_as_it_is(self, name: bytes):
        error = {"error": {"message": "out of memory", "type": "server_error", "code": 500}}
        with serving([events(chunk({"content": CALL_BEGUN}), name + event(error))]) as served:
            choice, told = broken(served)
        assert (choice.content, told) == (CALL_BEGUN, error["error"])

    def test_one_that_falls_silent_breaks_off(self):
        with serving([events(chunk({"content": CALL_BEGUN}), WAIT)], timeout=1) as served:
            choice, error = broken(served)
        assert choice.content == CALL_BEGUN
        assert "--timeout allows more" in error["message"]

    def test_one_without_an_end_breaks_off(self):
        parts = itertools.chain([chunk({"content": "Hi"})], itertools.repeat(chunk({"content": " and" * 5000})))
        with serving([events(parts)], max_answer=1_000_000) as served:
            served.upstream.respond = lambda _: Answer(parts, content_type="text/event-stream")  # type: ignore[arg-type]
            choice, error = broken(served)
            assert served.upstream.sent < 30_000_000
        assert choice.content.startswith("Hi and and")
        assert "--max-answer allows more" in error["message"]

    def test_one_with_answers_that_nobody_asked_for_breaks_off(self):
        parts = [chunk({"content": "Hi"}, index=index) for index in range(129)]
        with serving([events(*parts)]) as served:
            *_, last = streamed(served)
        assert "more answers than were asked for" in last["error"]["message"]


class TestConnectionsThatBreakAfterTheEnd:
    """The answer is whole: nothing after its end takes it from the client."""

    DONE = b"data: [DONE]\n\n"
    MALFORMED = '{"name": "get_weather", "parameters": {"city": }}'

    @pytest.mark.parametrize(
        "end",
        [
            pytest.param((chunk({}, "stop"),), id="no done"),
            pytest.param((DONE,), id="no reason"),
            pytest.param((chunk({}, "stop"), DONE, WAIT), id="silent after done"),
            pytest.param((chunk({}, "stop"), DONE, BREAK), id="after done"),
            pytest.param((DONE, BREAK), id="after done, without a reason"),
            pytest.param((chunk({}, "stop"), BREAK), id="after the reason"),
            pytest.param((chunk({}, "stop"), WAIT), id="silent after the reason"),
            pytest.param((chunk({}, "stop"), b"data: {oops}\n\n"), id="no JSON after the reason"),
            pytest.param((chunk({}, "stop"), 0.05, DONE, b"a" * 100_000), id="too long after done"),
        ],
    )
    def test_a_chat_ends(self, end: tuple[object, ...]):
        with serving([events(chunk({"content": CALL}), *end)], timeout=1, max_answer=50_000) as served:
            (choice,) = gathered(read_events(served.chat(stream=True))).values()
        assert (len(choice.calls), choice.finish_reason) == (1, "tool_calls")

    def test_a_call_is_asked_again(self):
        end = (chunk({}, "stop"), BREAK)
        with serving([events(chunk({"content": text}), *end) for text in (self.MALFORMED, CALL)]) as served:
            (choice,) = gathered(read_events(served.chat(stream=True))).values()
            assert len(served.asked) == 2
        assert (len(choice.calls), choice.finish_reason) == (1, "tool_calls")

    def test_an_ollama_chat_ends(self):
        answer = ollama_stream(CALL)
        broken_after = Answer([*answer.parts, BREAK], content_type=answer.content_type)
        with serving([broken_after]) as served:
            response = served.post("/api/chat", {"messages": QUESTION, "tools": [WEATHER]})
        *_, last = response.text.splitlines()
        assert (json.loads(last)["done"], json.loads(last)["done_reason"]) == (True, "stop")

    def test_it_is_not_over_while_a_choice_is_missing(self):
        parts = [chunk({"content": "Hi"}), chunk({}, "stop"), BREAK]
        with serving([events(*parts)]) as served:
            assert "error" in streamed(served, n=2)[-1]

    def test_an_error_that_the_upstream_reports_is_one_also_after_the_reason(self):
        error = event({"error": {"message": "out of memory"}})
        with serving([events(chunk({"content": "Hi"}), chunk({}, "stop"), error)]) as served:
            assert streamed(served)[-1] == {"error": {"message": "out of memory"}}


class TestOddStreams:
    @pytest.mark.parametrize(
        "parts",
        [
            pytest.param([b"data: [DONE]\n\n"], id="nothing but done"),
            pytest.param([event({"choices": None}), b"data: [DONE]\n\n"], id="no choices"),
            pytest.param([event({"error": ""}), b"data: [DONE]\n\n"], id="an error without a word"),
            pytest.param([event({"object": "error", "message": "full"}), b"data: [DONE]\n\n"], id="vLLM's error"),
        ],
    )
    @pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
    def test_one_without_an_answer_is_no_success(self, parts: list[bytes], path: str):
        body = {"messages": QUESTION, "input": "Hi", "stream": True, "tools": [tool_for(path)]}
        with serving([events(*parts)]) as served:
            *_, last = EventReader().feed(served.post(path, body).content)
        told = json.loads(last.data)
        assert told.get("object") == "error" or "error" in told or told["type"] in {"error", "response.failed"}

    def test_the_head_is_that_of_the_first_choice(self):
        first = event({"id": "", "model": "", "choices": [], "prompt_filter_results": []})
        parts = [first, b"data:\n\n", chunk({"content": "Hi"}), chunk({}, "stop"), b"data: [DONE]\n\n"]
        with serving([events(*parts)]) as served:
            chunks = read_events(served.chat(stream=True))
        assert {(one["id"], one["model"]) for one in chunks} == {("chatcmpl-1", "llama3.1")}

    WHOLE = bytes(whole(f"Hi {CALL}").parts[0])  # type: ignore[call-overload]

    @pytest.mark.parametrize(
        ("parts", "content_type"),
        [
            (stream(f"Hi {CALL}").parts, "application/json"),
            (stream(f"Hi {CALL}").parts, "text/html; charset=utf-8"),
            ([WHOLE[:50], WHOLE[50:]], "text/plain"),
            ([b"\n ", WHOLE], ""),
            ([b" ", WHOLE], "text/event-stream"),
        ],
    )
    def test_an_answer_is_read_whatever_it_is_called(self, parts: list[object], content_type: str):
        with serving([Answer(parts, content_type=content_type)]) as served:
            (choice,) = gathered(read_events(served.chat(stream=True))).values()
        assert (choice.content.strip(), len(choice.calls), choice.finish_reason) == ("Hi", 1, "tool_calls")

    def test_an_error_in_place_of_a_stream_is_one(self):
        error = {"error": {"message": "out of memory"}}
        with serving([Answer([json.dumps(error).encode()], content_type="text/plain")]) as served:
            assert streamed(served) == [error]


def test_a_request_that_is_nested_too_deep_is_answered_with_400():
    statuses = set()
    with serving(says("Hi")) as served:
        for depth in (100, 900, 950, 970, 980, 990, 1500, 100_000):
            nested = b"[" * depth + b"]" * depth
            body = b'{"messages": [], "tools": [%s], "metadata": %s}' % (json.dumps(WEATHER).encode(), nested)
            statuses.add(served.http.post(f"{served.base_url}/chat/completions", content=body).status_code)
        assert served.metric("faults_total") == 0
    assert statuses == {200, 400}


class TestSecondAnswersThatFail:
    """The first one is kept if there is no word of the second."""

    MALFORMED = 'Let me check. {"name": "get_weather", "parameters": {"city": }}'

    @pytest.mark.parametrize(
        "second",
        [
            pytest.param(events(event({"error": {"message": "out of memory"}})), id="an error event"),
            pytest.param(events(chunk({"role": "assistant", "content": ""}), BREAK), id="cut"),
            pytest.param(events(BREAK), id="cut at once"),
            pytest.param(events(), id="empty"),
            pytest.param(events(chunk({"role": "assistant"}), WAIT), id="silent"),
            pytest.param(Answer([b"<html>"], content_type="text/html"), id="a web page"),
            pytest.param(Answer([b"<html>"], content_type="text/plain"), id="a web page by another name"),
            pytest.param(Answer([b"busy"], status=503), id="refused"),
        ],
    )
    @pytest.mark.parametrize("is_stream", [False, True])
    def test_the_first_stands(self, second: Answer, is_stream: bool):
        with serving(in_turn(says(self.MALFORMED), lambda _: second), timeout=1.5) as served:
            response = served.chat(stream=is_stream)
        if is_stream:
            (choice,) = gathered(read_events(response)).values()
            content, finish_reason = choice.content, choice.finish_reason
        else:
            content = response.json()["choices"][0]["message"]["content"]
            finish_reason = response.json()["choices"][0]["finish_reason"]
        assert (content, finish_reason) == (self.MALFORMED, "stop")


class TestClients:
    def connect(self, served: Served, path: str = "/v1/chat/completions") -> socket.socket:
        body = json.dumps({"model": "m", "messages": QUESTION, "tools": [WEATHER], "stream": True}).encode()
        return connected(served.address, request_of(body, path=path))

    @pytest.mark.parametrize(
        "begun",
        [
            pytest.param([chunk({"content": "Hello"})], id="text"),
            pytest.param([chunk({"content": CALL_BEGUN})], id="a call is held back"),
            pytest.param([], id="nothing came yet"),
        ],
    )
    def test_if_one_leaves_the_upstream_is_closed(self, begun: list[bytes]):
        with serving([events(*begun, WAIT)]) as served:
            client = self.connect(served)
            assert client.recv(12) == b"HTTP/1.1 200"
            client.close()
            wait_until(lambda: len(served.upstream.left) == 1)
            wait_until(lambda: served.metric("open_requests") == 0)
            assert served.metric("requests_total", route="chat", status="200") == 1

    def test_if_one_leaves_while_the_model_is_asked_again_the_upstream_is_closed(self):
        malformed = '{"name": "get_weather", "parameters": {"city": }}'
        with serving([stream(malformed), events(WAIT)]) as served:
            client = self.connect(served)
            wait_until(lambda: len(served.asked) == 2)
            client.close()
            wait_until(lambda: len(served.upstream.left) == 1)

    def test_if_one_leaves_before_there_is_an_answer_the_upstream_is_closed(self):
        with silent_upstream() as (url, silent), running(Gateway(GatewaySettings(upstream=url))) as address:
            client = connected(address, request_of(json.dumps({"messages": QUESTION, "tools": [WEATHER]}).encode()))
            asked, _ = silent.accept()
            with asked:
                assert asked.recv(4) == b"POST"
                client.close()
                asked.settimeout(10)
                while asked.recv(65536):
                    pass

    def test_if_one_leaves_within_its_request_nothing_is_asked(self):
        with serving(says("Hi")) as served:
            client = connected(served.address, request_of(b"{", 99))
            wait_until(lambda: served.metric("open_requests") == 1)
            client.close()
            wait_until(lambda: served.metric("open_requests") == 0)
            assert served.metric("requests_total", route="chat", status="499") == 1
            assert served.asked == []

    @pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
    def test_one_that_does_not_read_costs_no_memory(self, path: str):
        endless = itertools.repeat(chunk({"content": " and" * 2000}))
        with serving(says("Hi"), max_answer=2**40) as served:
            served.upstream.respond = lambda _: Answer(endless, content_type="text/event-stream")  # type: ignore[arg-type]
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            client = self.connect(served, path=path)
            sent = -1
            while served.upstream.sent != sent:
                sent = served.upstream.sent
                time.sleep(0.3)
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000  # kB
            assert sent < 30_000_000
            client.close()
            wait_until(lambda: served.upstream.open == 0)

    @pytest.mark.parametrize("is_announced", [True, False])
    @pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
    def test_a_body_beyond_the_limit_is_answered_with_413(self, path: str, is_announced: bool):
        body = b'{"a": "' + b"a" * 5000 + b'"}'
        with serving(says("Hi"), max_body=4096) as served:
            content = body if is_announced else iter([body[:3000], body[3000:]])
            response = served.http.post(served.address + path, content=content)
            assert served.asked == []
        assert response.status_code == 413
        assert "--max-body allows more" in response.text


class TestKeepalive:
    @pytest.mark.parametrize(
        ("path", "said"),
        [(_OPENAI, b":keepalive\n\n"), ("/v1/messages", b"event:ping\n"), (_OLLAMA, b'"content":""')],
    )
    def test_a_stream_in_which_a_call_is_held_back_is_kept_open(self, path: str, said: bytes):
        seen, body = threading.Event(), {"messages": QUESTION, "tools": [tool_for(path)], "stream": True}
        if path == _OLLAMA:
            begun, *rest = ollama_stream(CALL[:30], CALL[30:]).parts
        else:
            begun, *rest = (chunk({"content": CALL[:30]}), chunk({"content": CALL[30:]}), chunk({}, "stop"))
        with serving([events(begun, seen, *rest)], keepalive=0.02) as served:
            data = b""
            with served.http.stream("POST", served.address + path, json=body) as response:
                for piece in response.iter_bytes():
                    data += piece
                    if data.replace(b": ", b":").count(said) > 1:
                        seen.set()
        assert b"get_weather" in data


class TestFaultsOfOurOwn:
    @pytest.mark.parametrize("is_stream", [False, True])
    def test_an_answer_that_runs_into_one_is_an_error_and_the_log_says_so(
        self, is_stream: bool, caplog: pytest.LogCaptureFixture
    ):
        def fail() -> str:
            raise RuntimeError("secret of the model")

        with serving(says(CALL)) as served, caplog.at_level(logging.INFO, "llama3_gateway"):
            faulty = ChatOptions(read=ReadOptions(id_factory=fail))
            object.__setattr__(served.gateway.settings.default, "chat", faulty)
            response = served.chat(stream=is_stream)
            assert served.metric("faults_total") == 1
        assert (response.status_code, '"code":"fault"' in response.text) == (200 if is_stream else 500, True)
        assert [record.levelname for record in caplog.records].count("ERROR") == 1
        assert "secret" not in caplog.text


def test_hostile_outputs_come_through_in_every_way():
    outputs = ['{"name": "get_weather", "parameters": ' * 300, "[" * 5000, '{"a":' * 5000, "`" * 3000]
    outputs += ["<tool_call>" * 500, "\x00\x1b[2J\u202e", "data: [DONE]\n\n", "\r\n\r\n"]
    text = "".join(outputs)
    with serving(says(*outputs), retries=0) as served:
        whole = served.chat().json()["choices"][0]["message"]["content"]
        (choice,) = gathered(read_events(served.chat(stream=True))).values()
    assert whole == choice.content == text


class TestWordsThatAreNone:
    @pytest.mark.parametrize(
        "message",
        [
            {"role": ["user"], "content": "Hi"},
            {"role": "user", "content": [{"type": ["text"], "text": "Hi"}]},
            {"role": "tool", "name": ["get_weather"], "content": "Sun"},
            {"role": "tool", "tool_call_id": {"a": 1}, "content": "Sun"},
            {"role": "assistant", "tool_calls": [{"id": [1], "function": {"name": "f"}}]},
            {"role": "assistant", "tool_calls": [{"function": {"name": []}}]},
        ],
    )
    def test_they_are_refused_or_left_to_the_upstream(self, message: dict[str, Any]):
        with serving(says("Hi")) as served:
            for path in ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat"):
                body = {"model": "m", "messages": [*QUESTION, message], "input": [message], "tools": [WEATHER]}
                assert served.post(path, body).status_code in {200, 400}
            assert served.metric("faults_total") == 0

    @pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/chat"])
    def test_without_tools_they_go_through(self, path: str):
        body = {"messages": [{"role": ["user"], "content": [{"type": []}]}], "stream": False}
        with serving(says("Hi")) as served:
            assert served.post(path, body).status_code == 200
            assert served.asked[0].body == body
