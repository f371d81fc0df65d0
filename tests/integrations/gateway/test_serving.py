"""Keys, web pages, health, metrics, the log; and the command as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from click.testing import CliRunner
from starlette.types import Message

from faulty_servers import FAULTS, faulty
from integrations.gateway.harness import (
    BREAK,
    CALL,
    QUESTION,
    WAIT,
    WEATHER,
    Answer,
    Asked,
    Served,
    ask,
    chunk,
    connected,
    events,
    metric,
    request_of,
    running,
    says,
    serving,
    wait_until,
)
from integrations.gateway.harness import (
    Upstream as Answering,
)
from llama3_acceptance.doctor import examine, find_faults
from llama3_gateway import Gateway, GatewaySettings
from llama3_gateway.command import serve
from llama3_gateway.logs import LOGGER, JsonLines
from llama3_gateway.server import _listen, greeting, warning_of
from llama3_gateway.settings import Upstream

PATHS = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/embeddings", "/api/chat", "/api/show"]


class TestKeys:
    @pytest.mark.parametrize("path", PATHS)
    def test_without_the_key_nothing_is_answered(self, path: str):
        with serving(says("Hi"), api_key="sesame") as served:
            for key in (None, b"Bearer wrong", "Bearer ünlike".encode("latin-1")):
                response = served.post(path, {"messages": QUESTION}, headers={"authorization": key} if key else {})
                assert (response.status_code, response.headers["x-should-retry"]) == (401, "false")
                assert "Authorization: Bearer KEY" in response.text
            assert served.asked == []
            assert {served.http.get(served.address + one).status_code for one in ("/healthz", "/")} == {200}

    @pytest.mark.parametrize(
        "given", ["Bearer schl\u00fcssel", "bearer schl\u00fcssel", "BEARER  schl\u00fcssel", "schl\u00fcssel"]
    )
    def test_the_scheme_may_be_written_in_any_case_and_the_key_in_any_script(self, given: str):
        with serving(says("Hi"), api_key="schl\u00fcssel") as served:
            assert served.chat({"authorization": given}).status_code == 200

    @pytest.mark.parametrize(
        ("common", "own", "sent"),
        [
            ({}, {}, ["mine", "mine", "mine", "mine"]),
            ({"upstream_api_key": "a"}, {}, ["a", "a", None, None]),
            ({"upstream_api_key": "a"}, {"upstream_api_key": "b"}, ["a", "a", "b", None]),
            ({}, {"upstream_api_key": "b"}, ["mine", "mine", "b", None]),
            ({"api_key": "mine"}, {}, [None, None, None, None]),
            ({"api_key": "mine", "upstream_api_key": "a"}, {}, ["a", "a", None, None]),
            ({"api_key": "mine"}, {"upstream_api_key": "b"}, [None, None, "b", None]),
        ],
        ids=str,
    )
    def test_a_key_goes_to_no_server_that_it_is_not_for(
        self, common: dict[str, str], own: dict[str, str], sent: list[str | None]
    ):
        def respond(asked: Asked) -> Answer:
            return says("Hi")(asked) if asked.data else Answer([b'{"data": []}'])

        server, another = Answering(respond), Answering(respond)
        headers, names = {"authorization": "Bearer mine"}, ("default", "same", "own", "other")
        with running(server) as url, running(another) as another_url:
            models = [
                {"match": "same", "upstream": f"{url}/v1/", "retries": 0},
                {"match": "own", "upstream": another_url, **own},
                {"match": "other", "upstream": another_url},
            ]
            settings = GatewaySettings.model_validate({"upstream": url, "models": models, **common})
            with running(Gateway(settings)) as address, httpx.Client(trust_env=False) as http:
                for name in names:
                    for body in ({"tools": [WEATHER]}, {"tools": []}):
                        body |= {"model": name, "messages": QUESTION}
                        http.post(f"{address}/v1/chat/completions", json=body, headers=headers)
                http.get(f"{address}/v1/models", headers=headers)
        asked = [*server.asked, *another.asked]
        keys = [key and f"Bearer {key}" for key in sent]
        for name, key in zip(names, keys, strict=True):
            of_model = [one for one in asked if one.data and one.body["model"] == name]
            assert {one.headers.get("authorization") for one in of_model} == {key}, name
        assert {one.headers.get("authorization") for one in asked if not one.data} == set(keys)


class TestWebPages:
    PAGE = "http://localhost:3000"

    @pytest.mark.parametrize(("origin", "cure"), [(PAGE, f"--cors {PAGE} allows them"), ("null", "--cors '*' allows")])
    def test_they_are_refused_unless_they_are_allowed(self, origin: str, cure: str):
        with serving(says("Hi")) as served:
            response = served.chat({"origin": origin})
            assert served.asked == []
        assert (response.status_code, response.json()["error"]["code"]) == (403, "origin")
        assert cure in response.json()["error"]["message"]

    @pytest.mark.parametrize(
        ("allowed", "named"), [([PAGE], PAGE), (["*"], "*"), (["*", PAGE], "*"), (["http://other", PAGE], PAGE)]
    )
    def test_those_that_are_allowed_may_read_the_answer(self, allowed: list[str], named: str):
        answer = Answer([b"{}"], headers=[("access-control-allow-origin", "http://upstream")])
        with serving([answer], cors=allowed) as served:
            response = served.post("/v1/embeddings", {}, headers={"origin": self.PAGE})
            assert "origin" not in served.asked[0].headers
            assert named in served.chat({"origin": self.PAGE}, tools=5).headers["access-control-allow-origin"]
        assert response.headers.get_list("access-control-allow-origin") == [named]
        assert named == "*" or response.headers["vary"] == "Origin"

    def test_a_browser_may_ask_first_without_the_key(self):
        page = {"origin": self.PAGE}
        headers = {**page, "access-control-request-method": "POST", "access-control-request-headers": "x-a"}
        with serving(says("Hi"), cors=[self.PAGE], api_key="sesame") as served:
            response = served.http.options(f"{served.base_url}/chat/completions", headers=headers)
            assert served.http.options(f"{served.base_url}/models", headers=page).status_code == 401
            assert served.asked == []
        assert response.status_code == 200
        assert "POST" in response.headers["access-control-allow-methods"]
        assert response.headers["access-control-allow-headers"] == "x-a"

    @pytest.mark.parametrize(
        "host", ["evil.example", "evil.example:8089", "10.0.0.1", "localhost.evil.example", "[::1"]
    )
    def test_a_name_that_is_not_this_machines_is_refused(self, host: str):
        with serving(says("Hi")) as served:
            response = served.http.get(f"{served.base_url}/models", headers={"host": host})
            assert served.asked == []
        assert (response.status_code, response.json()["error"]["code"]) == (403, "host")

    @pytest.mark.parametrize(
        ("host", "settings"),
        [
            *(("localhost:8089", {}), ("127.0.0.2", {}), ("[::1]:8089", {}), ("gateway.localhost", {})),
            *(("box.example", {"host": "0.0.0.0"}), ("box.example", {"cors": ["https://box.example"]})),  # noqa: S104 - nothing listens there
            ("box.example", {"cors": ["*"]}),
        ],
    )
    def test_its_own_names_are_not(self, host: str, settings: dict[str, object]):
        with serving(lambda _: Answer([b"{}"]), **settings) as served:
            assert served.http.get(f"{served.base_url}/models", headers={"host": host}).status_code == 200

    @pytest.mark.parametrize(
        ("site", "cors", "status"),
        [
            *(("cross-site", [], 403), ("same-site", [], 403), ("cross-site", [PAGE], 403)),
            *(("cross-site", ["*"], 200), ("same-origin", [], 200), ("none", [], 200)),
        ],
    )
    def test_requests_that_other_pages_cause_without_an_origin_are_refused(
        self, site: str, cors: list[str], status: int
    ):
        with serving(lambda _: Answer([b"{}"]), cors=cors) as served:
            headers = {"sec-fetch-site": site}
            assert served.http.get(f"{served.base_url}/models", headers=headers).status_code == status
            assert len(served.asked) == (status == 200)
            assert served.http.get(f"{served.address}/healthz", headers=headers).status_code == 200


class TestHealthAndMetrics:
    def test_the_doctor_judges_the_server_behind_it(self):
        with faulty("calls as JSON") as server:
            behind = server.base_url
            with serving(says(), upstream=behind) as served:
                examination = examine(served.base_url, "llama", seconds=30)
        note, *faults = find_faults(examination)
        assert (examination.base_url, examination.gateway) == (behind, served.base_url)
        assert (note.code, note.is_fault) == ("gateway", False)
        assert {fault.code for fault in faults} == FAULTS["calls as JSON"].codes

    def test_a_gateway_with_a_key_does_not_tell_what_is_behind_it(self):
        with serving(says("Hi", "Hi", "Hi"), api_key="sesame") as served:
            assert "upstream" not in served.http.get(f"{served.address}/healthz").json()
            examination = examine(served.base_url, "llama", api_key="sesame", seconds=30)
        assert examination.base_url == examination.gateway == served.base_url
        assert "gateway" in [finding.code for finding in find_faults(examination)]

    @pytest.mark.parametrize("path", ["/", "/healthz", "/metrics", "/v1/models"])
    def test_what_can_be_got_has_a_head(self, path: str):
        with serving(lambda asked: Answer([b"{}"] if asked.method == "GET" else [])) as served:
            got, head = (served.http.request(method, served.address + path) for method in ("GET", "HEAD"))
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-type"] == got.headers["content-type"]

    @pytest.mark.parametrize(
        "path",
        [
            *("/chat/completions", "/v1/v1/models", "/v1/api/chat", "/v1/chat/completions/chat/completions"),
            *("/api/responses", "/v1/v1/messages/count_tokens", "/v1/messages/v1/messages"),
        ],
    )
    def test_an_address_with_too_little_or_too_much_is_named(self, path: str):
        with serving(says("Hi")) as served:
            response = served.post(path, {"messages": QUESTION, "tools": [WEATHER]})
            assert served.asked == []
        assert response.status_code == 404
        assert f"there is no POST {path} here: clients' base_url ends in /v1, once" in response.text

    def test_requests_calls_and_rejections_are_counted(self):
        bad = '{"name": "get_weather", "parameters": {oops}}'
        with serving(says(f"{CALL} {bad}")) as served:
            served.chat()
            served.chat(tools=5)
            served.post("/v1/embeddings", {})
            text = served.http.get(f"{served.address}/metrics").text
        for line in (
            'llama3_gateway_requests_total{route="chat",status="200"} 1.0',
            'llama3_gateway_requests_total{route="chat",status="400"} 1.0',
            'llama3_gateway_requests_total{route="pass_through",status="200"} 1.0',
            "llama3_gateway_open_requests 1.0",
            "llama3_gateway_tool_calls_total 1.0",
            'llama3_gateway_rejections_total{reason="malformed"} 1.0',
            "llama3_gateway_retries_total 0.0",
            'llama3_gateway_added_seconds_bucket{le="+Inf"} 3.0',
            "llama3_gateway_added_seconds_count 3.0",
        ):
            assert line in text.splitlines()


class TestTheLog:
    def lines(self, caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
        return [json.loads(JsonLines().format(record)) for record in caplog.records if record.name == "llama3_gateway"]

    def test_a_request_is_a_line_without_content(self, caplog: pytest.LogCaptureFixture):
        with caplog.at_level(logging.INFO, LOGGER.name), serving(says(f"secret {CALL}")) as served:
            served.chat(model="m\n")
        (line,) = self.lines(caplog)
        of_request = {"event": "request", "method": "POST", "path": "/v1/chat/completions", "route": "chat"}
        assert line.items() >= {**of_request, "model": "m\n", "status": 200, "calls": 1, "stream": False}.items()
        assert ("secret" in str(line), "Paris" in str(line)) == (False, False)
        assert 0 < float(str(line["added_seconds"])) < float(str(line["seconds"]))

    @pytest.mark.parametrize("is_stream", [False, True])
    def test_content_is_logged_if_that_is_wanted(self, caplog: pytest.LogCaptureFixture, is_stream: bool):
        with caplog.at_level(logging.INFO, LOGGER.name), serving(says("Hi there"), log_content=True) as served:
            served.chat(stream=is_stream)
        (line,) = self.lines(caplog)
        assert line["request"]["messages"] == QUESTION  # type: ignore[index]
        assert line["replies"] == [{"role": "assistant", "content": "Hi there"}]

    @pytest.mark.parametrize(
        ("answer", "headers", "reason"),
        [
            (Answer([b"404 page not found"], status=404), {}, "does the address end in /v1"),
            (Answer([b"secret"], status=400), {}, "the upstream answers with this error"),
            (Answer([b"secret"]), {}, "does the address end in /v1"),
            (Answer([b"data: secret\n\n"], content_type="text/odd"), {}, "does the address end in /v1"),
            (Answer([b"{}"]), {"host": "example"}, "host"),
        ],
    )
    @pytest.mark.parametrize("is_stream", [False, True])
    def test_it_says_why_there_is_no_answer(
        self,
        caplog: pytest.LogCaptureFixture,
        answer: Answer,
        headers: dict[str, str | bytes],
        reason: str,
        is_stream: bool,
    ):
        with caplog.at_level(logging.INFO, LOGGER.name), serving([answer]) as served:
            served.chat(headers, stream=is_stream)
        line = self.lines(caplog)[-1]
        assert reason in str(line["reason"])
        assert "secret" not in str(line)

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            *(
                ("/v1/chat/completions", b"secret"),
                ("/v1/messages", b'{"tools": [5]}'),
                ("/v1/responses/secret", b"{}"),
            ),
            ("/v1/responses", b'{"input": [{"type": 5, "role": "secret"}], "tools": "all"}'),
            ("/api/chat", b'{"messages": ["secret"], "tools": [{}]}'),
        ],
    )
    def test_each_refusal_has_its_reason_and_each_answer_an_id(
        self, caplog: pytest.LogCaptureFixture, path: str, body: bytes
    ):
        with caplog.at_level(logging.INFO, LOGGER.name), serving(says("Hi")) as served:
            response = served.http.post(served.address + path, content=body)
        line = self.lines(caplog)[-1]
        assert (response.status_code, bool(line["reason"]), "secret" in str(line["reason"])) == (400, True, False)
        assert response.headers["x-request-id"] == response.headers["request-id"] == line["id"]

    def test_it_says_that_nobody_listens(self, caplog: pytest.LogCaptureFixture):
        gateway = Gateway(GatewaySettings(upstream="http://127.0.0.1:1"))
        with caplog.at_level(logging.INFO, LOGGER.name), running(gateway) as address:
            ask(address)
            wait_until(lambda: metric(gateway, "open_requests") == 0)
        assert "is the server running there?" in str(self.lines(caplog)[-1]["reason"])

    def test_a_fault_is_logged_with_its_traceback_if_the_server_logs_one(self):
        try:
            int("oops")
        except ValueError:
            record = logging.LogRecord("uvicorn", logging.ERROR, "a", 1, "went wrong", (), sys.exc_info())
        assert "ValueError: invalid literal" in json.loads(JsonLines().format(record))["traceback"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "http://127.0.0.1:8089/v1\n  upstream: http://localhost:1/v1\n  only programs on this machine can use it"),
        ({"host": "localhost"}, "only programs on this machine can use it; --host 0.0.0.0 lets others in"),
        ({"host": "::1"}, "http://[::1]:8089/v1"),
        ({"host": "0.0.0.0"}, "WARNING: everyone who reaches this machine can use the model: set --api-key"),  # noqa: S104 - only read
        ({"host": "example", "api_key": "a"}, "everyone who reaches this machine and has the key can use the model"),
        ({"host": "0.0.0.0"}, "http://localhost:8089/v1\n  from a container: http://host.docker.internal:8089/v1"),  # noqa: S104 - only read
        ({"host": "::"}, "point clients at http://localhost:8089/v1"),
    ],
)
def test_it_says_who_can_reach_it(settings: dict[str, str], said: str):
    assert said in greeting(GatewaySettings.model_validate({"upstream": "http://localhost:1", **settings}), 8089)


def test_no_chunk_waits_until_the_one_before_is_confirmed():
    with _listen(GatewaySettings(upstream="http://localhost:1", port=0)) as listening:
        with socket.create_connection(listening.getsockname()):
            connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


class TestSecrets:
    def test_the_password_of_an_upstream_is_shown_to_nobody(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            for port, status in ((1, 502), (silent.getsockname()[1], 504)):
                settings = GatewaySettings.model_validate(
                    {"upstream": f"http://user:hunter2@127.0.0.1:{port}/v1", "timeout": 0.2}
                )
                with running(Gateway(settings)) as address:
                    response = ask(address)
                said = response.text + greeting(settings, 1)
                assert (response.status_code, "hunter2" in said, "user" in said) == (status, False, False)
                assert f"http://127.0.0.1:{port}/v1" in said

    def test_it_is_not_in_the_events_of_a_stream(self):
        with serving(lambda _: events(chunk({"content": "Hi"}), BREAK)) as served:
            upstream = served.upstream_url.replace("//", "//user:hunter2@")
            with running(Gateway(GatewaySettings(upstream=upstream))) as address:
                response = ask(address, stream=True)
            assert served.asked[0].headers["authorization"].startswith("Basic ")
        assert ("broke off" in response.text, "hunter2" in response.text) == (True, False)

    def test_a_header_that_cannot_be_sent_is_not_quoted(self):
        with serving(says("Hi")) as served:
            object.__setattr__(served.gateway.settings.default.upstream, "api_key", "sk-SECRET\n")
            response = served.chat()
        assert (response.status_code, "SECRET" in response.text) == (502, False)


def test_it_takes_part_in_start_and_end():
    sent, received = list[str](), iter(["lifespan.startup", "lifespan.shutdown"])

    async def receive() -> Message:
        return {"type": next(received)}

    async def send(message: Message) -> None:
        sent.append(message["type"])

    asyncio.run(Gateway(GatewaySettings(upstream="http://localhost:1"))({"type": "lifespan"}, receive, send))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


ARGUMENTS = ["-c", "from llama3_gateway.command import serve; serve()"]


@contextmanager
def process(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run the command on a free port, and return the address that it says, and the process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, *ARGUMENTS, "--port", "0", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env={**environment, "PYTHONUNBUFFERED": "1"}, **pipes) as running:  # type: ignore[call-overload]
        try:
            greeting = running.stdout.readline()
            found = re.search(r"point clients at (http://\S+:\d+)/v1", greeting)
            assert found, greeting + running.stderr.read()
            yield found[1], running
        finally:
            running.kill()


class TestTheProcess:
    def test_it_serves_until_it_is_told_to_stop(self):
        with serving(says(CALL)) as served, process("--upstream", served.upstream_url) as (address, running):
            wait_until(lambda: _answers(address))
            assert ask(address).json()["choices"][0]["finish_reason"] == "tool_calls"
            running.send_signal(signal.SIGTERM)
            assert running.wait(60) in {0, -signal.SIGTERM}
            assert running.stdout is not None
            assert running.stderr is not None
            assert "only programs on this machine can use it; --host 0.0.0.0 lets others in" in running.stdout.read()
            assert {json.loads(line)["event"] for line in running.stderr} == {"request"}

    def test_an_endless_answer_does_not_keep_it_from_stopping(self):
        with (
            serving([events(chunk({"content": "Hi"}), WAIT)]) as served,
            process("--upstream", served.upstream_url) as (address, running),
        ):
            wait_until(lambda: _answers(address))
            body = {"model": "m", "messages": QUESTION, "tools": [WEATHER], "stream": True}
            with httpx.stream("POST", f"{address}/v1/chat/completions", json=body, trust_env=False) as response:
                next(response.iter_raw())
                running.send_signal(signal.SIGTERM)
                assert running.wait(60) is not None

    def test_a_port_that_is_taken_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            result = CliRunner().invoke(serve, ["--upstream", "http://localhost:1", "--port", str(port)])
        assert result.exit_code == 2
        assert f"cannot listen on 127.0.0.1:{port}" in result.stderr
        assert "--port takes another" in result.stderr

    def test_a_host_that_is_another_machine_is_named(self):
        result = CliRunner().invoke(serve, ["--upstream", "http://localhost:1", "--host", "192.0.2.1", "--port", "0"])
        assert result.exit_code == 2
        assert "cannot listen on 192.0.2.1:0" in result.stderr
        assert result.stderr.strip().endswith("--host takes an address of this machine")


class TestUpstreamsAtTheStart:
    def warning(self, upstream: str) -> str | None:
        return asyncio.run(warning_of(Upstream(upstream), 0.5))

    @pytest.mark.parametrize(
        ("status", "said"),
        [(200, "None"), (401, "None"), (404, "there is no {}/models: does the address end in /v1?")],
    )
    def test_nothing_is_said_of_one_that_answers_unless_the_path_is_not_there(self, status: int, said: str):
        with serving([Answer([b"{}"], status=status)]) as served:
            assert str(self.warning(served.upstream_url)) == said.format(served.upstream_url)
            assert [asked.path for asked in served.asked] == ["/v1/models"]

    def test_one_that_does_not_answer_is_named(self):
        assert str(self.warning("http://127.0.0.1:1/v1")).startswith(
            "no answer from the upstream http://127.0.0.1:1/v1"
        )

    def test_nothing_is_said_of_one_that_takes_its_time(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            assert self.warning(f"http://127.0.0.1:{silent.getsockname()[1]}") is None

    def test_one_that_speaks_no_tls_is_named(self):
        with serving(lambda _: Answer([b"{}"])) as served:
            warning = self.warning(served.upstream_url.replace("http:", "https:"))
        assert str(warning).endswith("it does not speak TLS there: write http://")


def test_a_loop_ends_at_once():
    with serving(says("Hi")) as served:
        upstream = served.gateway.settings.default.upstream
        object.__setattr__(upstream, "url", served.base_url)
        response = served.chat()
        warning = asyncio.run(warning_of(upstream))
    assert response.status_code == 508
    assert "this gateway asks itself: start it with the address of the model" in response.text
    assert "is the gateway itself: start it with the address of the model" in str(warning)


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", trust_env=False).status_code == 200
    except httpx.ConnectError:
        return False


class TestConnections:
    """After an answer to a request whose body was not read, none stays open."""

    def left_open(self, served: Served, length: int) -> tuple[bytes, bytes]:
        """The status of the answer to a request of this length, and what comes after one more byte."""
        with connected(served.address, request_of(b"{", length)) as client:
            answer = b""
            while not answer.endswith(b"}"):
                answer += client.recv(65536)
            assert b"connection: close" in answer
            with contextlib.suppress(OSError):
                client.sendall(b"x")
            try:
                return answer[9:12], client.recv(10)
            except ConnectionResetError:
                return answer[9:12], b""

    @pytest.mark.parametrize(
        ("length", "settings", "status"),
        [(99, {"timeout": 0.2}, b"408"), (9999, {"max_body": 4096}, b"413"), (99, {"api_key": "sesame"}, b"401")],
    )
    def test_it_is_closed(self, length: int, settings: dict[str, object], status: bytes):
        with serving(says("Hi"), **settings) as served:
            assert self.left_open(served, length) == (status, b"")

    def test_a_client_that_sends_all_of_it_reads_the_answer(self):
        with serving(says("Hi"), max_body=4096) as served:
            response = served.http.post(f"{served.base_url}/chat/completions", content=b"a" * 20_000_000)
        assert response.status_code == 413


class TestCompressedBodies:
    BODY = json.dumps({"messages": QUESTION, "tools": [WEATHER]}).encode()

    def ask(self, served: Served, data: bytes, encoding: str = "gzip") -> httpx.Response:
        headers = {"content-encoding": encoding, "content-type": "application/json"}
        return served.http.post(f"{served.base_url}/chat/completions", content=data, headers=headers)

    def test_gzip_is_read(self):
        with serving(says(CALL)) as served:
            assert "tool_calls" in self.ask(served, gzip.compress(self.BODY)).text
            assert "content-encoding" not in served.asked[0].headers

    @pytest.mark.parametrize(
        ("data", "encoding", "status"),
        [
            (gzip.compress(b" " * 5_000_000), "gzip", 413),
            (b"{}", "gzip", 400),
            (gzip.compress(b"{}")[:-9], "gzip", 400),
            (b"{}", "br", 415),
        ],
        ids=["a bomb", "no gzip", "half of it", "another"],
    )
    def test_others_are_refused(self, data: bytes, encoding: str, status: int):
        with serving(says("Hi"), max_body=1_000_000) as served:
            assert self.ask(served, data, encoding).status_code == status
            assert served.asked == []


@pytest.mark.parametrize("found", [["completion"], ["completion", "tools"], None])
def test_a_model_of_ollamas_can_call_tools(found: list[str] | None):
    model = {"details": {}, **({"capabilities": found} if found else {})}
    with serving([Answer([json.dumps(model).encode()]), Answer([b'{"error": "no"}'], status=404)]) as served:
        shown = served.post("/api/show", {"model": "m"}).json()
        assert served.post("/api/show", {"model": "m"}).json() == {"error": "no"}
    assert shown == {"details": {}, "capabilities": ["completion", "tools"]}


@pytest.mark.parametrize("path", ["/v1/chat/completions/", "/v1//models/a%2Fb/"])
def test_a_path_is_passed_on_without_slashes_that_are_too_many(path: str):
    """A server would answer them by a redirect to itself, past the gateway."""
    with serving(lambda _: Answer([b"{}"])) as served:
        served.post(path, {"messages": QUESTION})
        assert served.asked[0].path == path.replace("//", "/").rstrip("/")


@pytest.mark.parametrize("path", ["/v1/chat/completions/", "/v1//responses", "//api/chat", "/v1/./chat/completions"])
def test_slashes_that_are_too_many_make_no_other_path(path: str):
    body = {"messages": QUESTION, "input": "Hi", "tools": [{**WEATHER, **WEATHER["function"]}], "stream": False}  # type: ignore[dict-item]
    with serving(says(CALL)) as served:
        response = served.post(path, body)
        assert "tools" not in served.asked[0].body
    assert ("get_weather" in response.text, CALL in response.text) == (True, False)
