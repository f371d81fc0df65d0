"""`--results` and `--resume`: nothing that came is lost, and nothing is asked twice."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commands import ANSWERS, URL, accept, answering, ask, cases, refused, words
from endpoints.wire import answer_error
from runs import SUITE_YAML


def test_a_run_that_broke_off_is_resumed_without_asking_twice(suite: str, tmp_path: Path) -> None:
    results, report = tmp_path / "results.jsonl", tmp_path / "a.json"
    with answering(ANSWERS[0], ANSWERS[1], answer_error(401, f"expired{'!' * 60}")) as server:
        broken = ask(server, suite, "--results", results, "--json", report)
    assert broken.exit_code == 2
    assert "refuses the key (HTTP 401): expired" in broken.stderr
    assert broken.stderr.endswith("!; 2 of 4 responses are in. The same command with --resume goes on\n")
    assert json.loads(report.read_text("utf-8"))["missing"] == 2
    with results.open("a", encoding="utf-8") as file:
        file.write('{"case": "joke", "resp')
    with answering(*ANSWERS[2:]) as server:
        resumed = ask(server, suite, "--results", results, "--resume")
    assert resumed.exit_code == 1
    assert "all 3/4 75 % (30 to 95)" in words(resumed.stdout)
    assert cases(results) == ["kitchen", "dim", "joke", "hello"]
    assert re.search(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"', results.read_text("utf-8").splitlines()[0])


def test_a_resumed_run_asks_again_what_had_no_response(suite: str, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with answering(answer_error(500, "oops"), *ANSWERS[1:]) as server:
        assert ask(server, suite, "--results", results).exit_code == 1
    results.write_bytes(results.read_bytes()[:-1])  # as an editor leaves it
    with answering(ANSWERS[0]) as server:
        ask(server, suite, "--results", results, "--resume")
    assert cases(results) == ["kitchen", "dim", "joke", "hello", "kitchen"]
    assert "all 3/4" in words(accept(suite, "--replay", results).stdout)


@pytest.mark.parametrize(
    ("resume", "told"),
    [(["--resume"], "does not say what was asked"), ([], "already has responses: continue with --resume, or use")],
)
def test_what_a_file_contains_is_not_written_over(suite: str, tmp_path: Path, resume: list[str], told: str) -> None:
    notes = tmp_path / "notes"
    notes.write_text("buy milk", "utf-8")
    assert told in refused(suite, *URL, "--results", notes, *resume)
    assert notes.read_text("utf-8") == "buy milk"


OTHER_RUNS = [
    (SUITE_YAML.replace("name: Home", "name: Office", 1), [], "its suite is 'Home', not 'Office'"),
    (SUITE_YAML, ["--model", "llama3"], "its model is 'llama', not 'llama3'"),
    (SUITE_YAML.replace("Tell a joke", "Joke!"), [], "the suite asks something else now"),
    (f"{SUITE_YAML}prompt: {{format: function}}\n", [], 'prompt: {"format": "json", '),
    (SUITE_YAML, ["--temperature", "1"], 'settings: {"temperature": 0.0, "max_tokens": 1024}, now '),
]


@pytest.mark.parametrize(("text", "arguments", "message"), OTHER_RUNS)
def test_the_results_of_another_run_are_refused(
    suite: str, tmp_path: Path, text: str, arguments: list[str], message: str
) -> None:
    results = tmp_path / "results.jsonl"
    with answering(*ANSWERS) as server:
        ask(server, suite, "--results", results)
        before = results.read_bytes()
        Path(suite).write_text(text, "utf-8")
        other = ask(server, suite, "--results", results, "--resume", *arguments)
    assert other.exit_code == 2
    assert f"{results} is of another run: {message}" in words(other.stderr)
    assert results.read_bytes() == before


def test_a_results_file_that_cannot_be_written_ends_the_run_and_shows_what_is_in(suite: str) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with answering(*ANSWERS) as server:
        result = ask(server, suite, "--repeats", 2, "--results", full)
    assert result.exit_code == 2
    assert "/dev/full: No space left on device; 1 of 8 responses are in" in words(result.stderr)
    assert "set_light 1/1" in words(result.stdout)
