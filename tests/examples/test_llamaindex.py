"""The examples of LlamaIndex, as a user runs them: played, on an endpoint of one's own, and on wrong ones."""

from __future__ import annotations

from pathlib import Path

import openai
import pytest

import llamaindex_agent
import llamaindex_react
import llamaindex_workflow
from endpoints.script import Turn, scripted
from endpoints.server import Answer, LoopbackServer
from endpoints.wire import answer_error, api
from llamaindex_program import Program, written
from programs import run_in_turn

PROGRAMS = [llamaindex_agent.PROGRAM, llamaindex_workflow.PROGRAM, llamaindex_react.PROGRAM]
PAGE = Answer((b"<!doctype html>",), "text/html")

pytestmark = [
    # LlamaIndex's own ReActAgent asks its context, from within a step, whether it runs.
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),
    pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: Path(program.file).stem),
]


@pytest.fixture(autouse=True)
def one_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "DEFAULT_MAX_RETRIES", 0)


def lines(output: str, kind: str) -> list[str]:
    return [line.removeprefix(kind).strip() for line in output.splitlines() if line.startswith(kind)]


def test_it_runs_as_it_is(program: Program) -> None:
    files = [each.file for each in PROGRAMS]
    result = run_in_turn(*files, warnings_are_errors=False)[program.file]  # LlamaIndex has warnings of its own
    assert (result.returncode, result.stderr) == (0, "")
    assert f"Question  {program.question}" in result.stdout
    assert lines(result.stdout, "call")
    assert len(lines(result.stdout, "result")) == len(lines(result.stdout, "call"))
    assert "".join(program.script[-1].pieces).rpartition("Answer: ")[2] in lines(result.stdout, "text")[-1]
    assert "\x1b" not in result.stdout


def test_only_react_shows_json_in_the_text(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--pause", "0"]) == 0
    output = capsys.readouterr().out
    assert not any("{" in text for text in lines(output, "text"))
    assert ('\n{"name"' in output) is (program is llamaindex_react.PROGRAM)


def test_colours_tell_text_calls_and_results_apart(
    program: Program, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert program.main(["--pause", "0"]) == 0
    output = capsys.readouterr().out
    assert "\x1b[32mtext    " in output
    assert "\x1b[1;36mcall      get_" in output
    assert "\x1b[35mresult    get_" in output


def test_an_endpoint_of_one_s_own(
    program: Program, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = written(*("".join(turn.pieces) for turn in program.script))
    with LoopbackServer(api(["first", "second"], scripted([*answers, *answers]))) as server:
        assert program.main(["--base-url", server.base_url, "--model", "second", "And now?"]) == 0
        url = server.base_url
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        assert program.main([]) == 0
    output = capsys.readouterr().out
    assert f"Asking second at {url}." in output
    assert "Question  And now?" in output
    asked = [request.body for request in server.requests if request.body]
    assert [body["model"] for body in asked] == ["second", "second", "first", "first"]
    assert all("tools" not in body for body in asked)
    assert "get_" in str(asked[0]["messages"])


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        pytest.param(answer_error(400, "no room"), "HTTP 400: no room", id="a-refusal"),
        pytest.param(Turn(pieces=("Let me",), breaks=True), " broke. ", id="a-stream-that-breaks"),
    ],
)
def test_one_line_says_what_is_wrong(
    program: Program, turn: Turn | Answer, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer(api(["llama3.1"], scripted([turn]))) as server:
        assert program.main(["--base-url", server.base_url]) == 1
    output = capsys.readouterr()
    assert output.err.startswith(f"{Path(program.file).stem}: ")
    assert message in output.err
    assert output.err.count("\n") == 1
    assert isinstance(turn, Answer) or "text      Let me" in output.out


def test_nobody_there(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    with LoopbackServer(lambda _: PAGE) as server:
        url = server.base_url
        assert program.main(["--base-url", url]) == 1
    assert program.main(["--base-url", url]) == 1
    page, dead = capsys.readouterr().err.splitlines()
    assert "not as an OpenAI-compatible endpoint" in page
    assert "Nothing answers" in dead
