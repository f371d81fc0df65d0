"""A tool that plans trips, and what models write for it."""

from __future__ import annotations

from typing import Any

from llama_index.core.bridge.pydantic import BaseModel, ConfigDict, Field
from llama_index.core.llms import ChatResponse
from llama_index.core.tools import FunctionTool

from integrations.llamaindex.ways import each
from llama3_tools import render_tool_call
from llama_index_llama3_tools import Llama3ToolLLM


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


WRITTEN = {
    "stops": '[{"city": "Rome", "nights": "2"}, {"city": "90210", "nights": 1}]',
    "tags": "['sun', 'sea']",
    "days": "3",
}
FITTING = {
    "stops": [{"city": "Rome", "nights": 2}, {"city": "90210", "nights": 1}],
    "tags": ["sun", "sea"],
    "days": 3,
}
SOON = {"stops": [], "days": "soon"}


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


async def asked(llm: Llama3ToolLLM, way: str, tool: FunctionTool, **options: Any) -> list[ChatResponse]:
    """Ask in one of the ways with tools, and return all responses."""
    options = {"allow_parallel_tool_calls": True, **options}
    return [response async for response in each(getattr(llm, way)([tool], "Plan!", **options))]
