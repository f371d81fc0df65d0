"""The examples of LangChain agents, as a user runs them: embedded, against an endpoint, and against wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import openai
import pytest

import langchain_agent
import langgraph_agent
from endpoints.script import Turn, cut_at, scripted
from endpoints.server import LoopbackServer
from endpoints.wire import api
from programs import run_in_turn

CALL = '{"name": "subtract", "parameters": {"a": 5, "b": 3}}'

PROGRAMS = [langchain_agent.__file__, langgraph_agent.__file__]

Main = Callable[[list[str]], int]

both = pytest.mark.parametrize(
    "main", [langchain_agent.main, langgraph_agent.main], ids=["langchain_agent", "langgraph_agent"]
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: Path(path).stem)
def test_as_it_is_it_plays_a_script(program: str) -> None:
    result = run_in_turn(*PROGRAMS)[program]
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()[1:]
    lines[6:8] = sorted(lines[6:8])  # tools run side by side, and either may be ready first
    assert lines == [
        "",
        "Question: How much warmer is it in Rome than in Oslo?",
        "",
        "text    I will look up both.",
        'call    get_weather {"city": "Oslo"}',
        'call    get_weather {"city": "Rome"}',
        "result  Oslo: sunny, 7 degrees",
        "result  Rome: sunny, 24 degrees",
        "text    Now the difference.",
        'call    subtract {"a": 24, "b": 7}',
        "result  17.0",
        "text    Rome has 24 degrees and Oslo has 7, so Rome is 17 degrees warmer.",
    ]


@both
def test_it_asks_the_endpoint_of_the_command_line(main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    turns = [Turn(pieces=cut_at(f"Hm. {CALL}", 7, 30)), Turn(pieces=("It is ", "2."))]
    with LoopbackServer(api(["first", "second"], scripted(turns))) as server:
        assert main(["--base-url", server.base_url, "--model", "second", "What is 5 - 3?"]) == 0
    output = capsys.readouterr().out
    assert output.endswith('text    Hm.\ncall    subtract {"a": 5, "b": 3}\nresult  2.0\ntext    It is 2.\n')
    *_, first, second = server.requests
    assert [request.body["model"] for request in (first, second)] == ["second", "second"]
    assert "tools" not in first.body
    assert "Result of subtract: 2.0" in str(second.body["messages"])


@both
def test_and_that_of_the_environment(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer(api(["first"], scripted([Turn(pieces=("Hi.",))]))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(["Hello!"]) == 0
    assert [request.body.get("model") for request in server.requests] == [None, "first"]


@both
def test_one_line_says_what_is_wrong(
    main: Main, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "DEFAULT_MAX_RETRIES", 0)
    broken = Turn(pieces=("Let me see. ", '{"name": "get_'), breaks=True)
    with LoopbackServer(api(["first"], scripted([broken]))) as server:
        url = server.base_url
        assert main(["--base-url", url]) == 1
        printed = capsys.readouterr()
        assert printed.out.endswith('text    Let me see. {"name": "get_\n')
        assert f"_agent: The connection to {url} broke" in printed.err
        assert main(["--base-url", url, "--model", "third"]) == 1
        assert "does not know the model 'third'" in capsys.readouterr().err
    assert main(["--base-url", url]) == 1
    assert f"_agent: Nothing answers at {url}" in capsys.readouterr().err


@both
def test_colours_tell_text_and_calls_apart(
    main: Main, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["--pause", "0"]) == 0
    output = capsys.readouterr().out
    assert "\x1b[32mtext    I will" in output or "\x1b[32mtext    I" in output
    assert "\x1b[1;36mcall    subtract" in output


@both
def test_an_error_of_the_program_itself_is_not_hidden(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    import agent_program  # noqa: PLC0415 (what is broken here)

    def fail(*_: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(agent_program, "show", fail)
    with pytest.raises(ValueError, match="a bug"):
        main(["--pause", "0"])
