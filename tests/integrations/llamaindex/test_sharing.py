"""One parser and one LLM for all: threads, tasks and copies give what one gives alone."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import pytest
from llama_index.core.base.llms.types import ThinkingBlock
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    MockLLM,
)
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.tools import FunctionTool

from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolLLM
from llama_index_llama3_tools.messages import calls_of
from sharing import OUTPUTS, THREADS, in_tasks, in_threads, pieces

OPTIONS: dict[str, Any] = {"coerce_arguments": True, "formats": "all", "split_reasoning": True}


class EchoLLM(MockLLM):
    """Says what it is told, in pieces where it streams."""

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:  # noqa: ARG002, FBT002 (the framework's signature)
        yield from completions(prompt)


def last_said(messages: Sequence[ChatMessage]) -> str:
    return messages[-1].content or ""


def completions(output: str) -> Iterator[CompletionResponse]:
    text = ""
    for piece in pieces(output):
        text += piece
        yield CompletionResponse(text=text, delta=piece)


def f(q: int, a: list[int]) -> str:
    """F."""
    return f"{q} {a}"


def g(a: str) -> str:
    """G."""
    return a


TOOLS = [FunctionTool.from_defaults(f), FunctionTool.from_defaults(g)]


def parser() -> Llama3JsonToolOutputParser:
    return Llama3JsonToolOutputParser(TOOLS, **OPTIONS)


def llm() -> Llama3ToolLLM:
    return Llama3ToolLLM(EchoLLM(messages_to_prompt=last_said), tools_in="system", **OPTIONS)


class Read(NamedTuple):
    """What is read in an answer, but for the ids of calls."""

    text: str
    reasoning: str
    calls: list[tuple[str, dict[str, Any] | str]]
    told: str = ""


def named(message: ChatMessage) -> list[tuple[str, dict[str, Any] | str]]:
    return [(call["function"]["name"], call["function"]["arguments"] or {}) for call in calls_of(message)]


def of_response(response: ChatResponse) -> Read:
    message = response.message
    thoughts = "".join(block.content or "" for block in message.blocks if isinstance(block, ThinkingBlock))
    return Read(message.content or "", thoughts, named(message))


def of_stream(responses: Sequence[ChatResponse]) -> Read:
    return of_response(responses[-1])._replace(told="".join(response.delta or "" for response in responses))


def parse(one: Llama3JsonToolOutputParser, output: str) -> Read:
    found = one.parse(output)
    return Read(found.text, found.reasoning or "", [(call.tool_name, call.tool_kwargs) for call in found.tool_calls])


def promote(one: Llama3JsonToolOutputParser, output: str) -> Read:
    return of_response(one.promote(CompletionResponse(text=output)))


def stream(one: Llama3JsonToolOutputParser, output: str) -> Read:
    return of_stream(list(one.stream(completions(output))))


def chat(one: Llama3ToolLLM, output: str) -> Read:
    return of_response(one.chat_with_tools(TOOLS, output, allow_parallel_tool_calls=True))


def stream_chat(one: Llama3ToolLLM, output: str) -> Read:
    return of_stream(list(one.stream_chat_with_tools(TOOLS, output, allow_parallel_tool_calls=True)))


async def astream(one: Llama3JsonToolOutputParser, output: str) -> Read:
    async def arriving() -> AsyncIterator[CompletionResponse]:
        for completion in completions(output):
            await asyncio.sleep(0)  # all the others go on
            yield completion

    return of_stream([response async for response in one.astream(arriving())])


async def achat(one: Llama3ToolLLM, output: str) -> Read:
    await asyncio.sleep(0)  # the same
    return of_response(await one.achat_with_tools(TOOLS, output, allow_parallel_tool_calls=True))


async def astream_chat(one: Llama3ToolLLM, output: str) -> Read:
    responses = []
    async for response in await one.astream_chat_with_tools(TOOLS, output, allow_parallel_tool_calls=True):
        await asyncio.sleep(0)  # the same
        responses.append(response)
    return of_stream(responses)


Made: TypeAlias = Callable[[], Any]
Reader: TypeAlias = Callable[[Any, str], Any]


@pytest.mark.parametrize(
    ("make", "read"), [(parser, parse), (parser, promote), (parser, stream), (llm, chat), (llm, stream_chat)]
)
def test_threads_share_one(make: Made, read: Reader):
    shared = make()

    def run(number: int) -> list[Read]:
        return [read(shared, OUTPUTS[(index + number) % len(OUTPUTS)]) for index in range(len(OUTPUTS) // 4)]

    found, alone = in_threads(run), [read(make(), output) for output in OUTPUTS]
    for number in range(THREADS):
        assert found[number] == [alone[(index + number) % len(OUTPUTS)] for index in range(len(OUTPUTS) // 4)]


@pytest.mark.parametrize(
    ("make", "read", "read_alone"), [(parser, astream, stream), (llm, achat, chat), (llm, astream_chat, stream_chat)]
)
async def test_tasks_share_one(make: Made, read: Reader, read_alone: Reader):
    shared = make()
    found = await in_tasks(lambda number: read(shared, OUTPUTS[number % len(OUTPUTS)]), 4 * len(OUTPUTS))
    alone = [read_alone(make(), output) for output in OUTPUTS]
    assert found == [alone[number % len(OUTPUTS)] for number in range(len(found))]


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))],  # noqa: S301 (our own bytes)
    ids=["copy", "deep copy", "pickle"],
)
def test_a_copy_of_a_parser_reads_the_same(copied: Callable[[Any], Any]):
    one = parser()
    assert [parse(copied(one), output) for output in OUTPUTS] == [parse(one, output) for output in OUTPUTS]
