"""`llama3-tools accept`, as it is called: against scripted endpoints over real HTTP, and on recorded outputs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from commands import ANSWERS, URL, accept, answering, ask, refused, words
from endpoints.server import LoopbackServer
from endpoints.wire import answer_error, api


def test_a_run_prints_scores_by_tool_and_by_reason_and_what_failed(suite: str) -> None:
    with answering(*ANSWERS, *ANSWERS) as server:
        result, url = ask(server, suite), server.base_url
        coerced = ask(server, suite, "--score", "coerced")
    assert (result.exit_code, coerced.exit_code, "failed" in coerced.stdout) == (1, 0, False)
    shown = words(result.stdout)
    assert result.stderr == 'first failure: dim  wrong_type  set_light: level is the string "20", expected 20\n'
    assert f"Home llama at {url}" in shown
    assert "set_light 1/2 50 % (9 to 91) 1 2/2 100 % (34 to 100) 1" in shown
    assert "all 3/4 75 % (30 to 95) 2 4/4 100 % (51 to 100) 2" in shown
    assert 'dim wrong_type set_light: level is the string "20", expected 20' in shown


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("policies: {native_calls_only: true}", "a policy fails every call there"),
        ("policies: {text_calls: false}", "a policy fails every call there"),
        ("reading: {formats: none}", "leaves that form out"),
        ("prompt: {format: native}\npolicies: {native_calls_only: true}", ""),
        ("prompt: {format: strict}", ""),
        ("reading: {formats: json}", ""),
    ],
)
def test_a_model_is_asked_only_for_what_can_pass(suite: str, more: str, told: str) -> None:
    Path(suite).write_text(f"{Path(suite).read_text('utf-8')}{more}\n", "utf-8")
    with answering(*ANSWERS) as server:
        result = ask(server, suite)
        assert bool(server.requests) is not bool(told)
    assert (result.exit_code, told in words(result.stderr)) == (2 if told else 1, True)


@pytest.mark.parametrize(
    ("thresholds", "status", "told"),
    [
        (["75%"], 0, "75% of all: met, 3 of 4 passed, 75 % (30 to 95); 4 are too few to tell"),
        (["76%"], 1, "76% of all: not met, 3 of 4 passed"),
        (["50%", "tool:set_light=50%"], 0, "50% of the tool set_light: met, 1 of 2 passed"),
        (["50%", "tag:numbers=1%"], 1, "1% of the tag numbers: not met, 0 of 1 passed"),
    ],
)
def test_a_share_of_the_cases_may_be_enough(
    suite: str, outputs: Path, thresholds: list[str], status: int, told: str
) -> None:
    options = [part for one in thresholds for part in ("--min-pass", one)]
    result = accept(suite, "--replay", outputs, *options, "--junit", outputs.parent / "a.xml")
    assert result.exit_code == status
    assert told in words(result.stdout)
    junit = ET.parse(outputs.parent / "a.xml").getroot()  # noqa: S314 - written above
    assert (junit.get("tests"), junit.get("failures")) == (str(4 + len(thresholds)), str(status))


def test_a_run_may_stop_at_the_first_failure_and_go_on(suite: str, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with answering(*ANSWERS) as server:
        stopped = ask(server, suite, "--fail-fast", "--results", results)
        assert len([one for one in server.requests if one.method == "POST"]) < 4
        again = ask(server, suite, "--fail-fast", "--results", results, "--resume")
        assert again.stderr == stopped.stderr
        resumed = ask(server, suite, "--results", results, "--resume")
    assert (stopped.exit_code, resumed.exit_code) == (1, 1)
    first, last = stopped.stderr.splitlines()
    assert first == 'first failure: dim  wrong_type  set_light: level is the string "20", expected 20'
    assert last == "stopped at the first failure: 2 of 4 responses are in. The same command with --resume goes on"
    assert "2 responses are missing" in stopped.stdout
    assert "all 3/4" in words(resumed.stdout)


def test_the_options_reach_the_endpoint(suite: str) -> None:
    with answering(*ANSWERS * 3) as server:
        ask(server, suite, "--repeats", 2, "--seed", 5, "--max-tokens", 9, "--temperature", 0.5, "--api-key", "secret")
        ask(server, suite, "--extra-body", '{"top_k": 1}')
        chats = [request for request in server.requests if request.method == "POST"]
    assert [chat.body.get("top_k") for chat in chats] == [None] * 8 + [1] * 4
    chats = chats[:8]
    assert [chat.body["seed"] for chat in chats] == [5] * 4 + [6] * 4
    assert {(chat.body["max_tokens"], chat.body["temperature"], chat.api_key) for chat in chats} == {(9, 0.5, "secret")}


def test_the_endpoint_and_its_key_may_come_from_the_environment(suite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(*ANSWERS) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        result = accept(suite, "--model", "llama", "--concurrency", 1)
        keys = {request.api_key for request in server.requests}
    assert "all 3/4" in words(result.stdout)
    assert keys == {"secret"}


def test_who_watches_sees_how_far_the_run_is(suite: str) -> None:
    with answering(*ANSWERS * 2) as server:
        result = ask(server, suite, "--color", "always", "--repeats", 2)
    assert "8/8" in result.stderr
    assert "hello, " in result.stderr


def test_the_reports_are_written(suite: str, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.json", "a.xml", "a.html")]
    with answering(*ANSWERS) as server:
        ask(server, suite, "--json", files[0], "--junit", files[1], "--html", files[2], "--score", "coerced")
    report = files[0].read_text("utf-8")
    assert json.loads(report)["scores"]["overall"]["parsed"]["count"] == 3
    assert report.startswith('{\n  "')
    assert ET.parse(files[1]).getroot().get("failures") == "0"  # noqa: S314 - written above
    assert files[2].read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(("answers", "missing"), [(0, 4), (1, 3), (3, 9)])
def test_a_replay_that_lacks_a_case_is_no_success(suite: str, tmp_path: Path, answers: int, missing: int) -> None:
    outputs, report = tmp_path / "outputs.jsonl", tmp_path / "a.json"
    outputs.write_text('{"case": "hello", "output": "Hello!"}\n' * answers, "utf-8")
    result = accept(suite, "--replay", outputs, "--json", report)
    assert result.exit_code == 1
    assert f"{missing} responses are missing" in result.stdout
    run = json.loads(report.read_text("utf-8"))["run"]
    assert (run["suite"], len(run["fingerprint"])) == ("Home", 16)


def test_an_endpoint_that_never_responds_did_not_run(suite: str) -> None:
    with LoopbackServer(api(["llama"], lambda _: answer_error(500, "out of memory"))) as server:
        result = ask(server, suite)
    assert result.exit_code == 2
    assert "there was no response at all; the first error: HTTP 500: out of memory" in words(result.stderr)


def test_without_its_packages_accept_says_what_to_install(suite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    assert "pip install 'llama3-tools[acceptance]'" in refused(suite, *URL)
