"""A request for a response, as far as a parser looks at it."""

from __future__ import annotations

from typing import Any, Literal

from openai.types.responses import ToolChoiceFunction
from openai.types.responses.tool import Tool
from pydantic import BaseModel


class ResponsesRequest(BaseModel):
    input: str | list[Any]
    model: str | None = None
    tools: list[Tool] = []
    tool_choice: Literal["none", "auto", "required"] | ToolChoiceFunction = "auto"
    parallel_tool_calls: bool | None = True
    skip_special_tokens: bool | None = None
