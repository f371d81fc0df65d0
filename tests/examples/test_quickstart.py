"""The demo, as a user runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import quickstart
from endpoints.demo import RECORDED

ROOT = Path(__file__).parents[2]


def test_it_shows_raw_text_beside_content_and_calls_in_both_frameworks() -> None:
    ended = subprocess.run(
        [sys.executable, quickstart.__file__, "--pause", "0"],
        env={"PYTHONPATH": f"{ROOT / 'shared'}:{ROOT / 'integrations'}", "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    langchain, llama_index = ended.stdout.split("LlamaIndex  ")
    for output, message in ((langchain, "AIMessage"), (llama_index, "ChatMessage")):
        assert output.count("Question  ") == output.count(message) == len(RECORDED)
        assert 'call  get_weather {"city": "Rome"}' in output
        assert "not a call  search_web is malformed" in output
        assert re.search(r"tool_calls \['search_web'\]|ToolCallBlocks \['search_web'\]", output)
    assert "\x1b" not in ended.stdout


def test_its_first_lines_have_the_addresses_of_the_documentation() -> None:
    page = (ROOT / "docs/servers.md").read_text("utf-8")
    addresses = re.findall(r"^\| .+? \| `(http://localhost:\d+/v1)` \|", page, re.MULTILINE)
    assert addresses
    assert [address for address in addresses if address not in str(quickstart.__doc__)] == []
