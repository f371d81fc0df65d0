"""What LangChain's own tools take beside what their JSON Schema says: pydantic converts, and validators may do more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel

from llama3_tools.chat import Accepts, class_problems

__all__ = ["accepting", "output_tool"]


def accepting(tools: Iterable[object]) -> Accepts | None:
    """Return what says whether a tool takes arguments that its schema does not; `None` without classes among them."""
    classes: dict[str, Any] = {tool.name: tool for tool in tools if isinstance(tool, BaseTool)}
    models = [one for one in tools if isinstance(one, type) and issubclass(one, BaseModel)]
    classes |= {one.model_config.get("title") or one.__name__: one for one in models}
    return partial(_problems, classes) if classes else None


def output_tool(tools: Iterable[object]) -> str | None:
    """Return the tool that runs nothing: agents have one for a `response_format`; `None` if there are more, or none."""
    structured = (tool for tool in tools if isinstance(tool, StructuredTool))
    empty = [tool.name for tool in structured if not (tool.func or tool.coroutine)]
    return empty[0] if len(empty) == 1 else None


def _problems(tools: Mapping[str, Any], name: str, arguments: dict[str, Any]) -> list[str] | None:
    tool = tools.get(name)
    schema = tool.args_schema if isinstance(tool, BaseTool) else tool
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return None
    if not isinstance(tool, BaseTool):
        return class_problems(schema, arguments)
    shown: Any = tool.tool_call_schema  # of all fields but those that the agent fills in
    problems = class_problems(schema, arguments, schema.model_fields.keys() - shown.model_fields.keys())
    return None if problems else problems  # the model reads what the schema says
