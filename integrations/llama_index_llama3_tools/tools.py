"""LlamaIndex's tools as the chat layer declares them, and under the names that an API allows."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from llama_index.core.bridge.pydantic import BaseModel, create_model
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.tools import BaseTool, FunctionTool, ToolMetadata

from llama3_tools import Tool, ToolDefinitionError, ToolLike
from llama3_tools.chat import ClassCheck, Request, class_problems
from llama3_tools.errors import a_type
from llama3_tools.tools import require_tool_list

_Tool = TypeVar("_Tool", bound=BaseTool)
LlamaIndexToolLike: TypeAlias = BaseTool | ToolMetadata | Callable[..., Any] | ToolLike
"""A tool, its metadata, a function (read as agents read it), a tool dict of OpenAI, Anthropic or MCP, or a
`llama3_tools.Tool`."""


def tool_dicts(tools: Iterable[LlamaIndexToolLike]) -> list[Mapping[str, Any]]:
    """Return LlamaIndex's tools as tool dicts. One that comes twice is read once: agents add what they retrieve.

    >>> def add(a: int, b: int) -> int:
    ...     "Add two numbers."
    ...     return a + b
    >>> tool_dicts([FunctionTool.from_defaults(add)])[0]["parameters"]["required"]
    ['a', 'b']

    Raises:
        TypeError: `tools` is not a list of tools.
        ToolDefinitionError: a tool has no name.
    """
    require_tool_list(tools, BaseTool)
    different: dict[str, LlamaIndexToolLike] = {}
    for index, tool in enumerate(tools):
        if not any(_declared(tool) is _declared(other) for other in different.values()):
            different[f"tools[{index}]"] = tool
    return [_tool(tool, where) for where, tool in different.items()]


def rename_tools(tools: Iterable[Any], request: Request) -> list[BaseTool]:
    """Return the tools that a request shows, by the names that it has for them."""
    by_name = {tool.metadata.get_name(): tool for tool in as_tools(tools)}
    names = zip(request.chat.tools, (tool["function"]["name"] for tool in request.tools), strict=True)
    return [by_name[own] if own == name else _named(by_name[own], name) for own, name in names]


def as_tools(tools: Iterable[Any]) -> list[BaseTool]:
    """Return tools that can be run: functions as tools, and those of a class that contains itself with its schema."""
    require_tool_list(tools, BaseTool)
    return [FunctionTool.from_defaults(tool) if inspect.isroutine(tool) else _with_whole_schema(tool) for tool in tools]


def output_tool(output_cls: type[BaseModel]) -> FunctionTool:
    """Return the tool whose arguments are an object of a class."""
    return _with_whole_schema(get_function_tool(output_cls))


def class_check(tools: Iterable[Any]) -> ClassCheck | None:
    """Return what the tools' classes say of arguments; `None` if no tool makes an object.

    The class accepts more than its schema says. Other functions get what the model wrote, whatever describes them.
    """
    functions = [tool for tool in tools if isinstance(tool, FunctionTool)]
    of_framework = [tool for tool in functions if getattr(tool.fn, "__module__", None) == get_function_tool.__module__]
    classes = {tool.metadata.get_name(): tool.metadata.fn_schema for tool in of_framework}
    return (lambda name, given: class_problems(classes[name], given) if name in classes else None) if classes else None


def _with_whole_schema(tool: _Tool) -> _Tool:
    """Return a tool with all of its schema.

    LlamaIndex leaves out the reference with which the schema of a class begins that contains itself. That of a subclass
    begins without one.
    """
    own = tool.metadata
    shown = own.fn_schema
    if not isinstance(tool, FunctionTool) or shown is None or "$ref" not in shown.model_json_schema():
        return tool
    subclass = create_model(shown.__name__, __base__=shown, __doc__=shown.__doc__)
    whole = copy.copy(tool)
    whole._metadata = replace(own, description=shown.__doc__ or "", fn_schema=subclass)  # noqa: SLF001 (it has no other way)
    return whole


def _named(tool: BaseTool, name: str) -> BaseTool:
    metadata = copy.copy(tool.metadata)
    metadata.name = name
    return FunctionTool(tool, metadata=metadata)


def _declared(tool: LlamaIndexToolLike) -> object:
    """Return what tells a tool from others; agents wrap a tool that is not asynchronous, and keep its metadata."""
    return tool.metadata if isinstance(tool, BaseTool) else tool


def _tool(tool: LlamaIndexToolLike, where: str) -> Mapping[str, Any]:
    if isinstance(tool, Mapping):
        return tool
    if isinstance(tool, Tool):
        return _function(tool.name, tool.description, dict(tool.parameters))
    if inspect.isroutine(tool):
        tool = FunctionTool.from_defaults(tool)
    metadata = tool.metadata if isinstance(tool, BaseTool) else tool
    if not isinstance(metadata, ToolMetadata):
        raise TypeError(
            f"{where} must be a tool (FunctionTool, QueryEngineTool, …), its ToolMetadata, a function or an OpenAI "
            f"tool dict, not {a_type(tool)}"
        )
    if not metadata.name:
        raise ToolDefinitionError(f"{where} has no name: give it one in its ToolMetadata")
    # The name as agents look it up: `to_openai_tool` replaces all that OpenAI's service rejects, such as a dot.
    return _function(metadata.name, metadata.description, metadata.get_parameters_dict())


def _function(name: object, description: object, parameters: object) -> dict[str, object]:
    return {"name": name, "description": description, "parameters": parameters}
