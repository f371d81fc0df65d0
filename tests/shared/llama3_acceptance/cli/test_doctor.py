"""`llama3-tools doctor`: what it prints, its exit status, and the report without secrets."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import time
from dataclasses import replace
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest
from click.testing import CliRunner, Result

from commands import words
from endpoints.server import Answer, LoopbackServer
from endpoints.wire import answer_error, answer_json
from faulty_servers import Faulty, Reply, faulty
from llama3_acceptance.cli.doctor import doctor
from llama3_acceptance.doctor import examine, find_faults
from llama3_acceptance.doctor.exchanges import Exchange
from llama3_acceptance.doctor.questions import QUESTIONS, TEXT_AND_CALL, TWO_AGAIN, WITH_EMPTY_CONTENT
from llama3_acceptance.doctor.secrets import Secrets

NOT_ALWAYS_WITH_TOOLS = {"plain", WITH_EMPTY_CONTENT, TWO_AGAIN, TEXT_AND_CALL}


def ask(base_url: str, *arguments: object) -> Result:
    return CliRunner().invoke(doctor, ["--base-url", base_url, "--model", "llama", *map(str, arguments)])


def test_a_healthy_server_raises_no_alarm() -> None:
    with faulty("healthy") as server:
        url = server.base_url
        result = ask(url)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        f"llama at {url}",
        "",
        "✓ nothing is wrong: the server sends the model's calls as tool calls",
        "",
        "You can use the server's own tool calls.",
        "    from langchain_openai import ChatOpenAI",
        f'    llm = ChatOpenAI(base_url="{url}", api_key="none", model="llama").bind_tools(tools)',
    ]


def test_a_fault_comes_with_what_to_do_and_the_lines_that_work() -> None:
    with faulty("calls as JSON") as server:
        url = server.base_url
        result = ask(url, "--api-key", "secret-key")
    assert result.exit_code == 1
    assert "✗ calls_as_text: calls come as text (bare JSON), and `tool_calls` is empty" in result.stdout
    assert "→ run llama3-tools between agent and server" in result.stdout
    assert result.stdout.splitlines()[-6:] == [
        "    from langchain_llama3_tools import Llama3ToolModel",
        "    from langchain_openai import ChatOpenAI",
        f'    llm = Llama3ToolModel(ChatOpenAI(base_url="{url}", api_key="…", model="llama")).bind_tools(tools)',
        "",
        "For any other client, run the gateway between it and the server:",
        f"    llama3-tools serve {url}",
    ]


@pytest.mark.parametrize("as_json", [False, True], ids=["words", "JSON"])
def test_nothing_that_answers_is_found_out_at_once(as_json: bool) -> None:
    result = ask("http://127.0.0.1:9/v1", *["--json"] * as_json)
    assert result.exit_code == 1
    assert "nothing answers at http://127.0.0.1:9/v1" in result.stdout
    assert "Fix this first, then run the doctor again." in result.stdout


@pytest.mark.parametrize("path", ["/v1?token=hidden-token", "/v1#hidden-token"])
def test_an_address_with_a_query_is_refused_and_the_query_not_shown(path: str) -> None:
    result = ask(f"http://127.0.0.1:9{path}")
    assert (result.exit_code, "has a query or a fragment after http://127.0.0.1:9/v1" in words(result.stderr)) == (
        2,
        True,
    )
    assert "hidden-token" not in result.output


@pytest.mark.parametrize("seconds", ["inf", "1e300", "0", "nan"])
def test_a_timeout_is_a_number_of_seconds(seconds: str) -> None:
    result = ask("http://127.0.0.1:9/v1", "--timeout", seconds)
    assert (result.exit_code, "Invalid value for '--timeout'" in result.stderr) == (2, True)


def test_an_address_without_its_end_is_completed() -> None:
    with faulty("healthy") as server:
        base_url = server.base_url.removesuffix("/v1")
        result = ask(base_url)
    assert "✗ not_openai" in result.stdout
    assert f"use --base-url {base_url}/v1" in result.stdout


class _Dripping(StreamRequestHandler):
    """Sends a header a byte at a time: each read of a client is in time, and the answer never begins."""

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 80:
                self.wfile.write(bytes([byte]))
                time.sleep(0.1)


def test_a_header_that_does_not_end_takes_no_longer_either() -> None:
    with ThreadingTCPServer(("127.0.0.1", 0), _Dripping) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        started = time.monotonic()
        result = ask(f"http://127.0.0.1:{server.server_address[1]}/v1", "--timeout", 0.2)
        seconds = time.monotonic() - started
        server.shutdown()
    assert ": no answer in time → allow more" in words(result.stdout)
    assert seconds < 5  # of the nine that the header takes


def _hanging_up(listed: bytes, answer: bytes) -> type[StreamRequestHandler]:
    """Return what answers the list of models, then each question, with these bytes, and hangs up after each."""

    class HangingUp(StreamRequestHandler):
        def handle(self) -> None:
            head = list(iter(self.rfile.readline, b"\r\n"))
            length = next((line.partition(b":")[2] for line in head if line.lower().startswith(b"content-length")), 0)
            self.rfile.read(int(length))
            self.wfile.write(answer if head[0].startswith(b"POST") else listed)

    return HangingUp


MODELS = b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 25\r\n\r\n{"data":[{"id":"llama"}]}'
CIRCLE = b"HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /v1/models\r\nContent-Length: 0\r\n\r\n"
ELSEWHERE = CIRCLE.replace(b"/v1/models", b"ftp://127.0.0.1/v1")


@pytest.mark.parametrize(
    ("listed", "answer", "what", "request_"),
    [
        (MODELS, b"", "chat/completions has answered: Server disconnected", "-X POST URL/chat/completions"),
        (MODELS, ELSEWHERE, "chat/completions has answered: ", "-X POST URL/chat/completions"),
        (b"", b"", "models has answered: Server disconnected", "URL/models"),
        (CIRCLE, b"", "models has answered: Exceeded maximum allowed redirects", "URL/models"),
    ],
    ids=["hangs up", "elsewhere", "hangs up at once", "a circle"],
)
def test_a_connection_that_breaks_has_a_cure_of_its_own(listed: bytes, answer: bytes, what: str, request_: str) -> None:
    with ThreadingTCPServer(("127.0.0.1", 0), _hanging_up(listed, answer)) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        result = ask(url)
        server.shutdown()
    said = words(result.stdout)
    assert f"✗ unreachable: the connection breaks before {url}/{what}" in said
    assert f"curl -i {request_.replace('URL', url)}" in said
    assert "--timeout" not in said
    assert "Fix this first, then run the doctor again." in said


def test_a_plain_question_that_does_not_end_is_too_slow() -> None:
    def slow(_reply: object) -> Answer:
        return Answer((b" ",) * 200, pause=0.1)

    with faulty(Faulty(slow, frozenset(), models=("llama:latest",))) as server:
        result = ask(server.base_url, "--timeout", 1)
    assert "✗ too_slow: a plain question did not end in time, after 1 s" in words(result.stdout)


@pytest.mark.parametrize("as_json", [False, True], ids=["words", "JSON"])
def test_a_server_that_is_slow_with_tools_is_not_called_healthy(as_json: bool) -> None:
    def slow_with_tools(reply: Reply) -> Reply | Answer:
        return Answer((b" ",) * 200, pause=0.1) if reply.is_native else reply

    with faulty(Faulty(slow_with_tools, frozenset())) as server:
        result = ask(server.base_url, "--timeout", 1, *["--json"] * as_json)
    missing = [name for name in QUESTIONS if name not in NOT_ALWAYS_WITH_TOOLS]
    assert result.exit_code == 2
    if as_json:
        report = json.loads(result.stdout)
        assert (report["is_healthy"], report["not_asked"], report["advice"]["code"]) == (False, missing, [])
        return
    assert f"there was no time for: {', '.join(missing)}" in words(result.stdout)
    assert "it is not known yet what works: allow more with --timeout." in words(result.stdout)
    assert not re.search("✓|import", result.stdout)


def test_a_question_that_takes_too_long_is_no_fault_of_another_kind() -> None:
    with faulty("healthy") as server:
        examination = examine(server.base_url, "llama", seconds=30)
    for slow in QUESTIONS.keys() - NOT_ALWAYS_WITH_TOOLS:
        late = Exchange(slow, error="no answer in time", is_timeout=True)
        without = replace(examination, exchanges={**examination.exchanges, slow: late})
        assert {finding.code for finding in find_faults(without)} == {"too_slow"}, slow


def test_an_answer_without_an_end_is_not_read_forever() -> None:
    with LoopbackServer(lambda _: Answer((b"x" * 100_000,) * 50)) as server:
        assert "✗ not_openai" in ask(server.base_url).stdout


def test_the_report_has_all_answers_and_no_secret() -> None:
    refusal = answer_error(401, f"Incorrect: secret-key; password-too{'x' * 240} secret-key{'x' * 99}")
    with LoopbackServer(lambda _: refusal) as server:
        url = server.base_url
        arguments = (url.replace("//", "//me:password-too@"), "--api-key", "secret-key")
        told, output = ask(*arguments, "--json").stdout, ask(*arguments).stdout
    assert not re.search("secre|password-too", told + output)  # half a secret neither
    report = json.loads(told)
    (finding,) = report["findings"]
    assert (finding["code"], report["base_url"]) == ("key_refused", url)
    assert finding["what"].startswith("the server refuses the key (HTTP 401): Incorrect: (hidden); (hidden)xxx")
    assert re.search(r"x \(hidden\)x+… \(\d+ characters\)$", finding["what"])
    assert (report["llama3_tools_doctor"], report["is_healthy"]) == (1, False)


@pytest.mark.parametrize(
    ("user", "key", "told", "shown"),
    [
        ("me:p%40ss%22word", "none", 'p@ss"word, p%40ss%22word', "(hidden), (hidden)"),
        ("me:secret", "none", "Basic bWU6c2VjcmV0", "Basic (hidden)"),
        ("a-token", "none", "no user a-token here, Basic YS10b2tlbjo=", "no user (hidden) here, Basic (hidden)"),
        ("", "a1", "the key a1 is wrong, a15 as well", "the key (hidden) is wrong, a15 as well"),
        ("", 'with"quote', 'the key with"quote', "the key (hidden)"),
    ],
    ids=["encoded", "Basic", "a name alone", "short", "a quotation mark"],
)
def test_a_secret_is_hidden_in_each_form(user: str, key: str, told: str, shown: str) -> None:
    assert Secrets(f"http://{user}@127.0.0.1/v1", key).hide_in({"error": [told]}) == {"error": [shown]}


def test_a_short_key_leaves_the_rest_of_the_report_alone() -> None:
    with faulty("healthy") as server:
        report = json.loads(ask(server.base_url, "--api-key", "1", "--json").stdout)
        assert report["base_url"] == server.base_url
    assert "hidden" not in f"{report['llama3_tools']} {report['python']} {report['model']} {report['advice']}"


def test_who_watches_sees_what_is_asked() -> None:
    with faulty("healthy") as server:
        assert "asking" in ask(server.base_url, "--color", "always").stderr


def test_what_a_server_says_cannot_command_the_terminal() -> None:
    with LoopbackServer(lambda _: answer_json({"error": {"message": "a\x1b[2J"}}, status=400)) as server:
        result = ask(server.base_url)
    assert "\x1b" not in result.stdout
    assert "a\\x1b[2J" in result.stdout


def test_an_endpoint_and_a_model_have_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    result = CliRunner().invoke(doctor, ["--model", "llama"])
    assert (result.exit_code, "Missing option '--base-url'" in result.stderr) == (2, True)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert CliRunner().invoke(doctor, ["--model", "llama"]).exit_code == 1


def test_without_httpx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    result = ask("http://127.0.0.1:9/v1")
    assert result.exit_code == 2
    assert "pip install 'llama3-tools[acceptance]'" in result.output


def test_a_model_that_is_there_under_another_tag_is_named() -> None:
    about = Faulty(lambda _: answer_error(404, "model 'llama' not found"), frozenset(), models=("qwen:7b", "llama:8b"))
    with faulty(about) as server:
        result = ask(server.base_url)
    assert "(model 'llama' not found); it has qwen:7b, llama:8b; did you mean 'llama:8b'?" in words(result.stdout)
