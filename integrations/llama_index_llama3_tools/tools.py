"""LlamaIndex's tools as the extractor declares them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from llama_index.core.tools import BaseTool, FunctionTool, ToolMetadata

from llama3_tools import Tool, ToolDefinitionError, ToolLike, declare_tools

__all__ = ["LlamaIndexToolLike", "declare_llama_index_tools"]

LlamaIndexToolLike: TypeAlias = BaseTool | ToolMetadata | Callable[..., Any] | ToolLike
"""A tool, its metadata, a function (read as agents read it), an OpenAI tool dict or a `llama3_tools.Tool`."""


def declare_llama_index_tools(tools: Iterable[LlamaIndexToolLike]) -> dict[str, Tool]:
    """Read LlamaIndex's tools into a mapping from name to `Tool`.

    >>> def add(a: int, b: int) -> int:
    ...     "Add two numbers."
    ...     return a + b
    >>> declare_llama_index_tools([FunctionTool.from_defaults(add)])["add"].parameters["required"]
    ['a', 'b']

    Raises:
        TypeError: `tools` is no list of tools.
        ToolDefinitionError: a declaration has no name, a schema that is no object, or a name that another one has.
    """
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
        raise TypeError(f"tools must be a list of tools, got one {type(tools).__name__}: put it in a list")
    return declare_tools(_tool(tool, f"tools[{index}]") for index, tool in enumerate(tools))


def _tool(tool: LlamaIndexToolLike, where: str) -> ToolLike:
    if isinstance(tool, (Tool, Mapping)):
        return tool
    if isinstance(tool, ToolMetadata):
        return _from_metadata(tool, where)
    if isinstance(tool, BaseTool):
        return _from_metadata(tool.metadata, where)
    if inspect.isroutine(tool):
        return _from_metadata(FunctionTool.from_defaults(tool).metadata, where)
    raise TypeError(
        f"{where} is a {type(tool).__name__}: expected a tool (FunctionTool, QueryEngineTool, …), its ToolMetadata, "
        "a function, or an OpenAI tool dict"
    )


def _from_metadata(metadata: ToolMetadata, where: str) -> Tool:
    if not metadata.name:
        raise ToolDefinitionError(f"{where} has no name: give it one in its ToolMetadata")
    function = metadata.to_openai_tool(skip_length_check=True)["function"]
    # The name as agents look it up: `to_openai_tool` replaces all that OpenAI's service rejects, such as a dot.
    return Tool(metadata.name, function["description"] or "", function["parameters"])
