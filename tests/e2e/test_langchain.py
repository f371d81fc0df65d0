"""LangChain's parser, model wrapper and middleware over HTTP, on what a live model says.

Nothing here asks for wisdom: whatever the model says must be read, run and told as it should.
"""

from __future__ import annotations

from collections import defaultdict
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage, message_chunk_to_message
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from e2e.answers import ASKED, FORCED, Asked, check, check_read, read_ai_message
from e2e.relay import (
    FORECAST,
    FREELY,
    FUNCTIONS,
    HISTORY,
    QUESTIONS,
    TEXT,
    TEXT_AND_TWO_CALLS,
    Forecast,
    Relay,
    Result,
    run_of,
)
from endpoints.assistant import TOOLS
from endpoints.live import MODEL
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolMiddleware, Llama3ToolModel
from llama3_tools import extract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage

pytestmark = pytest.mark.model

WAYS = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
SOME_WAYS = pytest.mark.parametrize("way", ["invoke", "astream"])
OTHER_WAYS = pytest.mark.parametrize("way", ["ainvoke", "stream"])

PARSER = Llama3JsonToolOutputParser(tools=TOOLS, repeated_calls="keep")
AS_IT_IS: Any = {"max_retries": 0, "repeated_calls": "keep"}
"""The options of tests that look at each answer: the model is not asked again, and all of its calls run."""


def chat_openai(relay: Relay) -> ChatOpenAI:
    return ChatOpenAI(base_url=relay.url, api_key=SecretStr("none"), model=MODEL, temperature=0, max_retries=0)


async def ask(runnable: Any, way: str, given: Any, **options: Any) -> list[Any]:
    """Ask in one of the ways; give the chunks, or the one answer."""
    if way == "invoke":
        return [runnable.invoke(given)]
    if way == "ainvoke":
        return [await runnable.ainvoke(given)]
    if way == "stream":
        return list(runnable.stream(given, **options))
    return [chunk async for chunk in runnable.astream(given, **options)]


def conversation(question: str) -> list[tuple[str, str]]:
    return [*HISTORY, ("user", question)]


def summed(chunks: list[Any]) -> AIMessage:
    message = message_chunk_to_message(reduce(add, chunks))
    assert isinstance(message, AIMessage)
    return message


class TestParser:
    # Each prompt is computed once.
    @pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.name, scope="class")
    @SOME_WAYS
    async def test_calls_and_text_are_what_the_model_said(self, way: str, asked: Asked, relay: Relay) -> None:
        relay.begin(asked.settings)
        message = summed(await ask(chat_openai(relay) | PARSER, way, asked.messages))
        check(asked, read_ai_message(relay.said[0], message))
        assert message.id
        assert message.response_metadata["model_name"] == MODEL
        assert message.response_metadata["finish_reason"] in {"stop", "length", "tool_calls"}

    def test_an_answer_cut_off_inside_a_call_gives_no_call(self, relay: Relay) -> None:
        relay.begin({**FORCED[0].settings, "max_tokens": 12})
        message = summed(list((chat_openai(relay) | PARSER).stream(FORCED[0].messages)))
        assert (message.tool_calls, message.text) == ([], relay.said[0])


class TestModel:
    @OTHER_WAYS
    async def test_calls_and_text_are_what_the_model_said(self, way: str, relay: Relay) -> None:
        model = Llama3ToolModel(chat_openai(relay), **AS_IT_IS).bind_tools(FUNCTIONS)
        runnable = 0
        for question in QUESTIONS:
            relay.begin()
            message = summed(await ask(model, way, conversation(question)))
            read = read_ai_message(relay.said[0], message)
            check_read(read, on_unknown_tool="call")
            runnable += sum(run_of(*call) is not None for call in read.calls)
        assert runnable, "none of the answers holds a call that runs"

    @WAYS
    async def test_structured_output(self, way: str, relay: Relay) -> None:
        relay.begin(FORECAST)
        model = Llama3ToolModel(chat_openai(relay)).with_structured_output(Forecast)
        forecast = (await ask(model, way, "How is the weather in Oslo?"))[-1]
        assert forecast == Forecast.model_validate(extract(relay.said[0]).tool_calls[0].arguments)
        assert relay.messages(0)[0][1].endswith("in your reply.\n\nHow is the weather in Oslo?")


class TestAgent:
    @SOME_WAYS
    async def test_each_question_is_answered(self, way: str, relay: Relay) -> None:
        ran = 0
        for question in QUESTIONS:
            relay.begin(FREELY, TEXT)
            ran += check_run(relay, await run(relay, way, conversation(question)))
        assert ran, "none of the calls ran"

    @OTHER_WAYS
    async def test_two_calls_run_and_the_results_are_told(self, way: str, relay: Relay) -> None:
        relay.begin(TEXT_AND_TWO_CALLS, TEXT)
        messages = await run(relay, way, [("user", "Compare Tokyo and Quito.")])
        assert [message.type for message in messages] == ["ai", "tool", "tool", "ai"]
        assert check_run(relay, messages) == 2


async def run(
    relay: Relay,
    way: str,
    messages: Sequence[tuple[str, str]],
    **options: Any,
) -> list[BaseMessage]:
    """Run an agent; give the messages that it adds, after a look at what it shows meanwhile."""
    options = {"middleware": [Llama3ToolMiddleware(**AS_IT_IS)], **options}
    agent = create_agent(chat_openai(relay), FUNCTIONS, **options)
    *shown, last = await ask(agent, way, {"messages": messages}, stream_mode=["messages", "values"])
    state = last[1] if "stream" in way else last
    added: list[BaseMessage] = state["messages"][len(messages) :]
    texts: dict[str | None, str] = defaultdict(str)
    for mode, data in shown:
        if mode == "messages" and isinstance(data[0], AIMessage):
            texts[data[0].id] += str(data[0].text)
    answers = {message.id: str(message.text) for message in added if isinstance(message, AIMessage)}
    assert texts == (answers if "stream" in way else {}), "text is shown as it comes, and nothing else"
    return added


def check_run(relay: Relay, messages: Sequence[BaseMessage]) -> int:
    """Hold a run to `Relay.check`; give how many calls ran."""
    answers = [message for message in messages if isinstance(message, AIMessage)]
    invalid = {call["id"] for answer in answers for call in answer.invalid_tool_calls}
    results = {
        message.tool_call_id: Result(str(message.text), message.status == "error")
        for message in messages
        if isinstance(message, ToolMessage) and message.tool_call_id not in invalid
    }
    return relay.check([read_ai_message(*pair) for pair in zip(relay.said, answers, strict=True)], results)
