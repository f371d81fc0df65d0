"""Calls that the server found itself: converted from every place where chat models put them, streamed or not.

What makes a call of its pieces is tested with the chat layer.
"""

from __future__ import annotations

import copy
import json
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

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
from integrations.langchain.scripted import ScriptedChatModel, counted_ids, keep, streamed, summed
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolMiddleware, Llama3ToolModel
from native_calls import found, piece

PARIS = '{"city": "Paris"}'
VERSION_1 = {"output_version": "v1"}


def parser(**options: Any) -> Llama3JsonToolOutputParser:
    return Llama3JsonToolOutputParser(id_factory=counted_ids(), **options)


def made(message: AIMessage) -> list[tuple[str, Any, str | None]]:
    """Return the calls of a message; of a malformed one, the text."""
    assert all(call["type"] == "tool_call" for call in message.tool_calls)
    calls: list[Any] = [(call["name"], call["args"], call["id"]) for call in message.tool_calls]
    return calls + [(call["name"], json.loads(f'{call["args"]}"'), call["id"]) for call in message.invalid_tool_calls]


def as_chat_openai(given: dict[str, Any]) -> AIMessageChunk:
    function = given["function"]
    chunk = tool_call_chunk(name=function["name"], args=function["arguments"], id=given["id"], index=given["index"])
    return AIMessageChunk(content="", id="1", tool_call_chunks=[chunk])


def as_chat_openai_on_responses(given: dict[str, Any]) -> AIMessageChunk:
    function = given["function"]
    block = {"type": "function_call", "arguments": function["arguments"], "index": given["index"]}
    if function["name"]:
        block |= {"name": function["name"], "call_id": given["id"], "id": f"fc_{given['id']}"}
    return as_chat_openai(given).model_copy(update={"content": [block]})


def as_chat_groq(given: dict[str, Any]) -> AIMessageChunk:
    told = {"model_provider": "groq"}
    return AIMessageChunk(content="", id="1", additional_kwargs={"tool_calls": [given]}, response_metadata=told)


def as_chat_hugging_face(given: dict[str, Any]) -> AIMessageChunk:
    return as_chat_openai(given).model_copy(update={"additional_kwargs": {"tool_calls": [given]}})


CLIENTS = (as_chat_openai, as_chat_openai_on_responses, as_chat_groq, as_chat_hugging_face)
MALFORMED = '{"name": "f", "parameters": %s}'
STREAMS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, Any, str]]]] = {
    "in pieces": (
        [piece(0, "", "a", "f"), piece(0, '{"x": '), piece(0, "1}"), piece(1, "{}", "b", "g")],
        [("f", {"x": 1}, "a"), ("g", {}, "b")],
    ),
    "cut off, which LangChain would complete": (
        [piece(0, "", "a", "f"), piece(0, '{"city": "Par')],
        [("f", MALFORMED % '{"city": "Par', "a")],
    ),
    "no ids": ([piece(0, "{}", None, "f"), piece(1, "{}", "", "g")], [("f", {}, "call_0"), ("g", {}, "call_1")]),
    "no name": ([piece(0, PARIS, "a")], [("", f'{{"name": "unknown", "parameters": {PARIS}}}', "a")]),
    "one index for all": (
        [piece(0, '{"x": 1}', "a", "f"), piece(0, "{", "b", "g"), piece(0, "}", "b")],
        [("f", {"x": 1}, "a"), ("g", {}, "b")],
    ),
}


class TestStreams:
    """The chunks that chat models make of a stream, and their sums, as the sources of the models have them."""

    @pytest.mark.parametrize("client", CLIENTS)
    @pytest.mark.parametrize("case", STREAMS)
    def test_no_call_is_doubled_or_half(self, case: str, client: Callable[[dict[str, Any]], AIMessageChunk]) -> None:
        given, expected = STREAMS[case]
        chunks = [client(copy.deepcopy(one)) for one in given]
        out = streamed(parser(), [AIMessageChunk(content="Hm. ", id="1"), *chunks])
        one_by_one = [call for chunk in out for call in made(chunk)]
        assert sorted(map(str, one_by_one)) == sorted(map(str, expected))
        assert (made(summed(out)), summed(out).additional_kwargs) == (expected, {})
        for whole in (reduce(operator.add, chunks), summed(chunks)):
            if "cut off" in case and not isinstance(whole, AIMessageChunk):
                break  # LangChain has completed it
            for message in (parser().invoke(whole), summed(streamed(parser(), [whole]))):
                assert (made(message), message.additional_kwargs) == (expected, {})

    def test_chat_ollama_s_calls_come_whole(self) -> None:
        calls = [tool_call(name="f", args={"x": 1}, id="a"), tool_call(name="g", args={}, id="b")]
        chunks = [AIMessageChunk(content="", tool_calls=[call]) for call in calls]
        for given in (chunks, [reduce(operator.add, chunks)], [summed(chunks)]):
            assert made(summed(streamed(parser(), given))) == [("f", {"x": 1}, "a"), ("g", {}, "b")]

    async def test_a_stream_that_breaks_off_says_what_was_lost(self) -> None:
        class Breaking(ScriptedChatModel):
            def _stream(self, *args: Any, **kwargs: Any) -> Any:
                yield from super()._stream(*args, **kwargs)
                raise ConnectionError

        told = AIMessageChunk(content="", response_metadata={"model_name": "llama"})
        chunks = [told, as_chat_openai(piece(0, '{"city": "Par', "a", "f"))]
        bound = Llama3ToolModel(Breaking(chunks=chunks)).bind_tools([get_weather])

        for is_async in (False, True):
            arrived: list[BaseMessage] = []
            with pytest.raises(ConnectionError):
                await keep(bound.astream("Hi"), arrived) if is_async else arrived.extend(bound.stream("Hi"))
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
