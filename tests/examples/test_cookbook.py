"""The cookbook: each program runs as it is, and each page shows it."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import hosted
import nightly
import old_logs
import pytest
import structured_output
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from endpoints import program
from endpoints.script import Turn, scripted
from endpoints.server import LoopbackServer
from endpoints.wire import answer_json, api

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "cookbook"
PAGES = sorted(path for path in (ROOT / "docs/cookbook").glob("*.md") if path.stem != "index")
PRINTED = {
    "approval": ["20 euros of order 4711 are refunded", "It was order 4711"],
    "supervisor": ["look_up('Oslo')", "multiply(17, 23)", "mayor of Oslo. 17 times 23 is 391"],
    "handoffs": ["handoff {'to_agent': 'shipping'", "track {'parcel': 77}", "Parcel 77 is in Hamburg."],
    "rag": ["handbook {'input':", "28 days of holidays a year.\nHolidays"],
    "structured_output": ["Ticket(title='Invoice 4711 is wrong', priority='high', days=3)"],
    "mcp_tools": ["tool: 42 apples are in stock"],
    "thinking": ["thought: For Oslo, I would call", "calls:   [{'city': 'Bergen'}]", "text:    Rain in Bergen."],
    "hosted": ["the host's calls: []", "the wrapper's:    [{'city': 'Paris'}]"],
}


def run(name: str, monkeypatch: pytest.MonkeyPatch, *arguments: str, answer: str = "yes") -> int:
    """Run a program of the cookbook, and answer what it asks."""
    module = importlib.import_module(name)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--pause", "0", *arguments])
    monkeypatch.setattr("builtins.input", lambda _: answer)
    return program.run(module.main, module.__doc__, "suite" if name == "nightly" else "")


@pytest.mark.parametrize("name", PRINTED)
def test_it_runs_without_a_model(name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    if name == "mcp_tools":
        pytest.importorskip("langchain_mcp_adapters", reason="the extra `demo` is not installed")
    assert run(name, monkeypatch) == 0
    printed = capfd.readouterr().out
    assert [text for text in PRINTED[name] if text not in printed] == [], printed


def test_a_person_may_refuse(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("approval", monkeypatch, answer="no") == 0
    assert "A person refused this refund." in capsys.readouterr().out


def test_the_nightly_run_keeps_its_reports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("nightly", monkeypatch, str(nightly.WORDS)) == 0
    (report,) = tmp_path.glob("reports/words-*.json")
    assert len(json.loads(report.read_text("utf-8"))["results"]) == 10
    assert sorted(path.suffix for path in tmp_path.glob("reports/*")) == [".html", ".json", ".xml"]


def test_a_log_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    counts = old_logs.count(FOLDER / "log.jsonl", FOLDER / "tools.json")
    assert counts == {"call": 2, "text alone": 2, "truncated": 1, "unknown_tool": 1}
    assert "line 3: truncated" in capsys.readouterr().out


def chat(server: LoopbackServer) -> ChatOpenAI:
    return ChatOpenAI(base_url=server.base_url, api_key=SecretStr("none"), model="llama3.1", max_retries=0)


def test_what_a_host_refused_is_read() -> None:
    failed = '<function=get_weather>{"city": "Oslo"}</function>'
    body = {"error": {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": failed}}
    with LoopbackServer(api(["llama3.1"], scripted([answer_json(body, status=400)]))) as server:
        calls = hosted.calls_of_the_host(chat(server))
    assert [call["args"] for call in calls] == [{"city": "Oslo"}]


def test_an_object_that_does_not_fit_is_an_error_that_says_so() -> None:
    with LoopbackServer(api(["llama3.1"], scripted([Turn(pieces=("I cannot.",))] * 2))) as server:
        assert "no ticket: " in str(structured_output.ticket_of(chat(server), "Hello"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(["--base-url", "{port}/v1", "--model", "llama4"], "the server has no model 'llama4'", id="model"),
        pytest.param(["--base-url", "{port}"], "Is it {port}/v1?", id="no /v1"),
        pytest.param(["--base-url", "{port}", "--model", "llama3.1"], "does the address end in /v1?", id="path"),
        pytest.param(["--base-url", "http://127.0.0.1:9/v1"], "Nothing answers at http://127.0.0.1:9/v1", id="port"),
    ],
)
def test_a_wrong_endpoint_is_named_without_a_traceback(
    arguments: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer(api(["llama3.1"], scripted([]))) as server:
        port = server.base_url.removesuffix("/v1")
        assert run("thinking", monkeypatch, *(each.format(port=port) for each in arguments)) == 1
    printed = capsys.readouterr()
    assert told.format(port=port) in printed.err
    assert "Traceback" not in printed.err


def test_the_environment_names_the_endpoint_and_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    with LoopbackServer(api(["first"], scripted([Turn(pieces=("Hello.",))] * 2))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert run("hosted", monkeypatch) == 0
    assert {request.api_key for request in server.requests} == {"sesame"}
    assert [request.body.get("model") for request in server.requests] == [None, "first", "first"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_its_program(page: Path) -> None:
    text = page.read_text("utf-8")
    programs = "\n".join(
        path.read_text("utf-8")
        for path in ROOT.glob("examples/*/*.*")
        if path.suffix not in {".jsonl", ".pyc"} and path.is_file()
    )
    shown = re.findall(r"^```(?:python|javascript)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [part for block in shown for part in block.split("\n\n\n") if part.strip() not in programs] == []
