"""What LangChain's own tools take beside what their JSON Schema says: pydantic converts, and validators may do more."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from llama3_tools.chat import Accepts

__all__ = ["accepting"]


def accepting(tools: Mapping[str, BaseTool]) -> Accepts | None:
    """Return what says whether a tool takes arguments that its schema does not; `None` without tools of LangChain's.

    Args:
        tools: the tools by name.
    """
    if not tools:
        return None
    return lambda name, arguments: name in tools and _accepts(tools[name], arguments)


def _accepts(tool: BaseTool, arguments: dict[str, Any]) -> bool:
    schema = tool.args_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return False
    try:
        schema.model_validate(copy.deepcopy(arguments))
    except ValidationError as error:
        shown: Any = tool.tool_call_schema  # of all fields but those that the agent fills in
        places = [problem["loc"] for problem in error.errors(include_url=False)]
        return all(place and place[0] in schema.model_fields.keys() - shown.model_fields.keys() for place in places)
    except Exception:  # noqa: BLE001 (a validator raises what it likes; the model reads what the schema says)
        return False
    return True
