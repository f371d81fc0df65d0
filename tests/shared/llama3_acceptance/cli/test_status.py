"""What keeps `llama3-tools accept` from its end: one message, status 2, and no report lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

import pytest

from commands import URL, accept, answering, ask, refused
from endpoints.wire import answer_error
from runs import KITCHEN, SUITE_YAML


@pytest.fixture
def places(suite: str, tmp_path: Path) -> dict[str, object]:
    """Return the files that the arguments and messages below name."""
    (tmp_path / "bad.yaml").write_text(SUITE_YAML.replace("tool: tell_joke", "tool: tell_jok"), "utf-8")
    (tmp_path / "broken").write_text("oops\n", "utf-8")
    (tmp_path / "stranger").write_text('{"case": "nobody", "output": ""}\n', "utf-8")
    (tmp_path / "linked").symlink_to(tmp_path)
    return {"here": tmp_path, "suite": suite, "missing": tmp_path / "none" / "x"}


ASKED = ("$suite", *URL)
JSON_PROBLEMS = [
    ("{", "not JSON: Expecting property name"),
    ("7", "expected a JSON object"),
    ("[" * 100_000, "nested too deep to be read"),
]
NO_SUITE = "name a SUITE, or two reports with --compare"
NOBODY = "name an endpoint with --base-url and a model with --model, or outputs with --replay"
NO_PLACE = "cannot be written: it is a folder, or its folder does not exist"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], NO_SUITE),
        (["$suite"], NOBODY),
        (ASKED, "nothing answers at http://127.0.0.1:9/v1"),
        ([*ASKED, "--base-url", "ftp://127.0.0.1"], "'ftp://127.0.0.1' is not an address: it has to start with"),
        (["$missing", *URL], "$missing: No such file or directory"),
        (
            ["$here/bad.yaml", *URL],
            "$here/bad.yaml:19: cases[2].expect.tool: 'tell_jok' is not declared; did you mean 'tell_joke'?",
        ),
        (["$suite", "--replay", "$here/broken"], "$here/broken:1: not JSON"),
        (
            ["$suite", "--replay", "$here/stranger"],
            "$here/stranger: a response to the case 'nobody', which Home does not have",
        ),
        ([*ASKED, "--results", "$here/broken", "--resume"], "$here/broken:1: not JSON"),
        ([*ASKED, "--html", "$missing"], f"$missing: {NO_PLACE}"),
        ([*ASKED, "--resume"], "--resume continues a file: name it with --results"),
        *(([*ASKED, "--extra-body", body], f"Invalid value for '--extra-body': {why}") for body, why in JSON_PROBLEMS),
        (["$suite", "--compare", "$here/broken", "$here/broken"], "--compare takes two reports and no SUITE"),
        ([*ASKED, "--timeout", "nan"], "Invalid value for '--timeout': 'nan' is not a finite number"),
        ([*ASKED, "--temperature", "nan"], "Invalid value for '--temperature': 'nan' is not a finite number"),
        ([*ASKED, "--temperature", "inf"], "Invalid value for '--temperature': 'inf' is not a finite number"),
        ([*ASKED, "--repeats", "1000000000"], "Invalid value for '--repeats': 1000000000 is not in the range"),
        (
            [*ASKED, "--json", "$here/a", "--html", "$here/linked/a"],
            "$here/linked/a is named twice, by --json and by --html",
        ),
        ([*ASKED, "--json", "/dev/null", "--html", "/dev/null", "--junit", "$suite"], "$suite is named twice"),
        (
            ["$suite", "--replay", "$here/broken", "--results", "$here/b", "--resume"],
            "--replay asks nobody: leave out --results, --resume",
        ),
        (
            [*ASKED, "--fail-fast", "--min-pass", "50%"],
            "--fail-fast stops at a failure that --min-pass lets pass: leave out --fail-fast",
        ),
        ([*ASKED, "--min-pass", "80"], "--min-pass: '80' is not a share"),
        (
            ["--compare", "$here/broken", "$here/broken", "--html", "$here/b", "--fail-fast"],
            "--compare reads two reports and no more: leave out --fail-fast, --html",
        ),
    ],
)
def test_what_keeps_it_from_running_is_said_in_one_message(
    places: dict[str, object], arguments: Sequence[object], message: str
) -> None:
    said = refused(*(Template(str(argument)).safe_substitute(places) for argument in arguments))
    assert said.rpartition("Error: ")[2].startswith(Template(message).safe_substitute(places))


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
    with answering(KITCHEN, hostile, hostile) as server:
        said = [ask(server, suite).stderr for _ in range(2)]
        refusal = f"Error: {server.base_url} refuses the key (HTTP 401): a\\x1b[2J\\u202eb"
    assert said == [f"{refusal}; 1 of 4 responses are in. With --results FILE, a run can be resumed\n", f"{refusal}\n"]
    strange = tmp_path / "\x1b[2J.yaml"
    assert "\\x1b[2J.yaml: No such file" in refused(strange, *URL)
