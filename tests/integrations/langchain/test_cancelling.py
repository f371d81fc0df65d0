"""A stream that is left half-way leaves nothing behind: no task, no open generator, no connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.utils.aiter import aclosing
from pydantic import Field

from cancelling import tasks
from endpoints.script import Turn, cut_at
from integrations.langchain.agents import PARIS, chat_openai, get_weather, serving
from integrations.langchain.scripted import CALL
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolModel

TEXT = f"Let me check. {CALL} One moment, please. {CALL}"


class TalkativeModel(BaseChatModel):
    """Says the text many times, and remembers which of its streams were closed."""

    closed: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "talkative"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        del messages
        try:
            yield from (ChatGenerationChunk(message=AIMessageChunk(content=char)) for char in TEXT)
        finally:
            self.closed.append("sync")

    async def _astream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
        del messages
        try:
            for char in TEXT:
                yield ChatGenerationChunk(message=AIMessageChunk(content=char))
        finally:
            self.closed.append("async")


async def said(llm: TalkativeModel) -> AsyncIterator[BaseMessage]:
    async with aclosing(llm._astream([])) as chunks:  # noqa: SLF001 (what LangChain calls)
        async for chunk in chunks:
            yield chunk.message


SOURCES: dict[str, Callable[[TalkativeModel], AsyncIterator[Any]]] = {
    "the parser": lambda llm: Llama3JsonToolOutputParser().atransform(said(llm)),
    "the model": lambda llm: Llama3ToolModel(llm)._astream([HumanMessage("Hi")], tools=[get_weather]),  # noqa: SLF001 (the same)
}


@pytest.mark.parametrize("stream_of", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("chunks", [1, 30])
async def test_what_is_read_is_closed_with_the_stream_at_once(
    stream_of: Callable[[TalkativeModel], AsyncIterator[Any]], chunks: int
):
    """A chain or an agent around it leaves this to the event loop: LangChain closes no stream within another."""
    llm = TalkativeModel()
    async with aclosing(stream_of(llm)) as stream:
        for _ in range(chunks):
            await anext(stream)
    assert llm.closed == ["async"]
    assert not await tasks()


CHAINS: dict[str, Callable[[BaseChatModel], Any]] = {
    "parsed": lambda llm: llm | Llama3JsonToolOutputParser(),
    "wrapped": lambda llm: Llama3ToolModel(llm).bind_tools([get_weather]),
}
chains = pytest.mark.parametrize("chain_of", CHAINS.values(), ids=CHAINS)


@chains
def test_closing_a_stream(chain_of: Callable[[BaseChatModel], Any]):
    llm = TalkativeModel()
    stream = chain_of(llm).stream("Hi")
    for _ in range(5):
        next(stream)
    stream.close()
    assert llm.closed == ["sync"]


@chains
async def test_the_connection_is_closed_and_the_next_call_works(chain_of: Callable[[BaseChatModel], Any]):
    long = Turn(pieces=cut_at(f"Well, {PARIS} " * 20, *range(3, 1200, 3)), pause=0.001)
    with serving(long, long, f"Done. {PARIS}") as server:
        chain = chain_of(chat_openai(server))
        stream = chain.astream("Hi")
        async for chunk in stream:
            if chunk.tool_calls:
                break
        await stream.aclose()
        for chunk in chain.stream("Hi"):
            if chunk.tool_calls:
                break
        assert not await tasks()
        message = await chain.ainvoke("Hi")
        assert [call["args"] for call in message.tool_calls] == [{"city": "Paris"}]
