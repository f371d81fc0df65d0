"""What can be wrong with an endpoint, each in one line that names it and what to do."""

from __future__ import annotations

import re
import socket

import pytest

from endpoints.connect import Endpoint, EndpointError, connect, explain
from endpoints.script import scripted
from endpoints.server import Answer, LoopbackServer, Responder
from endpoints.wire import answer_error, answer_json, api

PAGE = Answer((b"<!doctype html><title>Welcome</title>",), "text/html; charset=utf-8")


def always(answer: Answer) -> Responder:
    return lambda _: answer


class TestConnect:
    def test_without_a_name_the_first_model_is_asked(self) -> None:
        with LoopbackServer(api(["a", "b"], scripted([]))) as server:
            endpoint = connect(f"{server.base_url}/")
        assert endpoint == Endpoint(base_url=server_url(endpoint), model="a", models=["a", "b"])

    def test_a_model_that_is_not_listed_is_left_to_the_server(self) -> None:
        with LoopbackServer(api(["a"], scripted([]))) as server:
            assert connect(server.base_url, "b", "key").model == "b"

    def test_nothing_answers(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
            with pytest.raises(
                EndpointError, match=rf"^Nothing answers at {url} \(.*\)\. Is the server running there\?$"
            ):
                connect(url)

    @pytest.mark.parametrize("url", ["localhost:11434/v1", "", "file:///etc/hostname"])
    def test_an_address_without_http_is_none(self, url: str) -> None:
        with pytest.raises(EndpointError, match=r"has to start with http:// or https://\.$"):
            connect(url)

    def test_an_address_that_nobody_can_read_is_none(self) -> None:
        with pytest.raises(EndpointError, match=r"^Nothing answers at http://127\.0\.0\.1:port/v1"):
            connect("http://127.0.0.1:port/v1")

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (PAGE, "answers, but not as an OpenAI-compatible endpoint: URL/models gives text/html."),
            (
                answer_json(["a"]),
                "answers, but not as an OpenAI-compatible endpoint: URL/models gives application/json.",
            ),
            (answer_json({"data": [{}]}), "answers, but not as an OpenAI-compatible endpoint"),
            (answer_error(404, "no"), "URL/models gives HTTP 404: this is no OpenAI-compatible endpoint."),
            (answer_error(500, "no"), "URL/models gives HTTP 500"),
            (answer_error(401, "no"), "URL refuses the key (HTTP 401): set OPENAI_API_KEY."),
            (answer_json({"data": []}), "URL serves no model: load one, or name one with --model."),
            (answer_json({"data": None}), "URL serves no model"),
        ],
    )
    def test_something_else_answers(self, answer: Answer, message: str) -> None:
        with LoopbackServer(always(answer)) as server, pytest.raises(EndpointError) as caught:
            connect(server.base_url)
        said = re.sub(r"http://127\.0\.0\.1:\d+/v1", "URL", str(caught.value))
        assert message in said
        assert "\n" not in said

    @pytest.mark.parametrize("answer", [PAGE, answer_error(404, "no")])
    def test_a_base_url_without_v1_is_told_so(self, answer: Answer) -> None:
        with LoopbackServer(always(answer)) as server:
            root = server.base_url.removesuffix("/v1")
            with pytest.raises(EndpointError, match=rf"Is it {root}/v1\?$"):
                connect(root)


def server_url(endpoint: Endpoint) -> str:
    assert not endpoint.base_url.endswith("/")
    return endpoint.base_url


def test_other_errors_are_not_explained() -> None:
    assert explain(KeyError("delta"), Endpoint(base_url="http://127.0.0.1/v1", model="a")) is None
