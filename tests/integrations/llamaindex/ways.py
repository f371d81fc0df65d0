"""The ways to ask a `Llama3ToolLLM`, by itself and through an agent, whole and streamed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from typing import Any, TypeAlias

from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import BaseTool

from integrations.llamaindex.endpoint import TOOLS
from llama_index_llama3_tools import Llama3ToolLLM

Way: TypeAlias = Callable[..., Awaitable[str]]
"""Asks an LLM, given `tools` where it takes them, shows each delta to `show`, and gives the answer."""

QUESTION = "Weather in Paris?"
MESSAGES = [ChatMessage(content=QUESTION)]


def nobody(_delta: str) -> None:
    """Look at no delta."""


async def each(given: Any) -> AsyncGenerator[Any, None]:
    """Yield the responses of an LLM, whichever of its methods gave them: one if it was asked for a whole answer."""
    if isinstance(given, Awaitable):
        given = await given
    if isinstance(given, AsyncGenerator):
        async for response in given:
            yield response
    else:
        for response in given if isinstance(given, Generator) else [given]:
            yield response


async def answer(given: Any, show: Callable[[str], None], *, streams: bool) -> str:
    text = ""
    async for response in each(given):
        if streams:
            show(response.delta or "")
            text += response.delta or ""
        else:
            text = getattr(response, "text", None) or response.message.content or ""
    return text


def plain(method: str) -> Way:
    asked: Any = QUESTION if "complete" in method else MESSAGES

    async def way(llm: Llama3ToolLLM, show: Callable[[str], None] = nobody) -> str:
        return await answer(getattr(llm, method)(asked), show, streams="stream" in method)

    return way


def with_tools(method: str) -> Way:
    async def way(llm: Llama3ToolLLM, show: Callable[[str], None] = nobody, tools: Sequence[BaseTool] = TOOLS) -> str:
        return await answer(getattr(llm, method)(tools, QUESTION), show, streams="stream" in method)

    return way


def function_agent(*, streaming: bool) -> Way:
    async def way(llm: Llama3ToolLLM, show: Callable[[str], None] = nobody, tools: Sequence[Any] = TOOLS) -> str:
        handler = FunctionAgent(tools=list(tools), llm=llm, streaming=streaming).run(QUESTION)
        async for event in handler.stream_events():
            if isinstance(event, AgentStream):
                show(event.delta)
        return str(await handler)

    return way


PLAIN = {
    name: plain(name)
    for kind in ("chat", "complete")
    for name in (kind, f"a{kind}", f"stream_{kind}", f"astream_{kind}")
}
WITH_TOOLS = {
    name: with_tools(name)
    for name in ("chat_with_tools", "achat_with_tools", "stream_chat_with_tools", "astream_chat_with_tools")
}
AGENTS = {
    "FunctionAgent": function_agent(streaming=False),
    "FunctionAgent, streaming": function_agent(streaming=True),
}
WAYS = {**PLAIN, **WITH_TOOLS, **AGENTS}
STREAMED = [name for name in WAYS if "stream" in name]
