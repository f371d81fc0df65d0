"""Calls that the server found itself: converted from every place where chat models put them, streamed or not.

What makes a call of its pieces is tested with the chat layer.
"""

from __future__ import annotations

import copy
import json
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, ClassVar

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call, tool_call_chunk

from endpoints.script import Turn, sent
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import api
from integrations.langchain.agents import (
    chat_openai,
    conversations,
    get_weather,
    in_every_way,
    shown,
)
from integrations.langchain.scripted import ScriptedChatModel, counted_ids, streamed, summed
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolMiddleware, Llama3ToolModel
from native_calls import found, piece

PARIS = '{"city": "Paris"}'
VERSION_1 = {"output_version": "v1"}


def parser(**options: Any) -> Llama3JsonToolOutputParser:
    return Llama3JsonToolOutputParser(id_factory=counted_ids(), **options)


def pieces(*given: tuple[int | None, str | None, str | None, str | None]) -> list[AIMessageChunk]:
    """Return a chunk for each piece of a call: its index, id and name, and some of its arguments."""
    return [
        AIMessageChunk(
            content="", id="1", tool_call_chunks=[tool_call_chunk(name=name, args=args, id=call_id, index=index)]
        )
        for index, call_id, name, args in given
    ]


def made(message: AIMessage) -> list[tuple[str, Any, str | None]]:
    """Return the calls of a message; of a malformed one, the text."""
    assert all(call["type"] == "tool_call" for call in message.tool_calls)
    calls: list[Any] = [(call["name"], call["args"], call["id"]) for call in message.tool_calls]
    return calls + [(call["name"], json.loads(f'{call["args"]}"'), call["id"]) for call in message.invalid_tool_calls]


def as_openai(chunk: AIMessageChunk) -> AIMessageChunk:
    """Return a chunk with its pieces as OpenAI sends them, among the additional arguments."""
    sent = [
        {"index": one["index"], "id": one["id"], "function": {"name": one["name"], "arguments": one["args"]}}
        for one in chunk.tool_call_chunks
    ]
    return AIMessageChunk(content="", id="1", additional_kwargs={"tool_calls": sent})


MALFORMED = '{"name": "f", "parameters": %s}'

STREAMS: dict[str, tuple[list[AIMessageChunk], list[tuple[str, Any, str | None]]]] = {
    "in pieces": (
        pieces((0, "a", "f", ""), (0, None, None, '{"x": '), (0, None, None, "1}")),
        [("f", {"x": 1}, "a")],
    ),
    "cut off, which LangChain would complete": (
        pieces((0, "a", "f", ""), (0, None, None, '{"city": "Par')),
        [("f", MALFORMED % '{"city": "Par', "a")],
    ),
    "no ids": (pieces((0, None, "f", "{}"), (1, "", "g", "{}")), [("f", {}, "call_0"), ("g", {}, "call_1")]),
    "no name": (
        pieces((0, "a", None, PARIS)),
        [("", '{"name": "unknown", "parameters": {"city": "Paris"}}', "a")],
    ),
    "one index for all": (
        pieces((0, "a", "f", '{"x": 1}'), (0, "b", "g", "{}"), (0, "c", "h", "{"), (0, "c", None, "}")),
        [("f", {"x": 1}, "a"), ("g", {}, "b"), ("h", {}, "c")],
    ),
}

of_each_stream = pytest.mark.parametrize(("chunks", "expected"), STREAMS.values(), ids=STREAMS)


class TestStreams:
    @of_each_stream
    def test_no_half_of_a_call_is_ever_in_a_chunk(self, chunks: list[AIMessageChunk], expected: list[Any]) -> None:
        in_blocks = [chunk.model_copy(update={"content": [*map(dict, chunk.tool_call_chunks)]}) for chunk in chunks]
        for given in (chunks, list(map(as_openai, chunks)), in_blocks):
            out = streamed(parser(), [AIMessageChunk(content="Hm. ", id="1"), *given])
            assert made(summed(out)) == expected
            one_by_one = [call for chunk in out for call in made(chunk)]
            assert sorted(map(str, one_by_one)) == sorted(map(str, expected))
            assert summed(out).text.startswith("Hm. ")
            assert summed(out).additional_kwargs == {}
            assert out[-1].chunk_position == "last"

    @of_each_stream
    def test_a_sum_of_chunks_is_read_in_the_same_way(self, chunks: list[AIMessageChunk], expected: list[Any]) -> None:
        assert made(parser().invoke(reduce(operator.add, chunks))) == expected

    async def test_a_stream_that_breaks_off_says_what_was_lost(self) -> None:
        class Breaking(ScriptedChatModel):
            def _stream(self, *args: Any, **kwargs: Any) -> Any:
                yield from super()._stream(*args, **kwargs)
                raise ConnectionError

        told = AIMessageChunk(content="", response_metadata={"model_name": "llama"})
        chunks = [told, *STREAMS["cut off, which LangChain would complete"][0]]
        bound = Llama3ToolModel(Breaking(chunks=chunks)).bind_tools([get_weather])

        async def streamed_async(into: list[BaseMessage]) -> None:
            async for chunk in bound.astream("Hi"):
                into.append(chunk)  # noqa: PERF401 (a comprehension would lose them)

        for is_async in (False, True):
            arrived: list[BaseMessage] = []
            with pytest.raises(ConnectionError):
                await streamed_async(arrived) if is_async else arrived.extend(bound.stream("Hi"))
            metadata = summed(arrived).response_metadata
            assert [call["reason"] for call in metadata["refused_tool_calls"]] == ["truncated"]
            assert metadata["model_name"] == "llama"


class TestWholeMessages:
    @pytest.mark.parametrize(
        "message",
        [
            AIMessage("", tool_calls=[tool_call(name="f", args={"x": 1}, id="a")]),
            AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": '{"x": 1}'}}),
            AIMessage(
                "",
                tool_calls=[tool_call(name="f", args={"x": 1}, id="a")],
                additional_kwargs={"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}}]},
            ),
            AIMessage([{"type": "tool_use", "name": "f", "input": {"x": 1}, "id": "a"}]),
            AIMessage(
                [tool_call(name="f", args={"x": 1}, id="a")],  # type: ignore[list-item]  # a block of version 1
                tool_calls=[tool_call(name="f", args={"x": 1}, id="a")],
                response_metadata=VERSION_1,
            ),
            AIMessage('{"name": "f", "parameters": {"x": 1}}', tool_calls=[tool_call(name="f", args={"x": 1}, id="a")]),
        ],
        ids=[
            "tool_calls",
            "function_call",
            "beside OpenAI's own",
            "Anthropic's blocks",
            "beside blocks of version 1",
            "left in the text, too",
        ],
    )
    def test_each_is_one_call_wherever_it_stands(self, message: AIMessage) -> None:
        for read in (parser().invoke(message), summed(list(parser().transform(iter([message]))))):
            assert [(call["name"], call["args"]) for call in read.tool_calls] == [("f", {"x": 1})]
            assert (read.text, read.additional_kwargs) == ("", {})

    def test_what_a_guard_has_changed_is_what_counts(self) -> None:
        sent = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}]
        message = AIMessage("", additional_kwargs={"tool_calls": sent})
        assert made(parser().invoke(message)) == [("f", {"x": 1}, "1")]
        assert made(parser().invoke(message.model_copy(update={"tool_calls": []}))) == []
        message.tool_calls[0]["args"]["x"] = 2
        assert made(parser().invoke(message)) == [("f", {"x": 2}, "1")]
        empty = AIMessage("", additional_kwargs={"tool_calls": []}, tool_calls=[tool_call(name="f", args={}, id="1")])
        assert made(parser().invoke(empty)) == [("f", {}, "1")]


DELTAS: list[dict[str, Any]] = [
    {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '"Paris"}'}}]},
    {"tool_calls": [{"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
]
"""Two calls as servers stream them in OpenAI's protocol."""


def as_chat_openai(delta: dict[str, Any]) -> AIMessageChunk:
    [piece] = delta["tool_calls"]
    written = piece["function"]
    chunk = tool_call_chunk(
        name=written.get("name"), args=written["arguments"], id=piece.get("id"), index=piece["index"]
    )
    return AIMessageChunk(content="", tool_call_chunks=[chunk])


def as_chat_openai_on_responses(delta: dict[str, Any]) -> AIMessageChunk:
    [piece] = delta["tool_calls"]
    written = piece["function"]
    block = {"type": "function_call", "arguments": written["arguments"], "index": piece["index"]}
    if "name" in written:
        block |= {"name": written["name"], "call_id": piece["id"], "id": f"fc_{piece['id']}"}
    return as_chat_openai(delta).model_copy(update={"content": [block]})


def as_chat_groq(delta: dict[str, Any]) -> AIMessageChunk:
    told = {"model_provider": "groq"}
    return AIMessageChunk(content="", additional_kwargs=copy.deepcopy(delta), response_metadata=told)


def as_chat_hugging_face(delta: dict[str, Any]) -> AIMessageChunk:
    chunks = as_chat_openai(delta).tool_call_chunks
    return AIMessageChunk(content="", additional_kwargs=copy.deepcopy(delta), tool_call_chunks=chunks)


OLLAMA = [
    AIMessageChunk(content="", tool_calls=[tool_call(name="f", args={"city": "Paris"}, id="a")]),
    AIMessageChunk(content="", tool_calls=[tool_call(name="g", args={}, id="b")]),
]

CLIENTS = {
    "ChatOpenAI": list(map(as_chat_openai, DELTAS)),
    "ChatOpenAI, on the Responses API": list(map(as_chat_openai_on_responses, DELTAS)),
    "ChatGroq": list(map(as_chat_groq, DELTAS)),
    "ChatHuggingFace": list(map(as_chat_hugging_face, DELTAS)),
    "ChatOllama": OLLAMA,
}


@pytest.mark.parametrize("chunks", CLIENTS.values(), ids=CLIENTS)
class TestClients:
    """The chunks that chat models make of a stream, and their sums, as the sources of the models have them."""

    EXPECTED: ClassVar[list[Any]] = [("f", {"city": "Paris"}, "a"), ("g", {}, "b")]

    def test_no_call_is_doubled_or_half(self, chunks: list[AIMessageChunk]) -> None:
        for given in (chunks, [reduce(operator.add, chunks)], [summed(chunks)]):
            message = summed(streamed(parser(), given))
            assert (made(message), message.text, message.additional_kwargs) == (self.EXPECTED, "", {})


class TestAgents:
    @in_every_way
    def test_a_call_that_is_malformed_never_runs(self, run: Callable[..., Any]) -> None:
        answers = iter(['{"city": "Par', '{"city": "Paris"}'])

        def model(request: Request) -> Answer:
            if (arguments := next(answers, None)) is None:
                return sent(Turn(pieces=("Sunny.",)), request)
            return found(piece(0, arguments, "call_1", "get_weather"), stream=request.stream)

        with LoopbackServer(api(["llama3.1"], model)) as server:
            messages = run(create_agent(chat_openai(server), [get_weather], middleware=[Llama3ToolMiddleware()]))[
                "messages"
            ]
        assert [type_ for type_, _ in shown(messages)] == ["human", "ai", "tool", "ai"]
        assert messages[2].text == "sunny in Paris"
        *_, written, complaint = conversations(server)[1]
        assert written == ("assistant", '{"name": "get_weather", "parameters": {"city": "Par}')
        assert complaint[1].startswith("Error of get_weather: The call is malformed, and was not run: ")
