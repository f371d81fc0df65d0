"""One parser and one model for all: threads, tasks and copies give what one gives alone."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import ValidationError

from fragments import TOOLS
from integrations.langchain.scripted import fields, summed
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolModel
from sharing import OUTPUTS, THREADS, in_tasks, in_threads, pieces

OPTIONS: dict[str, Any] = {
    "coerce_arguments": True,
    "formats": "all",
    "split_reasoning": True,
    "id_factory": lambda: "call_1",
}


class EchoModel(BaseChatModel):
    """Says what it is told, in pieces where it streams."""

    @property
    def _llm_type(self) -> str:
        return "echo"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(messages[-1].text))])

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        for piece in pieces(str(messages[-1].text)):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))

    async def _astream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
        for piece in pieces(str(messages[-1].text)):
            await asyncio.sleep(0)  # all the others go on
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))


def parser() -> Llama3JsonToolOutputParser:
    return Llama3JsonToolOutputParser(tools=TOOLS, **OPTIONS)


def model() -> Any:
    return Llama3ToolModel(EchoModel(), tools_in="system", **OPTIONS).bind_tools(TOOLS)


def known(message: BaseMessage) -> dict[str, Any]:
    """All of a message but the id of its run."""
    return {key: value for key, value in fields(message).items() if key != "id"}


def invoke(one: Any, output: str) -> dict[str, Any]:
    return known(one.invoke(output))


def stream(one: Any, output: str) -> dict[str, Any]:
    if isinstance(one, Llama3JsonToolOutputParser):
        return known(summed(one.transform(iter(pieces(output)))))
    return known(summed(one.stream(output)))


async def astream(one: Any, output: str) -> dict[str, Any]:
    async def arriving() -> AsyncIterator[str]:
        for piece in pieces(output):
            await asyncio.sleep(0)  # all the others go on
            yield piece

    chunks = one.atransform(arriving()) if isinstance(one, Llama3JsonToolOutputParser) else one.astream(output)
    return known(summed([chunk async for chunk in chunks]))


made = pytest.mark.parametrize("make", [parser, model])


@made
@pytest.mark.parametrize("read", [invoke, stream])
def test_threads_share_one(make: Callable[[], Any], read: Callable[[Any, str], dict[str, Any]]):
    shared = make()

    def run(number: int) -> list[dict[str, Any]]:
        return [read(shared, OUTPUTS[(index + number) % len(OUTPUTS)]) for index in range(len(OUTPUTS) // 4)]

    found, alone = in_threads(run), [read(make(), output) for output in OUTPUTS]
    for number in range(THREADS):
        assert found[number] == [alone[(index + number) % len(OUTPUTS)] for index in range(len(OUTPUTS) // 4)]


@made
async def test_tasks_share_one(make: Callable[[], Any]):
    shared = make()
    found = await in_tasks(lambda number: astream(shared, OUTPUTS[number % len(OUTPUTS)]), 4 * len(OUTPUTS))
    alone = [stream(make(), output) for output in OUTPUTS]
    assert found == [alone[number % len(OUTPUTS)] for number in range(len(found))]


@made
async def test_tasks_that_wait_for_whole_answers_share_one(make: Callable[[], Any]):
    shared = make()
    found = await in_tasks(lambda number: shared.ainvoke(OUTPUTS[number % len(OUTPUTS)]), 4 * len(OUTPUTS))
    alone = [invoke(make(), output) for output in OUTPUTS]
    assert [known(message) for message in found] == [alone[number % len(OUTPUTS)] for number in range(len(found))]


COPIES: dict[str, Callable[[Llama3JsonToolOutputParser], Llama3JsonToolOutputParser]] = {
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "pydantic's copy": lambda one: one.model_copy(),
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301 (our own bytes)
}
copied = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)

CALL = '{"name": "f", "parameters": {"q": "1"}}'
OTHER = '{"name": "other", "parameters": {}}'


def calls(one: Llama3JsonToolOutputParser, output: str = f"{CALL} {OTHER}") -> list[str]:
    return [call["name"] for call in one.invoke(output).tool_calls]


@copied
def test_a_copy_reads_as_the_parser_does(copied: Callable[[Llama3JsonToolOutputParser], Llama3JsonToolOutputParser]):
    first = Llama3JsonToolOutputParser(tools=TOOLS, on_unknown_tool="call")
    second = copied(first)
    assert second == first
    assert second.options == first.options
    assert calls(first) == calls(second) == ["f", "other"]


def test_a_parser_never_changes_and_a_copy_may_differ():
    first = Llama3JsonToolOutputParser(tools=TOOLS)
    with pytest.raises(ValidationError, match="Instance is frozen"):
        first.tools = None
    second = first.model_copy(update={"tools": [{"name": "other"}]})
    third = first.model_copy(update={"options": replace(first.options, on_unknown_tool="call")})
    assert (calls(first), calls(second), calls(third)) == (["f"], ["other"], ["f", "other"])


def test_reading_leaves_a_parser_as_it_was():
    one, other = parser(), parser()
    before = one.model_dump()
    calls(one)
    assert (one == other, one.model_dump() == before, one.model_fields_set == other.model_fields_set) == (True,) * 3


class Session:
    def new(self) -> str:
        return "call_1"


def test_a_session_that_makes_the_ids_lives_no_longer_than_its_model() -> None:
    sessions: list[weakref.ref[Session]] = []
    for _ in range(3):
        session = Session()
        model = Llama3ToolModel(EchoModel(), id_factory=session.new).bind_tools(TOOLS)
        assert model.invoke(CALL).tool_calls[0]["id"] == "call_1"
        sessions.append(weakref.ref(session))
    del session, model
    gc.collect()
    assert [session() for session in sessions] == [None] * 3
