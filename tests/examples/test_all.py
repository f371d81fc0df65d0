"""What holds for every example that asks an endpoint: what its first lines say, whose key it sends, its colours."""

from __future__ import annotations

import importlib
import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from endpoints.script import Turn, scripted
from endpoints.server import LoopbackServer
from endpoints.wire import api

ROOT = Path(__file__).parents[2]
FIRST = {
    "langchain_agent": "langchain",
    "langchain_chain": "langchain_core",
    "langgraph_agent": "langchain_core",
    "llamaindex_agent": "llama_index",
    "llamaindex_react": "llama_index",
    "llamaindex_workflow": "llama_index",
    "quickstart": "rich",
    "strict_format": "openai",
}
"""The examples, and what each imports first of what the extra `demo` brings."""
BROUGHT = ["langchain", "langchain_core", "langchain_openai", "langgraph", "llama_index", "openai", "rich"]

pytestmark = [
    # LlamaIndex's own ReActAgent asks its context, from within a step, whether it runs.
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),
    pytest.mark.parametrize("name", FIRST),
]


def main_of(name: str) -> Callable[[list[str]], int]:
    module = importlib.import_module(name)
    main: Callable[[list[str]], int] = getattr(module, "main", None) or module.PROGRAM.main
    return main


def test_its_first_lines_say_how_to_run_it_and_where_to_point_it(name: str) -> None:
    first = importlib.import_module(name).__doc__ or ""
    assert "Run it from a clone" in first
    assert "pip install '.[demo]'" in first
    servers = re.findall(
        r"^\| (.+?) \| `(http://localhost:\d+/v1)` \|", (ROOT / "docs/servers.md").read_text("utf-8"), re.MULTILINE
    )
    assert len(servers) == 4
    for title, address in servers:
        server = title.removeprefix("llama.cpp's ")
        line = rf"^    {server} +python {name}\.py --base-url {address}(?: --model llama3\.1)?$"
        assert re.search(line, first, re.MULTILINE)
    assert "OPENAI_BASE_URL and OPENAI_API_KEY also set the server" in first


def test_a_missing_package_is_one_line_that_installs_it(name: str) -> None:
    example = ROOT / f"examples/{name}.py"
    program = f"""
import runpy, sys
sys.path[:0] = {[str(example.parent)]!r}
sys.modules.update(dict.fromkeys({BROUGHT}))
runpy.run_path({str(example)!r}, run_name="__main__")
"""
    command = [sys.executable, "-c", program, "--help"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    (told,) = ended.stderr.splitlines()
    assert re.search(rf"\b{FIRST[name]}\b.*: in the clone of llama3-tools, run pip install '\.\[demo\]'$", told)


def test_the_key_of_the_environment_goes_to_the_endpoint(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    with LoopbackServer(api(["first"], scripted(itertools.repeat(Turn(pieces=("Hello.",)))))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        main_of(name)([])
    assert len(server.requests) > 1
    assert {request.api_key for request in server.requests} == {"sesame"}


def test_it_has_colours_where_they_are_wanted(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for wanted in (True, False):
        if wanted:
            monkeypatch.setenv("FORCE_COLOR", "1")
        else:
            monkeypatch.delenv("FORCE_COLOR")
        assert main_of(name)(["--pause", "0"]) == 0
        assert ("\x1b[" in capsys.readouterr().out) is wanted
