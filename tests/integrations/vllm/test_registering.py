"""How vLLM finds the parser: by the entry point of the installed package, or as a file."""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import EntryPoint

import pytest
from vllm.tool_parsers import ToolParserManager

import vllm_llama3_tools.tool_parser
from server_outputs import entry_point_of


@pytest.fixture(autouse=True)
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with a vLLM that knows no parser of ours."""
    for parsers in ("tool_parsers", "lazy_parsers"):
        others = {name: one for name, one in getattr(ToolParserManager, parsers).items() if name != "llama3_tools"}
        monkeypatch.setattr(ToolParserManager, parsers, others)


def test_the_entry_point_makes_the_parser_known_by_its_name() -> None:
    EntryPoint("llama3_tools", entry_point_of("vllm.general_plugins"), "vllm.general_plugins").load()()
    assert ToolParserManager.lazy_parsers["llama3_tools"] == ("vllm_llama3_tools.tool_parser", "Llama3ToolParser")
    parser = ToolParserManager.get_tool_parser("llama3_tools")
    assert parser is vllm_llama3_tools.tool_parser.Llama3ToolParser


def test_the_parser_is_a_file_of_its_own_too_for_the_option_that_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    file = vllm_llama3_tools.tool_parser.__file__
    spec = importlib.util.spec_from_file_location("tool_parser", file)  # as vLLM loads it
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "tool_parser", module)
    spec.loader.exec_module(module)
    assert ToolParserManager.get_tool_parser("llama3_tools") is module.Llama3ToolParser
