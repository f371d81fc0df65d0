"""The ways to ask a `Llama3ToolLLM`, by itself and through each kind of agent, whole and streamed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from typing import Any, TypeAlias

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import BaseTool

from integrations.llamaindex.endpoint import TOOLS
from llama_index_llama3_tools import Llama3ReActOutputParser, Llama3ToolLLM

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


async def ran(agent: Any, show: Callable[[str], None]) -> str:
    handler = agent.run(QUESTION)
    async for event in handler.stream_events():
        if isinstance(event, AgentStream):
            show(event.delta)
    return str(await handler)


def function_agent(*, streaming: bool, in_workflow: bool = False) -> Way:
    async def way(llm: Llama3ToolLLM, show: Callable[[str], None] = nobody, tools: Sequence[Any] = TOOLS) -> str:
        agent = FunctionAgent(tools=list(tools), llm=llm, streaming=streaming)
        return await ran(AgentWorkflow(agents=[agent]) if in_workflow else agent, show)

    return way


def react_agent(*, streaming: bool) -> Way:
    async def way(llm: Llama3ToolLLM, show: Callable[[str], None] = nobody, tools: Sequence[Any] = TOOLS) -> str:
        parser = Llama3ReActOutputParser()
        return await ran(ReActAgent(tools=list(tools), llm=llm, streaming=streaming, output_parser=parser), show)

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
FUNCTION_AGENTS = {
    "FunctionAgent": function_agent(streaming=False),
    "FunctionAgent, streaming": function_agent(streaming=True),
    "AgentWorkflow": function_agent(streaming=False, in_workflow=True),
    "AgentWorkflow, streaming": function_agent(streaming=True, in_workflow=True),
}
REACT_AGENTS = {
    "ReActAgent": react_agent(streaming=False),
    "ReActAgent, streaming": react_agent(streaming=True),
}
WAYS = {**PLAIN, **WITH_TOOLS, **FUNCTION_AGENTS, **REACT_AGENTS}
STREAMED = [name for name in WAYS if "stream" in name]
WHOLE = [name for name in WAYS if "stream" not in name]
