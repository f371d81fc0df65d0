"""What keeps `llama3-tools accept` from its end: one message, status 2, and no report lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import URL, accept, answering, ask, refused, words
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


def test_a_report_that_cannot_be_written_loses_no_other(suite: str, outputs: Path, tmp_path: Path) -> None:
    full, page = tmp_path / f"\x1b{'x' * 150}", tmp_path / "a.html"
    full.symlink_to("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    result = accept(suite, "--replay", outputs, "--json", full, "--html", page)
    assert (result.exit_code, page.exists()) == (2, True)
    assert result.stderr == f"Error: {tmp_path}/\\x1b{'x' * 150}: No space left on device\n"


def test_what_a_server_says_cannot_command_the_terminal(suite: str, tmp_path: Path) -> None:
    hostile = answer_error(401, "a\x1b[2J\u202eb")
    with answering(KITCHEN, hostile) as server:
        result = ask(server, suite)
    assert "refuses the key (HTTP 401): a\\x1b[2J\\u202eb" in words(result.stderr)
    strange = tmp_path / "\x1b[2J.yaml"
    assert "\\x1b[2J.yaml: No such file" in refused(strange, *URL)
