"""The example of the strict response format, as a user runs it: embedded, against endpoints, and against wrong ones."""

from __future__ import annotations

import jsonschema
import openai
import pytest

import strict_format
from endpoints.assistant import TOOLS
from endpoints.recordings import Recording
from endpoints.script import Turn, cut_at, scripted
from endpoints.server import LoopbackServer
from endpoints.strict import response_format
from endpoints.wire import api
from llama3_tools import response_json_schema
from programs import run_program

CALL = '{"message": "On it.", "tool_call": {"name": "search_web", "arguments": {"query": "soup"}}}'


def test_as_it_is_it_replays_answers_that_keep_to_the_format(recordings: dict[str, Recording]) -> None:
    result = run_program(strict_format.__file__, "--pause", "0")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Replaying recorded streams of SmolLM2-135M at http://127.0.0.1:")
    assert lines[2:6] == [
        "Question Look up the opening hours of the Louvre.",
        f"output   {recordings['strict-call'].text}",
        "message  One moment.",
        'call     search_web {"query": "Louvre opening hours"}',
    ]
    assert 'call     set_timer {"minutes": 25, "label": "bread"}' in lines
    assert lines[-1] == "3 of 3 answers kept to the format."


def test_it_asks_the_endpoint_that_is_named_and_says_which_answers_did_not_keep_to_the_format(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = [Turn(pieces=cut_at(text)) for text in (CALL, f"Sure! {CALL}")]
    with LoopbackServer(api(["llama3.1"], scripted(answers))) as server:
        assert strict_format.main(["--base-url", server.base_url, "Find soup.", "Find more."]) == 1
    printed = capsys.readouterr().out
    assert f'output   {CALL}\nmessage  On it.\ncall     search_web {{"query": "soup"}}' in printed
    assert "error    text_around: 'Sure! ' before the JSON object, at offset 0." in printed
    assert printed.endswith("1 of 2 answers kept to the format.\n")
    body = server.requests[-1].body
    assert body["response_format"] == response_format("json_schema")
    assert "tools" not in body
    assert '"name": "search_web"' in str(body["messages"])
    assert "Find more." in str(body["messages"])


def test_it_sends_the_schema_as_the_server_wants_it() -> None:
    with LoopbackServer(api(["m"], scripted([Turn(pieces=(CALL,))]))) as server:
        assert strict_format.main(["--base-url", server.base_url, "--response-format", "json_object", "Soup?"]) == 0
    assert server.requests[-1].body["response_format"] == response_format("json_object")


def test_beside_json_object_each_string_is_held_to_one_line_with_an_end() -> None:
    plain = response_format("json_schema")["json_schema"]["schema"]
    assert plain == response_json_schema(TOOLS)
    validator = jsonschema.Draft202012Validator(response_format("json_object")["schema"])

    def takes(message: str, query: str) -> bool:
        call = {"name": "search_web", "arguments": {"query": query}}
        return validator.is_valid({"message": message, "tool_call": call})

    assert takes("On it.", "soup")
    assert not takes("a\nb", "soup")
    assert not takes("On it.", "a\nb")
    assert not takes("a" * 121, "soup")


def test_one_line_says_what_is_wrong(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "DEFAULT_MAX_RETRIES", 0)
    with LoopbackServer(api(["first"], scripted([]))) as server:
        url = server.base_url
        assert strict_format.main(["--base-url", url]) == 1
        assert f"strict_format: {url} answers with HTTP 500" in capsys.readouterr().err
    assert strict_format.main(["--base-url", url]) == 1
    assert f"strict_format: Nothing answers at {url}" in capsys.readouterr().err
