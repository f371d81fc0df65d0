"""A tool that plans trips, what models write for it, and the ways to ask them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.bridge.pydantic import BaseModel, ConfigDict, Field
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.tools import FunctionTool

from integrations.llamaindex.endpoint import Endpoint
from integrations.llamaindex.test_servers import native, native_stream, piece
from llama3_tools import render_tool_call
from llama_index_llama3_tools import (
    Llama3ToolLLM,
)

if TYPE_CHECKING:
    from endpoints.server import Answer


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
STOPS = [{"city": "Rome", "nights": 2}]
SOON = {"stops": STOPS, "days": "soon"}


class Planner:
    """A tool that keeps what it was called with. LlamaIndex hands it on as it is: `fn_schema` only describes it."""

    def __init__(self) -> None:
        self.given: list[dict[str, Any]] = []
        self.tool = FunctionTool.from_defaults(self.plan, name="plan", fn_schema=Trip)

    def plan(self, **arguments: Any) -> str:
        """Plan a trip."""
        self.given.append(arguments)
        return f"Planned for {7 + arguments['days']} days"


def write(arguments: dict[str, Any], *, name: str = "plan") -> str:
    return render_tool_call(name, arguments)


def served_native(arguments: dict[str, Any], *, streaming: bool) -> Answer:
    """Answer as a server that finds the call itself."""
    text = json.dumps(arguments)
    if not streaming:
        return native(("call_1", "plan", text))
    return native_stream(piece(0, "", "call_1", "plan"), piece(0, text[:9]), piece(0, text[9:]))


def told(message: ChatMessage) -> Any:
    return message.additional_kwargs.get("coerced_arguments")


def llm_of(served: Endpoint, *, is_native: bool = False, **options: Any) -> Llama3ToolLLM:
    if is_native:
        options["tools_in"] = "request"
    return Llama3ToolLLM(served.llm(is_function_calling_model=is_native), **options)


async def asked(llm: Llama3ToolLLM, way: str, tool: FunctionTool, **options: Any) -> list[ChatResponse]:
    """Ask in one of the four ways, and return all responses."""
    options = {"allow_parallel_tool_calls": True, **options}
    if way == "whole":
        return [llm.chat_with_tools([tool], "Plan!", **options)]
    if way == "whole, async":
        return [await llm.achat_with_tools([tool], "Plan!", **options)]
    if way == "streamed":
        return list(llm.stream_chat_with_tools([tool], "Plan!", **options))
    stream = await llm.astream_chat_with_tools([tool], "Plan!", **options)
    return [response async for response in stream]


ways = pytest.mark.parametrize("way", ["whole", "whole, async", "streamed", "streamed, async"])
streamed_or_not = pytest.mark.parametrize("streaming", [True, False])
native_or_not = pytest.mark.parametrize("is_native", [True, False], ids=["native", "text"])
