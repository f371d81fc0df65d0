"""What keeps `llama3-tools accept` from its end: one message, status 2, and no report lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from commands import ANSWERS, URL, answering, ask, command, done, refused, words
from endpoints.wire import answer_error
from runs import KITCHEN, SUITE_YAML


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
        ([suite, *URL, "--base-url", "ftp://127.0.0.1"], "'ftp://127.0.0.1' is no address: it has to start with"),
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
        ([suite, *URL, "--extra-body", "[" * 100_000], "nested too deep to be read"),
        ([suite, *URL, "--extra-body", f'{{"a": {"9" * 6000}}}'], "a number in it has more digits than Python reads"),
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


def test_an_interrupt_is_said_without_a_traceback() -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # also in the background
    with subprocess.Popen(
        command("extract", __file__, "-", before=heard),
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # from here on, it waits for standard input
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (2, "Error: interrupted\n")


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
