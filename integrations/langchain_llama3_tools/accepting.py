"""What LangChain's own tools take beside what their JSON Schema says: pydantic converts, and validators may do more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel

from llama3_tools.chat import Accepts, class_problems

__all__ = ["ToolClass", "accepting", "output_tool", "tool_classes"]

ToolClass: TypeAlias = BaseTool | type[BaseModel]
"""A tool of LangChain's, or a class that its arguments become."""


def tool_classes(tools: Iterable[object]) -> dict[str, ToolClass]:
    """Return the tools that are classes, by their names."""
    named = {tool.name: tool for tool in tools if isinstance(tool, BaseTool)}
    classes = [one for one in tools if isinstance(one, type) and issubclass(one, BaseModel)]
    return named | {one.model_config.get("title") or one.__name__: one for one in classes}


def accepting(tools: Mapping[str, ToolClass]) -> Accepts | None:
    """Return what says whether a tool takes arguments that its schema does not; `None` without tools of LangChain's.

    Args:
        tools: the tools by name.
    """
    if not tools:
        return None
    return lambda name, arguments: _problems(tools[name], arguments) if name in tools else None


def output_tool(tools: Mapping[str, ToolClass]) -> str | None:
    """Return the tool that runs nothing: agents have one for a `response_format`; `None` if there are more, or none.

    Args:
        tools: the tools by name.
    """
    empty = [
        name for name, tool in tools.items() if isinstance(tool, StructuredTool) and not (tool.func or tool.coroutine)
    ]
    return empty[0] if len(empty) == 1 else None


def _problems(tool: ToolClass, arguments: dict[str, Any]) -> list[str] | None:
    schema = tool.args_schema if isinstance(tool, BaseTool) else tool
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return None
    if not isinstance(tool, BaseTool):
        return class_problems(schema, arguments)
    shown: Any = tool.tool_call_schema  # of all fields but those that the agent fills in
    problems = class_problems(schema, arguments, schema.model_fields.keys() - shown.model_fields.keys())
    return None if problems else problems  # the model reads what the schema says
