"""A stream that is left half-way leaves nothing behind: no task, no open generator, no connection."""

from __future__ import annotations

import gc
from collections.abc import AsyncGenerator, Generator
from typing import Any

import httpx
import pytest
from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from workflows.errors import WorkflowCancelledByUser

from cancelling import tasks
from endpoints.script import Turn, cut_at
from integrations.llamaindex.endpoint import TOOLS, WEATHER, endpoint
from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolLLM

TEXT = f"Let me check. {WEATHER} One moment, please. " * 20


class Source:
    """A stream of responses that remembers whether it was closed."""

    def __init__(self) -> None:
        self.is_closed = False

    def responses(self) -> Generator[ChatResponse, None, None]:
        try:
            yield from (ChatResponse(message=ChatMessage(content=char), delta=char) for char in TEXT)
        finally:
            self.is_closed = True

    async def aresponses(self) -> AsyncGenerator[ChatResponse, None]:
        try:
            for char in TEXT:
                yield ChatResponse(message=ChatMessage(content=char), delta=char)
        finally:
            self.is_closed = True


@pytest.mark.parametrize("count", [1, 100])
async def test_closing_a_parsed_stream_closes_the_one_behind_it_at_once(count: int):
    source, asource = Source(), Source()
    stream = Llama3JsonToolOutputParser().stream(source.responses())
    astream = Llama3JsonToolOutputParser().astream(asource.aresponses())
    for _ in range(count):
        next(stream)
        await anext(astream)
    stream.close()
    await astream.aclose()
    assert source.is_closed
    assert asource.is_closed
    assert not await tasks()


def long() -> Turn:
    return Turn(pieces=cut_at(TEXT, *range(3, len(TEXT), 3)), pause=0.001)


async def test_the_connection_is_closed_and_the_next_call_works():
    with endpoint(long(), long(), f"Done. {WEATHER}") as served:
        llm = Llama3ToolLLM(served.llm())
        astream: Any = await llm.astream_chat_with_tools(TOOLS, "Weather in Paris?")
        async for response in astream:
            if llm.get_tool_calls_from_response(response, error_on_no_tool_call=False):
                break
        await astream.aclose()
        stream: Any = llm.stream_chat_with_tools(TOOLS, "Weather in Paris?")
        for response in stream:
            if llm.get_tool_calls_from_response(response, error_on_no_tool_call=False):
                break
        stream.close()
        assert not await tasks()
        answer = await llm.achat_with_tools(TOOLS, "Weather in Paris?")
        assert [call.tool_kwargs for call in llm.get_tool_calls_from_response(answer)] == [{"city": "Paris"}]


def test_a_loop_over_a_server_s_stream_that_is_left_gives_the_connection_back():
    only_one = httpx.Client(limits=httpx.Limits(max_connections=1), timeout=httpx.Timeout(10, pool=1))
    with only_one, endpoint(long(), long(), f"Done. {WEATHER}") as served:
        llm = Llama3ToolLLM(served.llm(http_client=only_one))
        for _ in llm.stream_chat_with_tools(TOOLS, "Weather in Paris?"):
            break
        gc.collect()  # under coverage, the frames of a stream hold each other
        for _ in llm.stream_chat([ChatMessage(content="Hi")]):
            break
        gc.collect()
        answer = llm.chat_with_tools(TOOLS, "Weather in Paris?")
    assert [call.tool_kwargs for call in llm.get_tool_calls_from_response(answer)] == [{"city": "Paris"}]


async def test_an_agent_that_is_cancelled_half_way_leaves_no_task():
    with endpoint(long(), "Sunny.") as served:
        agent = FunctionAgent(tools=TOOLS, llm=Llama3ToolLLM(served.llm()))
        handler = agent.run("Weather in Paris?")
        async for event in handler.stream_events():
            if isinstance(event, AgentStream) and event.delta:
                await handler.cancel_run()
                break
        with pytest.raises(WorkflowCancelledByUser):
            await handler
        assert not await tasks()
        assert str(await agent.run("And now?")) == "Sunny."
