"""What goes through byte for byte: all requests without tools."""

from __future__ import annotations

import gzip
import json
from urllib.parse import urlsplit

import httpx
import pytest

from integrations.gateway.harness import BREAK, QUESTION, Answer, Asked, connected, says, serving, stream

ODD = b'{ "model":"m",\n"messages" :[{"role":"user","content":"\\u00fc"}], "stream":  false,"tools":[] }'


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("POST", "/v1/chat/completions"), ("POST", "/v1/embeddings"), ("GET", "/v1/models"), ("PUT", "/v1/x")),
        *(("GET", "/v1/models/a%2Fb"), ("POST", "/api/chat"), ("POST", "/api/generate"), ("GET", "/api/tags")),
    ],
)
def test_request_and_answer_go_through_as_they_are(method: str, path: str):
    answer = Answer([b'{"odd" :\n', b"1}"], status=203, content_type="application/odd", headers=[("x-request-id", "7")])
    with serving([answer]) as served:
        headers = {"x-mine": "1", "accept": "text/odd", "authorization": "Bearer me", "cookie": "a=b"}
        body = None if method == "GET" else ODD
        of_connection = {"proxy-authorization": "Basic a"}
        response = served.http.request(
            method, f"{served.address}{path}?a=1&b=%20c", content=body, headers={**headers, **of_connection}
        )
        (asked,) = served.asked
        assert asked.headers["host"] == urlsplit(served.upstream_url).netloc
        assert not of_connection.keys() & asked.headers.keys()
    assert (asked.method, asked.path, asked.query) == (method, path, b"a=1&b=%20c")
    assert asked.data == (body or b"")
    assert {name: asked.headers[name] for name in headers} == headers
    assert (response.status_code, response.content) == (203, b'{"odd" :\n1}')
    assert (response.headers["content-type"], response.headers["x-request-id"]) == ("application/odd", "7")


def test_streams_without_tools_go_through_as_they_are():
    answer = stream('{"name": "get_weather", "parameters": {}}')
    with serving([answer]) as served:
        response = served.chat(tools=[], stream=True)
    assert response.content == b"".join(part for part in answer.parts if isinstance(part, bytes))
    assert response.headers["content-type"] == answer.content_type


def test_compressed_answers_stay_compressed():
    data = gzip.compress(b'{"object": "list"}')
    answer = Answer([data], headers=[("content-encoding", "gzip"), ("content-length", str(len(data)))])
    with serving([answer]) as served, served.http.stream("GET", f"{served.base_url}/models") as response:
        assert b"".join(response.iter_raw()) == data
        assert response.headers["content-length"] == str(len(data))


def test_a_compressed_answer_to_a_request_with_tools_is_read():
    message = {"role": "assistant", "content": '{"name": "get_weather", "parameters": {"city": "Rome"}}'}
    data = gzip.compress(json.dumps({"choices": [{"message": message}]}).encode())
    with serving([Answer([data], headers=[("content-encoding", "gzip")])]) as served:
        assert served.chat().json()["choices"][0]["finish_reason"] == "tool_calls"
        assert served.asked[0].headers["accept-encoding"] == "identity"


def test_an_answer_that_breaks_off_breaks_off():
    answer = Answer([b"begun", BREAK], headers=[("content-length", "100")])
    with serving([answer]) as served, served.http.stream("GET", f"{served.base_url}/models") as response:
        assert response.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            response.read()


@pytest.mark.parametrize("path", ["/v1/../admin", "/v1/%2e%2e/admin", "/api/../x", "/other", "/v1"])
def test_other_paths_are_not_asked_for(path: str):
    with serving(says("Hi")) as served:
        with connected(served.address, f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()) as client:
            assert client.recv(12) == b"HTTP/1.1 404"
        assert served.asked == []


def test_a_history_of_calls_is_flattened_without_tools_and_the_answer_goes_through():
    call = {"id": "a", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}
    history = [*QUESTION, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": "Sun"}]
    with serving([Answer([b'{ "odd": 1}'])]) as served:
        response = served.chat(tools=None, messages=history, seed=1)
        (asked,) = served.asked
    assert [message["role"] for message in asked.body["messages"]] == ["user", "assistant", "user"]
    assert asked.body["seed"] == 1
    assert response.content == b'{ "odd": 1}'


class TestSeveralUpstreams:
    def test_a_request_goes_to_the_one_of_its_model(self):
        def other(_asked: Asked) -> Answer:
            return Answer([b'{"of": "other"}'])

        with serving(other) as second:
            models = [{"match": "qwen*", "upstream": f"{second.address}/v1"}]
            with serving(lambda _: Answer([b'{"of": "default"}']), models=models) as served:
                for path in ("/v1/embeddings", "/v1/chat/completions", "/api/generate"):
                    assert served.post(path, {"model": "qwen3"}).json() == {"of": "other"}
                    assert served.post(path, {"model": "llama3.1"}).json() == {"of": "default"}
                assert served.http.post(f"{served.base_url}/audio", content=b"RIFF").json() == {"of": "default"}
                assert served.http.post(f"{served.base_url}/audio", content=b"{oops").json() == {"of": "default"}

    def test_their_models_are_one_list(self):
        def models_of(name: str) -> Answer:
            return Answer([json.dumps({"object": "list", "data": [{"id": name}]}).encode()])

        with serving(lambda _: models_of("qwen3")) as second:
            models = [
                {"match": "qwen*", "upstream": f"{second.address}/v1"},
                {"match": "gone*", "upstream": "http://127.0.0.1:1/v1"},
            ]
            with serving(lambda _: models_of("llama3.1"), models=models) as served:
                body = served.http.get(f"{served.base_url}/models").json()
        assert body == {"object": "list", "data": [{"id": "llama3.1"}, {"id": "qwen3"}]}


def test_a_cookie_of_the_upstreams_goes_to_no_other_client():
    answer = Answer([b"{}"], headers=[("set-cookie", "session=secret; Path=/")])
    with serving(lambda _: answer) as served:
        first = httpx.get(f"{served.base_url}/models", trust_env=False)
        httpx.get(f"{served.base_url}/models", trust_env=False)
        httpx.get(f"{served.base_url}/models", headers={"cookie": "mine=1"}, trust_env=False)
        assert [asked.headers.get("cookie") for asked in served.asked] == [None, None, "mine=1"]
    assert first.headers["set-cookie"] == "session=secret; Path=/"
