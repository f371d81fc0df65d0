"""The stand-in is as SGLang's own interface is, and SGLang finds the detector: `make test-vllm`."""

from __future__ import annotations

import ast
import importlib
from typing import Any

import pytest

from interfaces import declared, is_itself, missing

pytestmark = pytest.mark.vllm

CLASSES = [pytest.param(module, node, id=f"{module}.{node.name}") for module, node in declared("sglang")]


@pytest.fixture(autouse=True)
def itself() -> None:
    """Require SGLang itself: a test of the stand-in would look like one that passed."""
    if not is_itself("sglang"):
        pytest.fail("SGLang is not installed here: run make test-vllm", pytrace=False)


@pytest.mark.parametrize(("module", "stand_in"), CLASSES)
def test_what_the_stand_in_declares_is_there_and_called_in_the_same_way(module: str, stand_in: ast.ClassDef) -> None:
    assert missing(module, stand_in) == []


def test_sglang_loads_the_plugin_and_knows_the_name_where_it_reads_its_arguments() -> None:
    importlib.import_module("sglang.srt.plugins").load_plugins()
    known: Any = importlib.import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
    assert known.ToolCallParserEnum["llama3_tools"].__module__ == "sglang_llama3_tools.detector"


def test_sglang_holds_the_model_to_a_call_in_a_form_that_is_read() -> None:
    module: Any = importlib.import_module("sglang.srt.function_call.function_call_parser")
    tool: Any = importlib.import_module("sglang.srt.entrypoints.openai.protocol").Tool
    importlib.import_module("sglang_llama3_tools").register()
    tools = [tool.model_validate({"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}})]
    kind, tag = module.FunctionCallParser(tools, "llama3_tools").get_structure_constraint("required")
    assert kind == "structural_tag"
    assert '{\\"name\\": \\"now\\", \\"parameters\\": ' in tag.model_dump_json()
