"""The programs on the live model: the demo, the recorder, the examples, and the server that ends by itself."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import langchain_agent
import langchain_chain
import langgraph_agent
import llamaindex_agent
import llamaindex_react
import llamaindex_workflow
import quickstart
from e2e.relay import TEXT, form
from endpoints.live import MODEL
from endpoints.recordings import load_recordings
from llama3_tools import extract

if TYPE_CHECKING:
    from collections.abc import Callable

    from e2e.relay import Relay
    from endpoints.live import LiveServer

pytestmark = pytest.mark.model

EXAMPLES = Path(quickstart.__file__).parent
SOURCES = [EXAMPLES, *(EXAMPLES.parent / folder for folder in ("shared", "integrations"))]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, SOURCES)), "NO_PROXY": "127.0.0.1"}

KEEP_A_SERVER = """
import time
from endpoints.live import LiveServer
with LiveServer() as live:
    print(live.base_url, flush=True)
    time.sleep(600)
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=400,
        check=False,
    )


def test_the_demo_runs_on_the_live_model_as_on_any_endpoint(live: LiveServer) -> None:
    result = run(quickstart.__file__, "--base-url", live.base_url, "--model", MODEL)
    assert (result.returncode, result.stderr) == (0, "")
    assert f"Asking {MODEL} at {live.base_url}." in result.stdout
    assert result.stdout.count("Question  ") == 2 * len(quickstart.SHOWN)
    assert result.stdout.count("the model sends") == 2 * len(quickstart.SHOWN)


def test_the_demo_starts_the_live_model_itself(live: LiveServer) -> None:
    del live  # asked for so that this fails in the same way where it is not installed
    result = run(quickstart.__file__, "--live", "Good morning!")
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search(r"Starting llama\.cpp .*\nReady after \d+ s\.\nAsking smollm2", result.stdout)
    assert "your program gets" in result.stdout


@pytest.mark.parametrize(
    ("main", "tool", "argument"),
    [
        pytest.param(langchain_chain.main, "get_weather", "city", id="langchain_chain"),
        pytest.param(langchain_agent.main, "get_weather", "city", id="langchain_agent"),
        pytest.param(langgraph_agent.main, "get_weather", "city", id="langgraph_agent"),
        pytest.param(llamaindex_agent.PROGRAM.main, "get_weather", "city", id="llamaindex_agent"),
        pytest.param(llamaindex_workflow.PROGRAM.main, "get_time", "city", id="llamaindex_workflow"),
        pytest.param(llamaindex_react.PROGRAM.main, "get_height", "mountain", id="llamaindex_react"),
    ],
)
@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")  # LlamaIndex's own
def test_an_example_runs_a_call_and_answers(
    main: Callable[[list[str]], int], tool: str, argument: str, relay: Relay, capsys: pytest.CaptureFixture[str]
) -> None:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}}
    relay.begin(form('words " " call', [{"function": {"name": tool, "parameters": parameters}}]), TEXT)
    assert main(["--base-url", relay.url, "--model", MODEL, "And where I am?"]) == 0
    output = capsys.readouterr().out
    first = extract(relay.said[0])
    [call] = first.tool_calls
    assert re.search(rf"^call +{tool} {re.escape(call.arguments_json)}$", output, re.MULTILINE), output
    assert first.content
    for text in (first.content, *relay.said[1:]):
        assert re.search(rf"^text +{re.escape(text)}", output, re.MULTILINE), output
    if main is not langchain_chain.main:  # which runs no call
        [line] = re.findall(r"^result +(.+)$", output, re.MULTILINE)
        assert line.removeprefix(f"{tool}: ") in str(relay.messages(1)[-1])


def test_the_recorder_records_what_can_be_replayed(live: LiveServer, tmp_path: Path) -> None:
    del live
    first = run("-m", "endpoints.record", "--folder", str(tmp_path), "completion-text")
    assert first.returncode == 0, first.stderr
    assert re.match(r"completion-text +new +\d+ pieces", first.stdout)
    assert list(load_recordings(tmp_path)) == ["completion-text"]
    second = run("-m", "endpoints.record", "--folder", str(tmp_path), "completion-text")
    assert re.match(r"completion-text +unchanged", second.stdout), "temperature 0 gives the same answer again"


def test_no_server_outlives_a_program_that_is_killed(live: LiveServer) -> None:
    del live
    command = [sys.executable, "-c", KEEP_A_SERVER]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        address = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/v1\n", program.stdout.readline())
        assert address is not None
        program.send_signal(signal.SIGKILL)
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", int(address[1]))) != 0:
                return
        time.sleep(0.1)
    pytest.fail("the server still answers ten seconds later")
