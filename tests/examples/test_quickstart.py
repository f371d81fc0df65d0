"""The demo, as a user runs it."""

from __future__ import annotations

import re
import sys

import pytest

import quickstart
from endpoints import program
from endpoints.demo import RECORDED


def test_it_shows_raw_text_beside_content_and_calls_in_both_frameworks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["quickstart.py", "--pause", "0"])
    assert program.run(quickstart.main, "") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    langchain, llama_index = printed.out.split("LlamaIndex  ")
    for output, message in ((langchain, "AIMessage"), (llama_index, "ChatMessage")):
        assert output.count("Question  ") == output.count(message) == len(RECORDED)
        assert 'call  get_weather {"city": "Rome"}' in output
        assert "not a call  search_web is malformed" in output
        assert re.search(r"tool_calls \['search_web'\]|ToolCallBlocks \['search_web'\]", output)
