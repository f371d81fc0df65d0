"""The model wrapper: tools in the prompt, calls out of the text, and all else as the wrapped model gives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from chunkings import chunkings
from endpoints.server import LoopbackServer
from integrations.langchain.agents import chat_openai, get_weather, serving
from integrations.langchain.scripted import (
    CALL,
    ScriptedChatModel,
    as_text_chunks,
    counted_ids,
    summed,
)
from langchain_llama3_tools import Llama3ToolModel, render_llama3_tools

ANSWER = f"Let me check. {CALL} One moment."


class Person(BaseModel):
    """A person."""

    name: str
    age: int


def wrapped(*pieces: str, **options: Any) -> Llama3ToolModel:
    llm = ScriptedChatModel(chunks=as_text_chunks(list(pieces or (ANSWER,))))
    return Llama3ToolModel(llm, **{"id_factory": counted_ids(), **options})


def said(message: AIMessage) -> tuple[object, ...]:
    return message.text, [(call["name"], call["args"]) for call in message.tool_calls], message.usage_metadata


@pytest.fixture
def endpoint() -> Iterator[LoopbackServer]:
    """Serve the answer, over and over."""
    with serving(*[ANSWER] * 8) as server:
        yield server


class TestAnswers:
    def test_a_stream_in_any_chunking_gives_what_invoke_gives(self) -> None:
        expected = wrapped().bind_tools([get_weather]).invoke("How is Paris?")
        assert said(expected)[:2] == ("Let me check. One moment.", [("get_weather", {"city": "Paris"})])
        for pieces in chunkings(ANSWER, is_sampled=True):
            chunks = list(wrapped(*pieces).bind_tools([get_weather]).stream("How is Paris?"))
            assert summed(chunks) == expected
            assert not any("{" in str(chunk.text) for chunk in chunks)

    async def test_every_way_to_ask_gives_the_same(self) -> None:
        def bound() -> Any:
            return wrapped(ANSWER[:30], ANSWER[30:]).bind_tools([get_weather])

        expected = bound().invoke("Hi")
        assert await bound().ainvoke("Hi") == expected
        assert summed([chunk async for chunk in bound().astream("Hi")]) == expected
        assert bound().batch(["Hi"])[0] == expected
        assert (await bound().abatch(["Hi"]))[0] == expected
        [end] = [e async for e in bound().astream_events("Hi", version="v2") if e["event"] == "on_chat_model_end"]
        assert summed([end["data"]["output"]]) == expected

    @pytest.mark.parametrize(
        "bound",
        [
            pytest.param(lambda model: model, id="no-tools"),
            pytest.param(lambda model: model.bind_tools([]), id="an-empty-list"),
            pytest.param(lambda model: model.bind_tools([get_weather], tool_choice="none"), id="tool_choice-none"),
        ],
    )
    async def test_without_tools_an_answer_is_left_as_it_is(self, bound: Any) -> None:
        model = bound(wrapped())
        assert said(model.invoke("Hi"))[:2] == (ANSWER, [])
        assert said(summed(model.stream("Hi")))[:2] == (ANSWER, [])
        assert said(await model.ainvoke("Hi"))[:2] == (ANSWER, [])
        assert said(summed([chunk async for chunk in model.astream("Hi")]))[:2] == (ANSWER, [])

    @pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
    def test_a_stream_of_version_v1_keeps_texts_and_calls_apart(self) -> None:
        calls = '{"name": "get_weather", "parameters": {"city": "Rome"}}; {"name": "get_weather", "parameters": {}}'
        llm = FakeListChatModel(responses=[f"Hi. {calls} Bye."], output_version="v1")
        bound: Any = Llama3ToolModel(llm).bind_tools([get_weather])
        assert len(bound.stream_events("Hi", version="v3").output.tool_calls) == 2
        streamed = summed(bound.stream("Hi"))
        assert [block["type"] for block in streamed.content_blocks] == ["text", "tool_call", "tool_call", "text"]
        assert (streamed.text, len(streamed.tool_calls)) == ("Hi. Bye.", 2)


def test_tools_are_in_the_prompt_and_nowhere_else(endpoint: LoopbackServer) -> None:
    bind: Any = {"tool_choice": "any", "strict": True, "parallel_tool_calls": False, "temperature": 0.5}
    Llama3ToolModel(chat_openai(endpoint), constrain="off").bind_tools([get_weather], **bind).invoke("How is Paris?")
    [request] = endpoint.requests
    assert set(request.body) == {"messages", "model", "stream", "temperature"}
    prompt = render_llama3_tools([get_weather], tool_choice="any")
    assert request.body["messages"] == [{"role": "user", "content": f"{prompt}\n\nHow is Paris?"}]


class TestAsTheWrappedModelGivesIt:
    """Usage, ids, metadata, cache: as without the wrapper, and once."""

    async def test_over_http(self, endpoint: LoopbackServer) -> None:
        llm = chat_openai(endpoint)
        bound = Llama3ToolModel(llm).bind_tools([get_weather])
        plain, usage = llm.invoke("Hi"), {"input_tokens": 7, "output_tokens": 28, "total_tokens": 35}
        streamed = summed(llm.stream("Hi"))
        for message, expected in (
            (bound.invoke("Hi"), plain),
            (await bound.ainvoke("Hi"), plain),
            (summed(bound.stream("Hi")), streamed),
            (summed([chunk async for chunk in bound.astream("Hi")]), streamed),
        ):
            assert said(message)[:2] == ("Let me check. One moment.", [("get_weather", {"city": "Paris"})])
            assert message.usage_metadata == expected.usage_metadata
            assert message.usage_metadata is not None
            assert {key: message.usage_metadata[key] for key in usage} == usage  # type: ignore[literal-required]
            told = {**expected.response_metadata, "finish_reason": "tool_calls"}
            assert message.response_metadata | {"id": ""} == told | {"id": ""}
            assert message.id
            assert expected.id
            assert message.id.partition("-")[0] == expected.id.partition("-")[0]

    async def test_stop_words_reach_it_in_every_way_to_ask(self, endpoint: LoopbackServer) -> None:
        bound = Llama3ToolModel(chat_openai(endpoint)).bind_tools([get_weather])
        bound.invoke("Hi", stop=["Observation"])
        await bound.ainvoke("Hi", stop=["Observation"])
        list(bound.stream("Hi", stop=["Observation"]))
        [_ async for _ in bound.astream("Hi", stop=["Observation"])]
        streaming = Llama3ToolModel(chat_openai(endpoint, streaming=True)).bind_tools([get_weather])
        streaming.invoke("Hi", stop=["Observation"])
        await streaming.ainvoke("Hi", stop=["Observation"])
        assert [request.body.get("stop") for request in endpoint.requests] == [["Observation"]] * 6

    async def test_a_model_told_to_stream_streams_inside(self, endpoint: LoopbackServer) -> None:
        bound = Llama3ToolModel(chat_openai(endpoint, streaming=True)).bind_tools([get_weather])
        assert len(bound.invoke("Hi").tool_calls) == 1
        assert len((await bound.ainvoke("Hi")).tool_calls) == 1
        assert [request.stream for request in endpoint.requests] == [True, True]

    def test_a_model_told_not_to_stream_does_not(self, endpoint: LoopbackServer) -> None:
        for option in ({"streaming": False}, {"disable_streaming": True}, {"disable_streaming": "tool_calling"}):
            message = summed(Llama3ToolModel(chat_openai(endpoint, **option)).bind_tools([get_weather]).stream("Hi"))
            assert len(message.tool_calls) == 1
        assert [request.stream for request in endpoint.requests] == [False] * 3

    def test_the_cache_keeps_answers_apart_that_differ_in_tools(self) -> None:
        llm = FakeListChatModel(responses=[CALL, "second", "third"], cache=InMemoryCache())
        model = Llama3ToolModel(llm)
        first = model.bind_tools([get_weather])
        assert first.invoke("Hi").tool_calls == first.invoke("Hi").tool_calls
        assert model.bind_tools([Person]).invoke("Hi").text == "second"
        assert Llama3ToolModel(llm, tools_in="system").bind_tools([Person]).invoke("Hi").text == "third"

    def test_a_shared_cache_keeps_two_servers_apart(self) -> None:
        def ask(text: str) -> str:
            with serving(text) as server:
                bound = Llama3ToolModel(chat_openai(server)).bind_tools([get_weather])
                assert bound.invoke("Hi").text == bound.invoke("Hi").text
                return str(bound.invoke("Hi").text)

        set_llm_cache(InMemoryCache())
        try:
            assert [ask("from A"), ask("from B")] == ["from A", "from B"]
        finally:
            set_llm_cache(None)
