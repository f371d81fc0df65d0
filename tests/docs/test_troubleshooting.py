"""The error texts that the docs quote are said: by the frameworks installed, by this library, or by a server."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["troubleshooting.md"]
PACKAGES = [
    "llama3_tools",
    "langchain_llama3_tools",
    "llama_index_llama3_tools",
    "llama_index.core",
    "llama_index.llms.openai",
    "llama_index.llms.openai_like",
    "workflows",
    "langchain",
    "langchain_core",
    "langchain_openai",
    "langgraph",
    "openai",
    "ollama",
    "httpx",
    "httpcore",
    "pydantic",
    "h11",
    "tenacity",
]

# Said by servers, or by the interpreter and C code: none of the sources here has them.
ELSEWHERE = {
    "does not support tools": "Ollama",
    '"auto" tool choice requires --enable-auto-tool-choice': "vLLM",
    "This model only supports single tool-calls at once!": "Llama 3.1's chat template",
    "Conversation roles must alternate": "Mistral's chat template",
    "roles are supported!": "Gemma's chat template",
    "Unexpected role: tool": "llama-cpp-python",
    "The model … does not exist": "OpenAI, vLLM",
    "not found, try pulling it first": "Ollama",
    "model … not found": "the same",
    "404 page not found": "Ollama, and any Go server",
    "object has no attribute": "the interpreter",
    "type object 'type' has no attribute": "the same",
    "object is not subscriptable": "the interpreter",
    "unexpected keyword argument": "the interpreter",
    "Expecting value: line 1 column 1 (char 0)": "json, with its places filled in",
    "validation error for": "pydantic-core",
    "Input should be a valid dictionary or instance of": "the same",
    "Instance is frozen": "pydantic-core",
}

# What stands in a text as an example: names, numbers, lists of values.
EXAMPLES = (
    r"'…'",
    r"'get_weather'",
    r"get_weather",
    r"llm is a RunnableSequence",
    r"Llama3ToolLLM(?= has no)",
    r"\b20\b",
    r"\b404 - ",
    r'"user" or "system"',
    r"PydanticInvalidForJsonSchema",
    r"tools_in",
    r"a list",
    r"llama_index.llms.openai.base.OpenAI._achat",
    r"memory$",
    r"cut off",
    r"malformed(?=,)",
    r"a malformed tool call$",
    r"OutputParserException: ",
    r"ChatPromptTemplate",
    r"astream(?= takes|_chat)",
    r"not an? [a-zA-Z]+(?:: await it first)?$",
    r"raised …",
    r"\{\w+\}",
)


def quoted(page: str) -> list[str]:
    """Return the error texts of a page's tables: what stands between backticks in their first column."""
    _, _, section = (DOCS / page).read_text("utf-8").partition("# Troubleshooting")
    cells = [line.replace(r"\|", "\0").split("|")[1] for line in section.splitlines() if line.startswith("| ")]
    spans = [double or single for cell in cells for double, single in re.findall(r"``(.+?)``|`([^`]+)`", cell)]
    # What stands after " (" is what this library adds, in a source of its own.
    texts = [text for span in spans for text in span.replace("\0", "|").split(" (the ")]
    return [text for text in texts if " " in text and not text.startswith("{")]


@cache
def sources() -> tuple[str, ...]:
    """Return the sources, with literals that stand side by side joined, and without the escapes in them."""
    joints = re.compile(r"""(["'])\s*[rf]{0,2}\1|\\(?=["'])""")
    texts = []
    for package in PACKAGES:
        spec = find_spec(package)
        assert spec is not None
        for folder in spec.submodule_search_locations or []:
            files = Path(folder).rglob("*.py")
            texts += [joints.sub("", file.read_text("utf-8")) for file in files]
    return tuple(texts)


def is_said(text: str) -> bool:
    """Return whether a text is in the sources, with anything where it has `…` or an example."""
    parts = [re.escape(part) for part in re.sub("|".join(EXAMPLES), "…", text).strip("… ").split("…")]
    pattern = re.compile(r".{0,60}?".join(parts))
    return any(pattern.search(source) for source in sources())


@pytest.mark.parametrize("page", PAGES)
def test_an_error_text_is_one_that_is_said(page: str) -> None:
    texts = [text for text in quoted(page) if not any(known in text for known in ELSEWHERE)]
    assert [text for text in texts if not is_said(text)] == []


def test_every_text_from_elsewhere_is_quoted() -> None:
    texts = [text for page in PAGES for text in quoted(page)]
    assert [known for known in ELSEWHERE if not any(known in text for text in texts)] == []
    assert len(texts) > 50
