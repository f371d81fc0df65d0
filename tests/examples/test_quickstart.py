"""The demo, as a user runs it: against the recordings, against an endpoint of one's own, and against wrong ones."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import openai
import pytest

import quickstart
from endpoints.assistant import chat_messages
from endpoints.questions import SHOWN
from endpoints.script import Turn, cut_at, scripted
from endpoints.server import Answer, LoopbackServer, Responder
from endpoints.wire import answer_error, answer_events, api
from programs import run_program

PAGE = Answer((b"<!doctype html>",), "text/html")
FRAMEWORKS = 2

Serve = Callable[[Responder], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve until the end of the test, and give the base URL."""
    servers: list[LoopbackServer] = []

    def start(respond: Responder) -> str:
        servers.append(LoopbackServer(respond).__enter__())
        return servers[-1].base_url

    yield start
    for server in servers:
        server.__exit__(None, None, None)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_program(quickstart.__file__, *arguments, **environment)


def cells(output: str, column: int) -> str:
    """Join what stands in one column of the tables."""
    rows = [line.split("│") for line in output.splitlines() if line.startswith("│")]
    return " ".join(row[column].strip() for row in rows)


@pytest.fixture(scope="module")
def replay() -> str:
    """What the demo prints as a program, where no terminal reads it."""
    result = run("--pause", "0")
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


class TestReplay:
    def test_it_shows_raw_text_beside_content_and_calls_in_both_frameworks(self, replay: str) -> None:
        langchain, llama_index = replay.split("LlamaIndex  ")
        for output, message in ((langchain, "AIMessage"), (llama_index, "ChatMessage")):
            assert output.count("Question  ") == len(SHOWN)
            assert output.count(message) >= len(SHOWN)
            assert '; {"name": "get_weather",' in cells(output, 1)
            assert "text  Let me search for that." in cells(output, 2)
            assert 'call  search_web {"query": "pumpkin soup"}' in cells(output, 2)
            assert 'call  get_weather {"city": "Oslo"}' in cells(output, 2)
            assert 'call  get_weather {"city": "Rome"}' in cells(output, 2)
            assert "not a call  search_web is malformed" in cells(output, 2)
            assert re.search(r"tool_calls \['search_web'\]|ToolCallBlocks \['search_web'\]", output)
        assert "Ask your own model" in llama_index
        assert "llama3-tools serve --upstream" in replay.splitlines()[-1]

    def test_a_plain_terminal_gets_plain_text(self, replay: str) -> None:
        assert "\x1b" not in replay
        assert "\r" not in replay
        assert max(map(len, replay.splitlines())) < 132

    def test_a_terminal_that_knows_only_ascii_gets_only_ascii(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.MonkeyPatch.context() as patched, io.TextIOWrapper(io.BytesIO(), encoding="ascii") as terminal:
            patched.setattr(sys, "stdout", terminal)
            assert quickstart.main(["--pause", "0", SHOWN[0].question]) == 0
            terminal.flush()
            printed = terminal.buffer.getvalue().decode("ascii")
        assert capsys.readouterr().err == ""
        assert "search_web" in printed

    def test_colours_can_be_forced_and_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        question = SHOWN[0].question
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("FORCE_COLOR", "1")
            assert quickstart.main(["--pause", "0", question]) == 0
            coloured = capsys.readouterr().out
            environment.setenv("NO_COLOR", "1")
            assert quickstart.main(["--pause", "0", question]) == 0
            plain = capsys.readouterr().out
        colour = re.compile(r"\x1b\[[\d;]*3\d[\d;]*m")
        assert colour.search(coloured)
        assert not colour.search(plain)
        assert "search_web" in plain

    def test_a_question_that_was_not_recorded_says_what_to_do(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert quickstart.main(["--pause", "0", "What now?"]) == 1
        assert re.match(r"quickstart: .*replays recordings.*ask.*live endpoint", capsys.readouterr().err, re.IGNORECASE)


class TestOwnEndpoint:
    def test_base_url_and_model_are_those_of_the_command_line(
        self, serve: Serve, capsys: pytest.CaptureFixture[str]
    ) -> None:
        call = '{"name": "get_weather", "parameters": {"city": "Oslo"}}'
        turn = Turn(pieces=("Sure. ", *cut_at(call, 10, 30), " Bye."))
        url = serve(api(["first", "second"], scripted([turn, turn])))
        assert quickstart.main(["--base-url", url, "--model", "second", "How is Oslo?"]) == 0
        output = capsys.readouterr().out
        assert f"Asking second at {url}." in output
        assert output.count('call  get_weather {"city": "Oslo"}') == FRAMEWORKS
        assert output.count("content 'Sure. Bye.'") == FRAMEWORKS
        assert "Ask your own model" not in output

    def test_the_environment_names_the_endpoint_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        turn = Turn(pieces=("Hello.",))
        with LoopbackServer(api(["first"], scripted([turn, turn]))) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            assert quickstart.main(["Hi"]) == 0
        assert [request.body.get("model") for request in server.requests] == [None, "first", "first"]

    def test_tools_go_into_the_prompt_and_into_nothing_else(self) -> None:
        turn = Turn(pieces=("Hello.",))
        with LoopbackServer(api(["first"], scripted([turn, turn]))) as server:
            assert quickstart.main(["--base-url", server.base_url, "Hi"]) == 0
        for request in server.requests[1:]:
            assert request.body["messages"] == chat_messages("Hi")
            assert set(request.body) == {"model", "messages", "stream", "temperature", "max_tokens"}

    def test_an_answer_without_text_is_an_answer(self, serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
        url = serve(api(["first"], scripted([Turn(pieces=()), Turn(pieces=())])))
        assert quickstart.main(["--base-url", url, "Hi"]) == 0
        assert "AIMessage: tool_calls [], content ''" in capsys.readouterr().out


class TestWrongEndpoints:
    """Each gives one line on standard error, exit status 1, and no traceback."""

    @pytest.fixture(autouse=True)
    def one_try(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(openai, "DEFAULT_MAX_RETRIES", 0)

    @pytest.mark.parametrize(
        ("respond", "message"),
        [
            pytest.param(lambda _: PAGE, "answers, but not as an OpenAI-compatible endpoint", id="a-web-page"),
            pytest.param(
                api(["llama3.1"], scripted([])),
                "does not know the model 'llama3': The model `llama3` does not exist. It serves: llama3.1.",
                id="another-model",
            ),
            pytest.param(
                api(["llama3"], scripted([PAGE])), "answers, but not with a completion", id="a-page-for-a-completion"
            ),
            pytest.param(
                api(["llama3"], scripted([answer_events(['{"id": ', "[DONE]"])])),
                "answers, but not with a completion",
                id="events-without-json",
            ),
            pytest.param(
                api(["llama3"], scripted([answer_error(400, "no room\nfor it")])),
                "answers with HTTP 400: no room for it",
                id="a-refusal",
            ),
            pytest.param(
                api(["llama3"], scripted([answer_events(['{"error": {"message": "out of memory"}}'])])),
                "answers with an error: out of memory",
                id="an-error-in-the-stream",
            ),
            pytest.param(
                api(["llama3"], scripted([Turn(pieces=("Let me see", ' {"name": "get_'), breaks=True)])),
                " broke. ",
                id="a-stream-that-breaks",
            ),
        ],
    )
    def test_one_line_says_what_is_wrong(
        self, respond: Responder, message: str, serve: Serve, capsys: pytest.CaptureFixture[str]
    ) -> None:
        url = serve(respond)
        assert quickstart.main(["--base-url", url, "--model", "llama3", "Hi"]) == 1
        error = capsys.readouterr().err
        assert error.startswith("quickstart: ")
        assert url in error
        assert message in error
        assert error.count("\n") == 1

    def test_text_that_had_arrived_is_not_lost(self, serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
        broken = Turn(pieces=("Let me see. ", '{"name": "get_'), breaks=True)
        assert quickstart.main(["--base-url", serve(api(["llama3"], scripted([broken]))), "Hi"]) == 1
        assert 'text  Let me see. {"name": "get_' in capsys.readouterr().out

    def test_a_dead_endpoint_as_a_user_sees_it(self) -> None:
        with LoopbackServer(lambda _: PAGE) as server:
            url = server.base_url
        result = run("--base-url", url)
        assert (result.returncode, result.stdout) == (1, "")
        assert re.fullmatch(
            rf"quickstart: Nothing answers at {url} \(.*\)\. Is the server running there\?\n", result.stderr
        )

    def test_an_error_of_the_program_itself_is_not_hidden(self, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(quickstart, "chat_messages", lambda _: [])
        with pytest.raises(ValueError, match="unpack"):
            quickstart.main(["--base-url", serve(api(["llama3"], scripted([]))), "Hi"])
