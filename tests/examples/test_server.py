"""The server on loopback: it sends what it is given, notes what it was asked, and stops."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from urllib.parse import urlsplit

import httpx
import openai
import pytest

from endpoints.script import Turn, scripted
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import answer_events, api


def ask(server: LoopbackServer, body: bytes, path: str = "/chat/completions") -> tuple[int, bytes]:
    address = urlsplit(server.base_url)
    with closing(http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)) as connection:
        connection.request("POST", f"/v1{path}", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()


def client_of(server: LoopbackServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0)


def scripted_server(*turns: Turn | Answer) -> LoopbackServer:
    return LoopbackServer(api(["scripted"], scripted(turns)))


def stream_chat(client: openai.OpenAI, **options: object) -> list[str | None]:
    messages = [{"role": "user", "content": "Hi"}]
    chunks = client.chat.completions.create(model="scripted", messages=messages, stream=True, **options)  # type: ignore[call-overload]
    return [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]


class TestAnswers:
    @pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff"])
    def test_a_body_that_is_no_object_is_refused(self, body: bytes) -> None:
        with LoopbackServer(lambda _: Answer((b"{}",))) as server:
            assert ask(server, body)[0] == 400
        assert server.requests == []

    def test_an_error_of_the_responder_is_told(self) -> None:
        def fail(request: Request) -> Answer:
            raise KeyError(request.path)

        with LoopbackServer(fail) as server:
            status, body = ask(server, b"{}")
        assert (status, json.loads(body)) == (500, {"error": {"message": "KeyError: '/v1/chat/completions'"}})

    def test_a_client_that_goes_away_does_no_harm(self) -> None:
        answers = iter([answer_events(["{}"] * 10_000, pause=0.001), Answer((b"{}",))])
        with LoopbackServer(lambda _: next(answers)) as server:
            address = urlsplit(server.base_url)
            with closing(http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)) as connection:
                connection.request("POST", "/v1/chat/completions", b"{}")
                with connection.getresponse() as response:
                    response.read(20)
            assert ask(server, b"{}") == (200, b"{}")


class TestScript:
    def test_usage_comes_in_a_chunk_of_its_own_where_it_is_asked_for(self) -> None:
        turn = Turn(pieces=("a", "b"), prompt_tokens=5, finish_reason="length")
        with scripted_server(turn, turn) as server, client_of(server) as client:
            messages = [{"role": "user", "content": "Hi"}]
            options = {"model": "scripted", "messages": messages, "stream": True}
            *chunks, last = client.chat.completions.create(**options, stream_options={"include_usage": True})  # type: ignore[call-overload]
            plain = list(client.chat.completions.create(**options))  # type: ignore[call-overload]
        assert last.choices == []
        assert (last.usage.prompt_tokens, last.usage.completion_tokens, last.usage.total_tokens) == (5, 2, 7)
        assert chunks[-1].choices[0].finish_reason == "length"
        assert [chunk.usage for chunk in plain] == [None] * len(plain)

    def test_after_the_last_turn_it_says_so(self) -> None:
        with (
            scripted_server() as server,
            client_of(server) as client,
            pytest.raises(openai.InternalServerError, match="no answer to request 1"),
        ):
            stream_chat(client)

    def test_a_stream_can_break_off(self) -> None:
        with scripted_server(Turn(pieces=("a", "b"), breaks=True)) as server, client_of(server) as client:
            chunks = client.completions.create(model="scripted", prompt="", stream=True)
            assert [next(chunks).choices[0].text for _ in range(2)] == ["a", "b"]
            with pytest.raises((httpx.RemoteProtocolError, openai.APIConnectionError)):
                next(chunks)
