"""A tool that plans trips, and what models write for it."""

from __future__ import annotations

from typing import Any

from llama_index.core.bridge.pydantic import BaseModel, ConfigDict, Field
from llama_index.core.tools import FunctionTool

from llama3_tools import render_tool_call


class Stop(BaseModel):
    """A stop of a trip."""

    model_config = ConfigDict(strict=True)

    city: str
    nights: int


class Trip(BaseModel):
    """What `plan` is given."""

    model_config = ConfigDict(strict=True)

    stops: list[Stop]
    tags: list[str] = Field(default_factory=list)
    days: int = 1


class Planner:
    """A tool that keeps what it was called with. LlamaIndex hands it on as it is: `fn_schema` only describes it."""

    def __init__(self) -> None:
        self.given: list[dict[str, Any]] = []
        self.tool = FunctionTool.from_defaults(self.plan, name="plan", fn_schema=Trip)

    def plan(self, **arguments: Any) -> str:
        """Plan a trip."""
        self.given.append(arguments)
        return f"Planned for {7 + arguments['days']} days"


def write(arguments: dict[str, Any]) -> str:
    return render_tool_call("plan", arguments)
