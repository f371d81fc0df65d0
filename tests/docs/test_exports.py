"""The public names, pinned: adding or losing one is a decision. And none hides a module."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
API_PAGES = ROOT / "docs" / "api"

EXPORTS = {
    "llama3_tools": {
        "ArgumentChange",
        "ArgumentProblem",
        "ArgumentValidator",
        "CallProgress",
        "Coercer",
        "Coercion",
        "Event",
        "Extraction",
        "ExtractionStream",
        "Extractor",
        "FormatName",
        "Formats",
        "Limits",
        "Llama3ToolsError",
        "MissingExtraError",
        "OnUnknownTool",
        "OpenAIFunction",
        "OpenAIMessage",
        "OpenAIToolCall",
        "ProblemReason",
        "PromptFormat",
        "ReadOption",
        "ReadOptions",
        "ReasoningDelta",
        "Rejection",
        "RejectionReason",
        "ResponseFormatError",
        "ResponseFormatProblem",
        "Span",
        "StreamStateError",
        "TextDelta",
        "Tool",
        "ToolCall",
        "ToolCallReady",
        "ToolChoice",
        "ToolDefinitionError",
        "ToolLike",
        "__version__",
        "coerce_arguments",
        "declare_tools",
        "extract",
        "new_call_id",
        "parse_response",
        "render_response_prompt",
        "render_tool_call",
        "render_tool_calls",
        "render_tool_prompt",
        "render_tool_result",
        "response_json_schema",
        "validate_arguments",
    },
    "llama3_tools.chat": {
        "NOT_A_COMPLETION",
        "REFUSED_TOOL_CALLS",
        "ClassCheck",
        "ArgumentChecks",
        "ChatOption",
        "ChatOptions",
        "ChatStream",
        "EndpointFault",
        "arguments_so_far",
        "OnInvalid",
        "RefusedCall",
        "RepeatedCalls",
        "Reply",
        "Report",
        "Request",
        "ToolChat",
        "ToolRole",
        "ToolsPlace",
        "chat_options",
        "class_problems",
        "endpoint_fault",
        "failed_generation",
        "Constrain",
        "ServerConstraint",
        "finish_reason_in",
        "is_complete",
        "kept_chat",
        "put_tools",
        "read_options",
        "add_advice",
        "with_advice",
    },
    "llama3_acceptance": {
        "Allowance",
        "Answer",
        "ArgumentRule",
        "Case",
        "CaseResult",
        "ExpectedCall",
        "FoundCall",
        "Judgement",
        "Judgements",
        "Policies",
        "Prompt",
        "Reading",
        "Suite",
        "SuiteCase",
        "SuiteError",
        "Verdict",
        "assert_tool_call",
        "judge",
        "load_suite",
        "read_response",
    },
    "llama3_batch": {"EXTRACTION", "extract_batch"},
    "langchain_llama3_tools": {
        "LangChainToolChoice",
        "LangChainToolLike",
        "Llama3JsonToolOutputParser",
        "Llama3ToolMiddleware",
        "Llama3ToolModel",
        "flatten_tool_messages",
        "render_llama3_tools",
    },
    "llama3_gateway": {
        "Gateway",
        "GatewaySettings",
        "ModelEntry",
        "ModelSettings",
        "Upstream",
        "load_settings",
        "read_settings",
    },
    "sglang_llama3_tools": {"register"},
    "vllm_llama3_tools": {"register"},
    "llama_index_llama3_tools": {
        "Llama3JsonToolOutputParser",
        "Llama3ReActOutputParser",
        "Llama3ToolLLM",
        "Llama3ToolOutput",
        "LlamaIndexToolLike",
        "MalformedToolCallError",
    },
}


@pytest.mark.parametrize("package", EXPORTS)
def test_a_package_exports_these_names_and_no_others(package: str) -> None:
    exported = importlib.import_module(package).__all__
    assert set(exported) == EXPORTS[package]
    assert len(exported) == len(set(exported))


@pytest.mark.parametrize("package", EXPORTS)
def test_every_exported_name_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("package", EXPORTS)
def test_every_exported_name_has_its_place_in_the_api_reference(package: str) -> None:
    reference = "\n".join(page.read_text("utf-8") for page in API_PAGES.glob("*.md")).splitlines()
    public = EXPORTS[package] - {"__version__"}
    named = (line.removeprefix("::: ").rpartition(".") for line in reference if line.startswith("::: "))
    assert {name for where, _, name in named if where == package} == public


PACKAGES = sorted(
    path.parent.name for root in ("shared", "integrations") for path in (ROOT / root).glob("*/__init__.py")
)


def hidden_modules(package: ModuleType) -> list[str]:
    """The modules that something else stands for in the package that holds them; programs are not looked at."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    modules = {one.name: importlib.import_module(one.name) for one in found if not one.name.endswith(".__main__")}
    hidden = []
    for name, module in modules.items():
        outer, _, inner = name.rpartition(".")
        holder = sys.modules[outer]
        if getattr(holder, inner) is not module or inner in getattr(holder, "__all__", ()):
            hidden.append(name)
    return hidden


@pytest.mark.parametrize("package", PACKAGES)
def test_no_function_or_value_of_a_package_hides_a_module_of_its_name(package: str) -> None:
    assert hidden_modules(importlib.import_module(package)) == []


def test_a_module_that_a_function_of_its_name_hides_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "hiding" / "formats"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").touch()
    (inner / "__init__.py").write_text("from hiding.formats.code import code\n", encoding="utf-8")
    (inner / "code.py").write_text("def code(): ...\n", encoding="utf-8")
    (inner / "fence.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert hidden_modules(importlib.import_module("hiding")) == ["hiding.formats.code"]
