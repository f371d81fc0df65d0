"""`llama3-tools accept`, as it is called: against scripted endpoints over real HTTP, and on recorded outputs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from endpoints.script import Turn, scripted
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import answer_error, answer_json, api
from llama3_tools.cli.group import llama3_tools
from runs import DIM, KITCHEN, SUITE_YAML

ANSWERS = [KITCHEN, DIM, "Knock, knock.", "Hello!"]


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "home.yaml"
    path.write_text(SUITE_YAML, "utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def _no_endpoint_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def accept(*arguments: object) -> Result:
    return CliRunner().invoke(llama3_tools, ["accept", *map(str, arguments)], env={"COLUMNS": "150"})


def answering(*answers: str | Answer) -> LoopbackServer:
    turns = (answer if isinstance(answer, Answer) else Turn(pieces=(answer,)) for answer in answers)
    return LoopbackServer(api(["llama"], scripted(turns)))


def ask(server: LoopbackServer, suite: str, *arguments: object) -> Result:
    one_by_one = ("--concurrency", 1, "--retries", 0)
    return accept(suite, "--base-url", server.base_url, "--model", "llama", *one_by_one, *arguments)


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_run_prints_scores_by_tool_and_by_reason_and_what_failed(suite: str) -> None:
    with answering(*ANSWERS) as server:
        result = ask(server, suite)
    shown = words(result.stdout)
    assert result.exit_code == 1
    assert result.stderr == ""
    assert f"Home llama at {server_url(result)}" in shown
    assert "set_light 1/2 50 % (9 to 91) 2/2 100 % (34 to 100)" in shown
    assert "all 3/4 75 % (30 to 95) 4/4 100 % (51 to 100)" in shown
    assert "numbers 0/1" in shown
    assert "wrong_type 1/4 25 % (5 to 70) 0/4 0 % (0 to 49)" in shown
    assert 'dim wrong_type set_light: level is the string "20", expected 20' in shown


PROCESS = """
import json, sys
sys.path[:] = json.loads(sys.argv.pop(1))
{before}
from llama3_tools.cli import main
main()
"""


def command(*arguments: object, before: str = "") -> list[str]:
    """Give the command line of the command as a process of its own."""
    return [sys.executable, "-c", PROCESS.format(before=before), json.dumps(sys.path), *map(str, arguments)]


def done(
    *arguments: object, before: str = "", stdout: IO[str] | int = subprocess.PIPE, encoding: str = "utf-8"
) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own."""
    line, environment = command(*arguments, before=before), {**os.environ, "PYTHONIOENCODING": encoding}
    return subprocess.run(line, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


def server_url(result: Result) -> str:
    return result.stdout.split(" at ")[1].split()[0]


@pytest.mark.parametrize(("arguments", "status"), [([], 1), (["--score", "parsed"], 1), (["--score", "coerced"], 0)])
def test_the_score_that_was_chosen_decides_the_exit_status(suite: str, arguments: list[str], status: int) -> None:
    with answering(*ANSWERS) as server:
        assert ask(server, suite, *arguments).exit_code == status


@pytest.mark.parametrize(
    ("option", "case", "output"),
    [
        ("--no-text-calls", "kitchen", KITCHEN),
        ("--no-direct-answers", "joke", "Knock, knock."),
        ("--no-stringified-lists", "rooms", '{"name": "clean", "parameters": {"rooms": "[\'a\', \'b\']"}}'),
        ("--strict", "hello", 'Look: {"a": 1}'),
    ],
)
def test_each_policy_can_be_turned_off(tmp_path: Path, option: str, case: str, output: str) -> None:
    suite = tmp_path / "home.yaml"
    suite.write_text(
        SUITE_YAML.replace(
            "cases:\n",
            "  - {name: clean, parameters: {properties: {rooms: {type: array}}}}\ncases:\n",
        )
        + "  - {id: rooms, command: Clean, expect: {tool: clean, arguments: {rooms: {value: [a, b]}}}}\n",
        "utf-8",
    )
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text(json.dumps({"case": case, "output": output}), "utf-8")

    def passed(*options: str) -> int:
        report = tmp_path / "report.json"
        accept(suite, "--replay", outputs, "--json", report, *options)
        return int(json.loads(report.read_text("utf-8"))["scores"]["overall"]["parsed"]["count"])

    assert (passed(), passed(option)) == (1, 0)


def test_the_prompt_format_is_that_of_the_command_line(suite: str) -> None:
    with answering(*ANSWERS * 2) as server:
        ask(server, suite, "--prompt-format", "function")
        ask(server, suite, "--prompt-format", "native")
        asked = [request.body for request in server.requests if request.method == "POST"]
    assert "<function=example_function_name>" in str(asked[0]["messages"])
    assert "tools" not in asked[0]
    assert "set_light" not in str(asked[-1]["messages"])
    assert "set_light" in str(asked[-1]["tools"])


def test_the_options_reach_the_endpoint(suite: str) -> None:
    with answering(*ANSWERS * 2) as server:
        ask(server, suite, "--repeats", 2, "--seed", 5, "--max-tokens", 9, "--temperature", 0.5, "--api-key", "secret")
        chats = [request for request in server.requests if request.method == "POST"]
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


def test_a_response_may_take_no_longer_than_the_timeout(suite: str) -> None:
    endless = Answer((b" ",) * 200, pause=0.1)
    with answering(endless, *ANSWERS[1:]) as server:
        assert "no response within 1 s" in words(ask(server, suite, "--timeout", 1).stdout)


def test_who_watches_sees_how_far_the_run_is(suite: str) -> None:
    with answering(*ANSWERS) as server:
        result = ask(server, suite, "--color", "always")
    assert "4/4" in result.stderr
    assert "hello, " in result.stderr


def test_the_reports_are_written(suite: str, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.json", "a.xml", "a.html")]
    with answering(*ANSWERS) as server:
        ask(server, suite, "--json", files[0], "--junit", files[1], "--html", files[2], "--score", "coerced")
    assert json.loads(files[0].read_text("utf-8"))["scores"]["overall"]["parsed"]["count"] == 3
    assert ET.parse(files[1]).getroot().get("failures") == "0"  # noqa: S314 - written above
    assert files[2].read_text("utf-8").startswith("<!doctype html>")


def test_the_results_can_be_replayed(suite: str, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with answering(*ANSWERS) as server:
        asked = ask(server, suite, "--results", results)
    replayed = accept(suite, "--replay", results)
    assert (replayed.exit_code, replayed.stdout) == (1, asked.stdout)


def test_a_replay_that_lacks_a_case_is_no_success(suite: str, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text(json.dumps({"case": "hello", "output": "Hello!"}), "utf-8")
    result = accept(suite, "--replay", outputs)
    assert result.exit_code == 1
    assert "3 responses are missing" in result.stdout


def test_repeats_are_counted(suite: str, tmp_path: Path) -> None:
    report = tmp_path / "a.json"
    with answering(*ANSWERS, *["No."] * 4) as server:
        ask(server, suite, "--repeats", 2, "--json", report)
    overall = json.loads(report.read_text("utf-8"))["scores"]["overall"]["parsed"]
    assert (overall["count"], overall["total"]) == (5, 8)


def cases(results: Path) -> list[str]:
    return [json.loads(line)["case"] for line in results.read_text("utf-8").splitlines()[1:]]


def test_a_run_that_broke_off_is_resumed_without_asking_twice(suite: str, tmp_path: Path) -> None:
    results, report = tmp_path / "results.jsonl", tmp_path / "a.json"
    with answering(ANSWERS[0], ANSWERS[1], answer_error(401, "expired")) as server:
        broken = ask(server, suite, "--results", results, "--json", report)
    assert broken.exit_code == 2
    assert "refuses the key (HTTP 401): expired; 2 of 4 responses are in" in words(broken.stderr)
    assert "--resume goes on" in broken.stderr
    assert "2 responses are missing" in broken.stdout
    assert json.loads(report.read_text("utf-8"))["missing"] == 2
    with results.open("a", encoding="utf-8") as file:
        file.write('{"case": "joke", "resp')
    with answering(*ANSWERS[2:]) as server:
        resumed = ask(server, suite, "--results", results, "--resume")
    assert resumed.exit_code == 1
    assert "all 3/4 75 % (30 to 95)" in words(resumed.stdout)
    assert cases(results) == ["kitchen", "dim", "joke", "hello"]


def test_a_resumed_run_asks_again_what_had_no_response(suite: str, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with answering(answer_error(500, "oops"), *ANSWERS[1:]) as server:
        assert ask(server, suite, "--results", results).exit_code == 1
    with answering(ANSWERS[0]) as server:
        ask(server, suite, "--results", results, "--resume")
    assert cases(results) == ["kitchen", "dim", "joke", "hello", "kitchen"]
    assert "all 3/4" in words(accept(suite, "--replay", results).stdout)


def test_a_run_may_be_resumed_with_fewer_repeats(suite: str, tmp_path: Path) -> None:
    results, report = tmp_path / "results.jsonl", tmp_path / "a.json"
    with answering(*ANSWERS, *["No."] * 4) as server:
        ask(server, suite, "--repeats", 2, "--results", results)
        asked = len(server.requests)
        ask(server, suite, "--results", results, "--resume", "--json", report)
        assert len(server.requests) == asked
    overall = json.loads(report.read_text("utf-8"))["scores"]["overall"]["parsed"]
    assert (overall["count"], overall["total"]) == (3, 4)
    assert len(cases(results)) == 8


def test_a_run_is_resumed_behind_a_last_line_that_lacks_its_line_break(suite: str, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with answering(*ANSWERS) as server:
        ask(server, suite, "--results", results)
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join(lines[:3])[:-1])
    with answering(*ANSWERS[2:]) as server:
        assert "all 3/4" in words(ask(server, suite, "--results", results, "--resume").stdout)
    assert results.read_bytes().splitlines()[:3] == [line[:-1] for line in lines[:3]]
    assert cases(results) == ["kitchen", "dim", "joke", "hello"]


@pytest.mark.parametrize("length", [1, 9, 30])
def test_a_run_that_was_killed_in_its_first_line_is_begun_anew(suite: str, tmp_path: Path, length: int) -> None:
    results = tmp_path / "results.jsonl"
    with answering(*ANSWERS * 2) as server:
        ask(server, suite, "--results", results)
        results.write_bytes(results.read_bytes()[:length])
        resumed = ask(server, suite, "--results", results, "--resume")
    assert "ends in its first line, before any response: it is begun anew" in words(resumed.stderr)
    assert "all 3/4" in words(resumed.stdout)
    assert len(cases(results)) == 4


def test_half_a_line_of_something_else_is_not_written_over(suite: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.write_text("buy milk", "utf-8")
    assert "was not written by --results" in refused(suite, *URL, "--results", notes, "--resume")
    assert notes.read_text("utf-8") == "buy milk"


def test_resuming_what_does_not_exist_begins_it(suite: str, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with answering(*ANSWERS) as server:
        ask(server, suite, "--results", results, "--resume")
    assert len(cases(results)) == 4


def test_results_are_not_written_over(suite: str, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with answering(*ANSWERS) as server:
        ask(server, suite, "--results", results)
        before = results.read_bytes()
        again = ask(server, suite, "--results", results)
    assert again.exit_code == 2
    assert "holds responses already: go on with --resume, or take another file" in words(again.stderr)
    assert results.read_bytes() == before


OTHER_RUNS = [
    (SUITE_YAML.replace("name: Home", "name: Office", 1), [], "its suite is 'Home', not 'Office'"),
    (SUITE_YAML, ["--model", "llama3"], "its model is 'llama', not 'llama3'"),
    (SUITE_YAML.replace("Tell a joke", "Joke!"), [], "the suite asks something else now"),
    (SUITE_YAML, ["--prompt-format", "function"], "the suite asks something else now"),
    (SUITE_YAML, ["--temperature", "1"], 'its settings are {"temperature": 0.0, "max_tokens": 1024}, not'),
    (SUITE_YAML, ["--extra-body", '{"top_k": 1}'], "its settings are"),
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


def test_an_expectation_may_change_before_a_run_is_resumed(suite: str, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    with answering(*ANSWERS) as server:
        ask(server, suite, "--results", results)
        Path(suite).write_text(SUITE_YAML.replace("level: 20}}\n    tags", "level: 25}}\n    tags"), "utf-8")
        assert ask(server, suite, "--results", results, "--resume").exit_code in {0, 1}
    assert len(cases(results)) == 4


def test_an_interrupt_keeps_what_is_in(suite: str, tmp_path: Path) -> None:
    results, report = tmp_path / "results.jsonl", tmp_path / "a.json"
    first = scripted([Turn(pieces=(KITCHEN,))])

    def model(request: Request) -> Answer:
        if results.exists():
            os.kill(process.pid, signal.SIGINT)
            time.sleep(0.2)
        return first(request)

    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # also in the background
    with LoopbackServer(api(["llama"], model)) as server:
        line = command(
            "accept", suite, "--base-url", server.base_url, "--model", "llama", "--concurrency", 1, before=heard
        )
        line += ["--results", str(results), "--json", str(report)]
        environment = {**os.environ, "COLUMNS": "150"}
        process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Error: interrupted; 1 of 4 responses are in. The same command with --resume goes on" in stderr
    assert "Traceback" not in stderr
    assert "all" in stdout
    assert cases(results) == ["kitchen"]
    assert json.loads(report.read_text("utf-8"))["missing"] == 3


def test_an_endpoint_that_never_responds_did_not_run(suite: str) -> None:
    with LoopbackServer(api(["llama"], lambda _: answer_error(500, "out of memory"))) as server:
        result = ask(server, suite)
    assert result.exit_code == 2
    assert "there was no response at all; the first error: HTTP 500: out of memory" in words(result.stderr)


def test_many_failures_are_not_all_printed(suite: str, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text('{"case": "kitchen", "output": "No."}\n' * 23, "utf-8")
    assert "and 3 more: --html or --json has them all" in words(accept(suite, "--replay", outputs).stdout)


def test_hostile_output_reaches_the_terminal_written_out(suite: str) -> None:
    with answering("a\x1b[2J[red]b[/red]", *ANSWERS[1:]) as server:
        shown = words(ask(server, suite).stdout)
    assert "\x1b" not in shown
    assert "a\\x1b[2J[red]b[/red]" in shown


def refused(*arguments: object) -> str:
    result = accept(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    return words(result.stderr)


URL = ("--base-url", "http://127.0.0.1:9/v1", "--model", "llama", "--retries", 0)


def test_what_keeps_it_from_running_is_said_in_one_message(suite: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(SUITE_YAML.replace("tool: tell_joke", "tool: tell_jok"), "utf-8")
    broken = tmp_path / "broken.jsonl"
    broken.write_text("oops\n", "utf-8")
    stranger = tmp_path / "stranger.jsonl"
    stranger.write_text('{"case": "nobody", "output": ""}\n', "utf-8")
    missing = tmp_path / "none" / "x"
    same, linked = tmp_path / "a", tmp_path / "linked"
    linked.symlink_to(tmp_path)
    for arguments, message in (
        ([], "name a SUITE, or two reports with --compare"),
        ([suite], "name an endpoint with --base-url and a model with --model, or outputs with --replay"),
        ([suite, "--base-url", "http://127.0.0.1:9/v1"], "a model with --model"),
        ([suite, *URL], "nothing answers at http://127.0.0.1:9/v1"),
        ([missing, *URL], f"{missing}: No such file or directory"),
        ([bad, *URL], "bad.yaml:19: cases[2].expect.tool: 'tell_jok' is not declared; did you mean 'tell_joke'?"),
        ([suite, "--replay", missing], f"{missing}: No such file or directory"),
        ([suite, "--replay", broken], f"{broken}:1: not JSON"),
        ([suite, "--replay", stranger], f"{stranger}: a response to the case 'nobody', which Home does not have"),
        ([suite, *URL, "--results", broken, "--resume"], f"{broken}:1: not JSON"),
        ([suite, *URL, "--results", stranger, "--resume"], f"{stranger} was not written by --results"),
        ([suite, *URL, "--html", missing], f"{missing}: is a folder, or in a folder that is not there"),
        ([suite, *URL, "--json", tmp_path], f"{tmp_path}: is a folder"),
        ([suite, *URL, "--resume"], "--resume goes on with a file: name it with --results"),
        ([suite, *URL, "--prompt-format", "yaml"], "--prompt-format is one of json, function"),
        ([suite, *URL, "--extra-body", "{"], "not JSON"),
        ([suite, *URL, "--extra-body", "7"], "expected a JSON object"),
        ([suite, "--compare", broken, broken], "--compare takes two reports and no SUITE"),
        ([suite, *URL, "--extra-body", "[" * 100_000], "not JSON"),
        ([suite, *URL, "--extra-body", '{"a": NaN}'], "not JSON"),
        ([suite, *URL, "--timeout", "nan"], "nan is not finite"),
        ([suite, *URL, "--timeout", "inf"], "inf is not finite"),
        ([suite, *URL, "--temperature", "nan"], "nan is not finite"),
        ([suite, *URL, "--repeats", "1000000000"], "1000000000 is not in the range"),
        ([suite, *URL, "--json", suite], f"{suite} is named twice, by SUITE and by --json"),
        ([suite, *URL, "--json", same, "--html", linked / "a"], "is named twice, by --json and by --html"),
        ([suite, *URL, "--results", bad, "--junit", bad], f"{bad} is named twice, by --results and by --junit"),
        ([suite, "--replay", broken, "--html", broken], f"{broken} is named twice, by --replay and by --html"),
        (
            [suite, "--replay", broken, "--results", bad, "--resume"],
            "--replay asks nobody: leave out --results, --resume",
        ),
        ([suite, "--replay", broken, "--repeats", 2], "--replay asks nobody: leave out --repeats"),
        (["--compare", broken, broken, "--html", bad], "--compare reads two reports and no more: leave out --html"),
        (["--compare", broken, broken], f"{broken}: not JSON"),
        (["--compare", missing, broken], f"{missing}: No such file or directory"),
    ):
        assert message in refused(*arguments)


def test_a_report_that_cannot_be_written_loses_no_other(suite: str, tmp_path: Path) -> None:
    full, page = Path("/dev/full"), tmp_path / "a.html"
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with answering(*ANSWERS) as server:
        result = ask(server, suite, "--json", full, "--html", page)
    assert result.exit_code == 2
    assert "/dev/full: No space left on device" in words(result.stderr)
    assert page.exists()


def test_a_results_file_that_cannot_be_written_ends_the_run_and_shows_what_is_in(suite: str) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with answering(*ANSWERS) as server:
        result = ask(server, suite, "--results", full)
    assert result.exit_code == 2
    assert "/dev/full: No space left on device; 1 of 4 responses are in" in words(result.stderr)
    assert "set_light 1/1" in words(result.stdout)


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    path = tmp_path / "outputs.jsonl"
    lines = zip(("kitchen", "dim", "joke", "hello"), ANSWERS, strict=True)
    path.write_text("".join(json.dumps({"case": case, "output": text}) + "\n" for case, text in lines), "utf-8")
    return path


def test_a_reader_who_goes_away_costs_no_report(suite: str, outputs: Path, tmp_path: Path) -> None:
    report = tmp_path / "a.json"
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        ended = done("accept", suite, "--replay", outputs, "--json", report, stdout=closed)
    assert (ended.returncode, ended.stderr) == (2, "")
    assert len(json.loads(report.read_text("utf-8"))["results"]) == 4


@pytest.mark.parametrize("subcommand", ["accept", "extract"])
def test_a_full_disk_is_an_error_of_its_own(suite: str, outputs: Path, tmp_path: Path, subcommand: str) -> None:
    full, report = Path("/dev/full"), tmp_path / "a.json"
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    arguments = [suite, "--replay", outputs, "--json", report] if subcommand == "accept" else [outputs]
    with full.open("w") as file:
        ended = done(subcommand, *arguments, stdout=file)
    assert (ended.returncode, ended.stderr) == (2, "Error: the output: No space left on device\n")
    assert report.exists() is (subcommand == "accept")


def test_what_a_terminal_cannot_show_is_written_out(suite: str, outputs: Path) -> None:
    outputs.write_text(
        '{"case": "hello", "output": "{\\"name\\": \\"gr\u00fc\u00df\\", \\"parameters\\": {}}"}', "utf-8"
    )
    ended = done("accept", suite, "--replay", outputs, encoding="ascii")
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "gr\\xfc\\xdf" in ended.stdout


def test_a_fault_of_its_own_is_no_failed_case(suite: str, outputs: Path) -> None:
    fault = "import llama3_tools.cli.acceptance_run as run; del run.print_results"
    ended = done("accept", suite, "--replay", outputs, before=fault)
    assert ended.returncode == 2
    assert "NameError" in ended.stderr


def test_what_a_server_says_cannot_command_the_terminal(suite: str, tmp_path: Path) -> None:
    hostile = answer_error(401, "a\x1b[2J\u202eb")
    with answering(KITCHEN, hostile) as server:
        result = ask(server, suite)
    assert "refuses the key (HTTP 401): a\\x1b[2J\\u202eb" in words(result.stderr)
    strange = tmp_path / "\x1b[2J.yaml"
    assert "\\x1b[2J.yaml: No such file" in refused(strange, *URL)


@pytest.fixture
def reports(suite: str, tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    with answering(*ANSWERS, *["No."] * 4) as server:
        ask(server, suite, "--json", before)
        ask(server, suite, "--json", after)
    return before, after


def test_a_comparison_says_what_changed(reports: tuple[Path, Path]) -> None:
    result = accept("--compare", *reports)
    shown = words(result.stdout)
    assert result.exit_code == 1
    assert "parsed 75 % (30 to 95) 50 % (15 to 85) 0 1 1" in shown
    assert "after coercion 100 % (51 to 100) 50 % (15 to 85) 0 2 0.5" in shown
    assert "parsed: broken kitchen passed → direct_answer_not_allowed" in shown
    assert "parsed: fails for another reason dim wrong_type → direct_answer_not_allowed" in shown


def changed(report: Path, **changes: object) -> Path:
    """Write a report again, with some of it changed."""
    path = report.with_name("changed.json")
    path.write_text(json.dumps({**json.loads(report.read_text("utf-8")), **changes}), "utf-8")
    return path


def results_of(report: Path) -> list[dict[str, Any]]:
    return list(json.loads(report.read_text("utf-8"))["results"])


def test_what_passed_before_and_is_missing_now_is_a_loss(reports: tuple[Path, Path]) -> None:
    whole, part = reports[0], changed(reports[0], results=results_of(reports[0])[1:])
    lost = accept("--compare", whole, part)
    assert lost.exit_code == 1
    assert "only in before.json: kitchen" in words(lost.stdout)
    assert "parsed: passed before, and missing now: kitchen" in words(lost.stdout)
    assert accept("--compare", part, whole).exit_code == 0


def test_what_failed_before_and_is_missing_now_is_none(reports: tuple[Path, Path]) -> None:
    kitchen, dim, joke, hello = results_of(reports[0])
    part = changed(reports[0], results=[kitchen, joke, hello])
    assert dim["parsed"]["verdict"] == "wrong_type"
    assert [accept("--compare", reports[0], part, "--score", score).exit_code for score in ("parsed", "coerced")] == [
        0,
        1,
    ]


def test_reports_without_a_common_response_cannot_be_compared(reports: tuple[Path, Path]) -> None:
    other = changed(reports[0], results=[{**one, "case": f"other {one['case']}"} for one in results_of(reports[0])])
    assert "have no response in common: are they of one suite?" in refused("--compare", reports[0], other)


def test_a_comparison_says_how_the_runs_differ(reports: tuple[Path, Path]) -> None:
    report = json.loads(reports[0].read_text("utf-8"))
    other = changed(
        reports[0],
        run={**report["run"], "fingerprint": "0", "model": "llama\x1b", "settings": {"temperature": 1}},
        policies={**report["policies"], "strict": True},
    )
    assert accept("--compare", reports[0], other).stdout.splitlines()[:5] == [
        'model: "llama" → "llama\\u001b"',
        "temperature: 0.0 → 1",
        "max_tokens: 1024 → none",
        "strict: false → true",
        "the suite asks something else now: its tools, prompt or commands have changed",
    ]
    assert "→" not in accept("--compare", reports[0], reports[0]).stdout


@pytest.mark.parametrize(
    "changes",
    [
        {"results": 7},
        {"results": [7]},
        {"results": [{"case": "kitchen", "repeat": "x"}]},
        {"results": [{"case": "kitchen", "repeat": -1}]},
        {"results": [{"case": "kitchen", "repeat": 1e999}]},
        {"run": 7},
        {"run": {"suite": "", "fingerprint": "", "model": "", "settings": 7}},
        {"policies": None},
    ],
)
def test_a_broken_report_is_named(reports: tuple[Path, Path], changes: dict[str, object]) -> None:
    broken = changed(reports[0], **changes)
    assert f"{broken}: a broken report: " in refused("--compare", reports[0], broken)


@pytest.mark.parametrize(("score", "status"), [("parsed", 0), ("coerced", 1)])
def test_the_score_decides_the_status_of_a_comparison(reports: tuple[Path, Path], score: str, status: int) -> None:
    dim = results_of(reports[0])[1]
    worse = changed(reports[0], results=[{**dim, "coerced": dim["parsed"]}])
    assert accept("--compare", reports[0], worse, "--score", score).exit_code == 1  # the others are missing
    alone = reports[0].with_name("alone.json")
    alone.write_text(json.dumps({**json.loads(reports[0].read_text("utf-8")), "results": [dim]}), "utf-8")
    assert accept("--compare", alone, worse, "--score", score).exit_code == status


def test_a_comparison_without_a_loss_succeeds(reports: tuple[Path, Path]) -> None:
    before, after = reports
    assert accept("--compare", after, before).exit_code == 0
    assert accept("--compare", before, before).exit_code == 0


def test_without_its_packages_accept_says_what_to_install(suite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    assert "pip install 'llama3-tools[acceptance]'" in refused(suite, *URL)


def test_odd_responses_lose_no_other(suite: str, tmp_path: Path) -> None:
    report = tmp_path / "a.json"
    odd: list[str | Answer] = [
        Answer((b"<html>",), "text/html"),
        answer_json({"choices": [{"message": {"content": None}}]}),
    ]
    with answering(*odd, *ANSWERS[2:]) as server:
        result = ask(server, suite, "--json", report)
    assert result.exit_code == 1
    verdicts = [one["parsed"]["verdict"] for one in json.loads(report.read_text("utf-8"))["results"]]
    assert verdicts == ["no_response", "missing_call", "passed", "passed"]
