"""The public names, pinned: adding or losing one is a decision."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

API_PAGES = Path(__file__).parents[2] / "docs" / "api"

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
    "llama3_acceptance": {
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
    "langchain_llama3_tools": {
        "CoercedArguments",
        "LangChainToolChoice",
        "LangChainToolLike",
        "Llama3JsonToolOutputParser",
        "Llama3ToolMiddleware",
        "Llama3ToolModel",
        "MisfitCall",
        "OnInvalid",
        "RejectedToolCall",
        "ToolRole",
        "ToolsIn",
        "flatten_tool_messages",
        "render_llama3_tools",
    },
    "llama_index_llama3_tools": {
        "FailedToolCall",
        "LLMRequestError",
        "Llama3JsonToolOutputParser",
        "Llama3ReActChatFormatter",
        "Llama3ReActOutputParser",
        "Llama3ToolLLM",
        "Llama3ToolOutput",
        "LlamaIndexToolLike",
        "MalformedToolCallError",
        "StrictResponseError",
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
