"""The example of a LangChain chain, as a user runs it: embedded, against an endpoint, and against wrong ones."""

from __future__ import annotations

import openai
import pytest

import langchain_chain
from endpoints.script import Turn, cut_at, scripted
from endpoints.server import LoopbackServer
from endpoints.wire import api
from programs import run_program

CALL = '{"name": "subtract", "parameters": {"a": 5, "b": 3}}'


def test_as_it_is_it_plays_a_script() -> None:
    result = run_program(langchain_chain.__file__, "--pause", "0")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[1:] == [
        "",
        "Question: How much warmer is it in Rome than in Oslo?",
        "",
        "text    I will look up both.",
        'call    get_weather {"city": "Oslo"}',
        'call    get_weather {"city": "Rome"}',
    ]


@pytest.mark.parametrize("is_in_environment", [False, True])
def test_it_asks_the_endpoint_that_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, is_in_environment: bool
) -> None:
    turn = Turn(pieces=cut_at(f"Hm. {CALL} Wait.", 7, 30))
    with LoopbackServer(api(["first", "second"], scripted([turn]))) as server:
        if is_in_environment:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        where = [] if is_in_environment else ["--base-url", server.base_url]
        assert langchain_chain.main([*where, "--model", "second", "What is 5 - {3}?"]) == 0
    output = capsys.readouterr().out
    assert output.endswith('text    Hm.\ncall    subtract {"a": 5, "b": 3}\ntext     Wait.\n')
    request = server.requests[-1]
    assert request.body["model"] == "second"
    assert "tools" not in request.body
    assert '"name": "get_weather"' in str(request.body["messages"])
    assert "What is 5 - {3}?" in str(request.body["messages"])


def test_one_line_says_what_is_wrong(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "DEFAULT_MAX_RETRIES", 0)
    broken = Turn(pieces=("Let me see. ", '{"name": "get_'), breaks=True)
    with LoopbackServer(api(["first"], scripted([broken]))) as server:
        url = server.base_url
        assert langchain_chain.main(["--base-url", url]) == 1
        printed = capsys.readouterr()
        assert "text    Let me see." in printed.out
        assert f"langchain_chain: The connection to {url} broke" in printed.err
    assert langchain_chain.main(["--base-url", url]) == 1
    assert f"langchain_chain: Nothing answers at {url}" in capsys.readouterr().err
