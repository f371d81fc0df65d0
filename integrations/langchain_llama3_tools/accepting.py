"""What LangChain's own tools take beside what their JSON Schema says: pydantic converts, and validators may do more."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from llama3_tools.chat import Accepts

__all__ = ["ToolClass", "accepting", "tool_classes"]

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


def _problems(tool: ToolClass, arguments: dict[str, Any]) -> list[str] | None:
    schema = tool.args_schema if isinstance(tool, BaseTool) else tool
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return None
    try:
        schema.model_validate(copy.deepcopy(arguments))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        if not isinstance(tool, BaseTool):
            return [f"${''.join(f'.{place}' for place in one['loc'])}: {one['msg']}" for one in problems]
        shown: Any = tool.tool_call_schema  # of all fields but those that the agent fills in
        hidden = schema.model_fields.keys() - shown.model_fields.keys()
        return [] if all(one["loc"] and one["loc"][0] in hidden for one in problems) else None
    except Exception:  # noqa: BLE001 (a validator raises what it likes; the model reads what the schema says)
        return None
    return []
