"""Asking an endpoint: what is sent, what becomes of what comes back, and what ends a run. Over real HTTP."""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from endpoints.script import Turn, scripted
from endpoints.server import Answer, LoopbackServer, Request, Responder
from endpoints.wire import answer_error, answer_json, api
from llama3_acceptance.running.asking import ask, fingerprint
from llama3_acceptance.running.records import Record
from llama3_acceptance.running.runner import Endpoint, EndpointError, Settings, run_suite
from llama3_acceptance.values import Case, Prompt, Suite
from runs import SUITE

QUICK = Settings(concurrency=1, retries=0)
HELLO = Turn(pieces=("Hello.",))
CHAT = "/v1/chat/completions"


@contextlib.contextmanager
def serving(respond: Responder | Iterable[Turn | Answer]) -> Iterator[LoopbackServer]:
    with LoopbackServer(respond if callable(respond) else api(["llama"], scripted(respond))) as server:
        yield server


def run(
    server: LoopbackServer, settings: Settings = QUICK, *, suite: Suite = SUITE, api_key: str = "none"
) -> list[Record]:
    records: list[Record] = []
    run_suite(suite, Endpoint(server.base_url, "llama", api_key), settings, records.append)
    return records


def chats(server: LoopbackServer) -> list[Request]:
    return [request for request in server.requests if request.path == CHAT]


def test_each_case_is_asked_and_its_response_kept_as_it_came() -> None:
    with serving(itertools.repeat(HELLO)) as server:
        records = run(server)
    assert [(one.case, one.repeat, one.error) for one in records] == [(case.id, 0, None) for case in SUITE.cases]
    assert records[0].response == {
        "index": 0,
        "message": {"role": "assistant", "content": "Hello."},
        "finish_reason": "stop",
    }
    assert records[0].usage == {"prompt_tokens": 0, "completion_tokens": 1, "total_tokens": 1}
    assert records[0].latency > 0


HISTORY = ({"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"})


def asked(prompt: Prompt, *, tools: bool = True) -> dict[str, Any]:
    case = Case("tea", "Make tea", history=HISTORY)
    return ask(case, Suite("Tea", SUITE.tools if tools else (), (case,), prompt=prompt))


def test_the_tools_stand_before_the_first_user_message() -> None:
    first, *rest = asked(Prompt())["messages"]
    assert first["content"].startswith("Given the following functions")
    assert first["content"].endswith("\n\nHi")
    assert rest == [HISTORY[1], {"role": "user", "content": "Make tea"}]
    assert HISTORY[0]["content"] == "Hi"


def test_the_examples_of_the_prompt_come_first() -> None:
    examples = ({"role": "user", "content": "Tea!"}, {"role": "assistant", "content": "{}"})
    first, *rest = asked(Prompt(examples=examples))["messages"]
    assert first["content"].endswith("\n\nTea!")
    assert rest == [examples[1], *HISTORY, {"role": "user", "content": "Make tea"}]


def test_native_tools_go_to_the_server() -> None:
    request = asked(Prompt(format="native", system="Be brief."))
    assert [tool["function"]["name"] for tool in request["tools"]] == ["set_light", "tell_joke"]
    assert [message["content"] for message in request["messages"]] == ["Be brief.", "Hi", "Yes?", "Make tea"]


def test_without_tools_the_messages_are_the_suites() -> None:
    assert asked(Prompt(), tools=False) == {"messages": [*HISTORY, {"role": "user", "content": "Make tea"}]}


def test_the_fingerprint_changes_with_what_is_asked_and_with_nothing_else() -> None:
    expected_otherwise = replace(SUITE, cases=tuple(replace(case, alternatives=((),)) for case in SUITE.cases))
    asked_otherwise = replace(SUITE, prompt=Prompt(format="function"))
    assert fingerprint(SUITE) == fingerprint(expected_otherwise) == fingerprint(asked_otherwise)
    others = [
        replace(SUITE, prompt=Prompt("Be brief.")),
        replace(SUITE, tools=SUITE.tools[:1]),
        replace(SUITE, cases=(*SUITE.cases[1:], replace(SUITE.cases[0], command="Lights!"))),
    ]
    assert len({fingerprint(SUITE), *map(fingerprint, others)}) == 4


def test_what_is_done_is_not_asked_again() -> None:
    done = {(case.id, 0) for case in SUITE.cases if case.id != "joke"}
    records: list[Record] = []
    with serving([HELLO]) as server:
        run_suite(SUITE, Endpoint(server.base_url, "llama"), QUICK, records.append, done=done)
    assert [one.case for one in records] == ["joke"]


def test_nothing_is_asked_where_all_is_done() -> None:
    done = {(case.id, 0) for case in SUITE.cases}
    run_suite(SUITE, Endpoint("http://127.0.0.1:9/v1", "llama"), QUICK, pytest.fail, done=done)


def test_requests_are_under_way_at_once_but_no_more_than_allowed() -> None:
    lock, together = threading.Lock(), threading.Barrier(2, timeout=20)
    busy, most = 0, 0

    def model(_: Request) -> Answer:
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        together.wait()
        with lock:
            busy -= 1
        return answer_json({"choices": [{"message": {"content": "Hello."}}]})

    with serving(api(["llama"], model)) as server:
        records = run(server, Settings(concurrency=2, retries=0))
    assert [one.error for one in records] == [None] * 4
    assert most == 2


ODD = [
    (answer_error(500, "out of memory"), "HTTP 500: out of memory"),
    (Answer((b"out of order",), "text/plain", 500), "HTTP 500: out of order"),
    (answer_json({"error": "overloaded"}), 'not with a chat completion: \'{"error": "overloaded"}\''),
    (answer_json({"choices": [{"text": "Hello."}]}), "not with a chat completion"),
    (Answer((b"<html>Hello.</html>",), "text/html"), "not with JSON: '<html>Hello.</html>'"),
    (Answer((b'{"choices": [', b"9" * 5000, b"]}")), "not with JSON"),
    (Answer((b'{"choices": ',), complete=False), "the connection broke: peer closed connection"),
]


@pytest.mark.parametrize(("answer", "error"), ODD)
def test_a_case_that_goes_wrong_is_a_record_and_the_run_goes_on(answer: Answer, error: str) -> None:
    started = time.monotonic()
    with serving([HELLO, answer, HELLO]) as server:
        records = run(server, replace(QUICK, repeats=3), suite=replace(SUITE, cases=SUITE.cases[:1]))
    assert [(one.case, one.repeat, one.error is None) for one in records] == [
        ("kitchen", 0, True),
        ("kitchen", 1, False),
        ("kitchen", 2, True),
    ]
    assert error in (records[1].error or "")
    assert records[1].response is None
    for one in records:
        assert 0 < one.latency < time.monotonic() - started
        assert (type(one.latency), round(one.latency, 3)) == (float, one.latency)


def test_a_response_that_does_not_end_in_time_is_an_error_of_its_case() -> None:
    endless = Answer((b" ",) * 200, pause=0.1)  # each byte of it comes in time
    with serving([HELLO, endless, HELLO, HELLO]) as server:
        first, late, *others = run(server, replace(QUICK, timeout=1))
    assert (late.case, late.error) == ("dim", "no response within 1 s")
    assert [one.error for one in (first, *others)] == [None] * 3


def test_a_failure_that_may_pass_is_asked_again() -> None:
    with serving([answer_error(503, "loading"), HELLO, HELLO, HELLO, HELLO]) as server:
        records = run(server, Settings(concurrency=1, retries=1))
    assert [one.error for one in records] == [None] * 4


def refusing(status: int) -> Responder:
    return lambda _: answer_error(status, "no such key")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_where_nothing_answers_nothing_is_asked(scheme: str) -> None:
    with serving([]) as server:
        url = server.base_url.replace("http", scheme)
    why = r"\((?!Connection error)\S+ .+\)"  # what the system says, in words of its own
    with pytest.raises(EndpointError, match=rf"nothing answers at {url} {why}: is the server running there\?"):
        run_suite(SUITE, Endpoint(url, "llama"), QUICK, pytest.fail)


@pytest.mark.parametrize("url", ["localhost:8080", "http://", "http://a:b/v1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(EndpointError, match=re.escape(f"{url!r} is not an address: ")):
        run_suite(SUITE, Endpoint(url, "llama"), QUICK, pytest.fail)


@pytest.mark.parametrize("path", ["chat/completions", "chat/completions/", "completions", "models?key=hidden"])
def test_the_address_of_a_request_is_refused_with_the_right_one(path: str) -> None:
    with pytest.raises(EndpointError, match=r"one request: use --base-url http://127\.0\.0\.1:9/v1$") as caught:
        run_suite(SUITE, Endpoint(f"http://me:hidden@127.0.0.1:9/v1/{path}", "llama"), QUICK, pytest.fail)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("key", ["secret\n", "sec\nret", "sécret"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key: str) -> None:
    message = "the key cannot be sent: it has a line break, a space at an end, or another letter than ASCII's"
    with pytest.raises(EndpointError, match=f"^{message}$") as caught:
        run_suite(SUITE, Endpoint("http://127.0.0.1:9/v1", "llama", key), QUICK, pytest.fail)
    assert key not in str(caught.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_ends_the_run(status: int) -> None:
    with serving(refusing(status)) as server, pytest.raises(EndpointError) as caught:
        run(server, api_key="secret")
    assert str(caught.value).endswith(f"/v1 refuses the key (HTTP {status}): no such key")
    assert "secret" not in repr(Endpoint("http://x/v1", "llama", "secret"))


def test_a_model_that_is_not_served_ends_the_run_with_those_that_are() -> None:
    with (
        serving(api(["llama3.1", "llama3.2"], refusing(500))) as server,
        pytest.raises(EndpointError, match=r"does not serve 'llama', but llama3\.1, llama3\.2"),
    ):
        run(server)


@pytest.mark.parametrize(("path", "meant"), [("", "/v1"), ("/", "/v1"), ("/X/", "/X/v1")])
def test_an_address_that_is_nearly_right_is_told_from_the_right_one(path: str, meant: str) -> None:
    with serving([]) as server:
        host = server.base_url.removesuffix("/v1")
        endpoint = Endpoint(host + path, "llama")
        with pytest.raises(EndpointError, match=rf"answers with HTTP 404: .*; is it {host}{meant}\?$"):
            run_suite(SUITE, endpoint, QUICK, pytest.fail)


def test_a_server_that_goes_away_ends_the_run_and_what_came_in_was_handed_out() -> None:
    records: list[Record] = []
    server = LoopbackServer(api(["llama"], scripted(itertools.repeat(HELLO))))

    def take(record: Record) -> None:
        records.append(record)
        stopper = threading.Thread(target=server.__exit__, args=(None, None, None))
        stopper.start()
        stopper.join()

    with server, pytest.raises(EndpointError, match="nothing answers at"):
        run_suite(SUITE, Endpoint(server.base_url, "llama"), QUICK, take)
    assert [one.case for one in records] == ["kitchen"]


def test_an_error_of_the_taker_ends_the_run() -> None:
    def take(_: Record) -> None:
        raise OSError("disk full")

    with serving(itertools.repeat(HELLO)) as server, pytest.raises(OSError, match="disk full"):
        run_suite(SUITE, Endpoint(server.base_url, "llama"), Settings(concurrency=3, retries=0), take)
