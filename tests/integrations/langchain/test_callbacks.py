"""What callbacks and tracers are told: a turn is the run of a chat model, and each request to it a step in that run."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import openai
import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.messages.utils import message_chunk_to_message
from langchain_core.outputs import LLMResult
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.tracers.context import collect_runs

from endpoints.server import LoopbackServer
from integrations.langchain.agents import PARIS, QUESTION, chat_openai, get_weather, serving
from integrations.langchain.scripted import CUT_OFF, ScriptedChatModel, as_text_chunks, summed
from langchain_llama3_tools import Llama3ToolModel

ANSWER = f"Let me check. {PARIS}"
RETRIED = [CUT_OFF, ANSWER]
USAGES = [7 + len(range(0, len(text), 3)) for text in RETRIED]
"""The tokens of both requests, as the scripted server counts them."""


class Recorder(BaseCallbackHandler):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.prompts: list[list[str]] = []
        self.answers: list[tuple[str, int]] = []
        self.tokens: list[str] = []
        self.errors: list[str] = []
        self.runs: list[UUID] = []
        self.parents: list[UUID | None] = []
        self.steps: list[dict[str, Any]] = []

    def on_chat_model_start(self, _: Any, messages: Any, *, run_id: UUID, **told: Any) -> None:
        self.prompts.append([str(message.text) for message in messages[0]])
        self.runs.append(run_id)
        self.parents.append(told["parent_run_id"])

    def on_llm_new_token(self, token: Any, **_: Any) -> None:
        self.tokens.append(token)

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        message: Any = response.generations[0][0].message  # type: ignore[union-attr]
        self.answers.append((str(message.text), message.usage_metadata["total_tokens"]))

    def on_llm_error(self, error: BaseException, **_: Any) -> None:
        self.errors.append(f"run: {type(error).__name__}")

    def on_chain_start(self, _: Any, inputs: dict[str, Any], **told: Any) -> None:
        self.steps.append({"name": told["name"], "parent": told["parent_run_id"], "asked": inputs["messages"]})

    def on_chain_end(self, outputs: dict[str, Any], **_: Any) -> None:
        self.steps[-1]["answered"] = outputs["messages"]

    def on_chain_error(self, error: BaseException, **_: Any) -> None:
        self.errors.append(f"step: {type(error).__name__}")


class CountingLimiter(InMemoryRateLimiter):
    """Counts requests, and lets all through."""

    def __init__(self) -> None:
        super().__init__(requests_per_second=1000)
        self.requests = 0

    def acquire(self, *, blocking: bool = True) -> bool:
        self.requests += blocking
        return True

    async def aacquire(self, *, blocking: bool = True) -> bool:
        return self.acquire(blocking=blocking)


def model(server: LoopbackServer, **options: Any) -> Any:
    return Llama3ToolModel(chat_openai(server, **options)).bind_tools([get_weather])


def ask(asked: Any, way: str, *callbacks: Any, **config: Any) -> AIMessage:
    """Ask in one way, and return the message."""
    told: Any = {"callbacks": list(callbacks), **config}

    async def astream() -> list[AIMessageChunk]:
        return [chunk async for chunk in asked.astream("Hi", told)]

    if way == "invoke":
        message = asked.invoke("Hi", told)
    elif way == "ainvoke":
        message = asyncio.run(asked.ainvoke("Hi", told))
    else:
        message = summed(asked.stream("Hi", told) if way == "stream" else asyncio.run(astream()))
    return message_chunk_to_message(message)  # type: ignore[return-value]


in_each_way = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])


@in_each_way
class TestTurns:
    def test_a_turn_is_one_run_from_what_the_user_asked_to_the_message_that_was_read(self, way: str) -> None:
        given = Recorder()
        with serving(*RETRIED) as server:
            message = ask(model(server), way, given)
        assert given.prompts == [["Hi"]]
        assert given.answers == [(message.text, sum(USAGES))]
        assert message.text.endswith("Let me check.")

    def test_usage_is_that_of_all_requests_and_counts_once(self, way: str) -> None:
        usage = UsageMetadataCallbackHandler()
        with serving(*RETRIED) as server:
            message = ask(model(server), way, usage)
        assert usage.usage_metadata["llama3.1"]["total_tokens"] == sum(USAGES)
        assert message.usage_metadata is not None
        assert message.usage_metadata["total_tokens"] == sum(USAGES)

    def test_each_request_is_a_step_with_the_prompt_that_was_sent_and_the_raw_answer(self, way: str) -> None:
        given = Recorder()
        with serving(*RETRIED) as server:
            ask(model(server), way, given)
            sent = [[message["content"] for message in request.body["messages"]] for request in server.requests]  # type: ignore[attr-defined]
        assert [[message.text for message in step["asked"]] for step in given.steps] == sent
        assert [[message.text for message in step["answered"]] for step in given.steps] == [[one] for one in RETRIED]
        assert all(message.usage_metadata is None for step in given.steps for message in step["answered"])
        assert {(step["name"], step["parent"]) for step in given.steps} == {("ChatOpenAI request", given.runs[0])}

    def test_a_tracer_sees_the_steps_in_the_turn_with_its_tags(self, way: str) -> None:
        with serving(*RETRIED) as server, collect_runs() as collected:
            ask(model(server), way, tags=["mine"], metadata={"a": 1})
        [turn] = collected.traced_runs
        assert (turn.name, turn.run_type) == ("Llama3ToolModel", "llm")
        assert [(step.name, step.run_type) for step in turn.child_runs] == [("ChatOpenAI request", "chain")] * 2
        assert all("mine" in (step.tags or ()) for step in turn.child_runs)
        assert all(step.extra["metadata"]["a"] == 1 for step in turn.child_runs if step.extra)

    def test_a_request_that_fails_ends_its_step_and_the_turn(self, way: str) -> None:
        given, own = Recorder(), Recorder()
        with serving() as server:
            asked = model(server, callbacks=[own])
        with pytest.raises(openai.APIConnectionError):
            ask(asked, way, given)
        assert [error.partition(":")[0] for error in given.errors] == ["step", "run"]
        assert [error.partition(":")[0] for error in own.errors] == ["run"]

    def test_a_rate_limiter_is_asked_for_each_request_wherever_it_was_given(self, way: str) -> None:
        limiter = CountingLimiter()
        with serving(*RETRIED, *RETRIED) as server:
            ask(model(server, rate_limiter=limiter), way)
            wrapper: Any = Llama3ToolModel(chat_openai(server), rate_limiter=limiter)
            ask(wrapper.bind_tools([get_weather]), way)
        assert limiter.requests == 4


@in_each_way
class TestCallbacksOfTheWrappedModel:
    def test_they_are_told_of_the_turn(self, way: str) -> None:
        own = Recorder()
        with serving(*RETRIED) as server:
            message = ask(model(server, callbacks=[own]), way)
        assert (own.prompts, own.answers, own.steps) == ([["Hi"]], [(message.text, sum(USAGES))], [])

    def test_one_that_follows_the_turn_as_well_is_told_once(self, way: str) -> None:
        both, usage = Recorder(), UsageMetadataCallbackHandler()
        with serving(*RETRIED) as server:
            ask(model(server, callbacks=[both, usage]), way, both, usage)
        assert both.prompts == [["Hi"]]
        assert usage.usage_metadata["llama3.1"]["total_tokens"] == sum(USAGES)


class TestTokens:
    """Calls are apart from them, wherever they are told."""

    @pytest.mark.parametrize(("way", "options"), [("stream", {}), ("invoke", {"streaming": True})])
    def test_they_are_the_text(self, way: str, options: dict[str, Any]) -> None:
        for asked_way in (way, f"a{way}"):
            given, own = Recorder(), Recorder()
            with serving(ANSWER) as server:
                ask(model(server, callbacks=[own], **options), asked_way, given)
            assert "".join(given.tokens) == "".join(own.tokens) == "Let me check."
            assert len(given.tokens) > 1

    def test_a_model_that_needs_a_run_manager_has_one(self) -> None:
        class Telling(ScriptedChatModel):
            def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
                run_manager.on_llm_new_token("raw")
                yield from super()._stream(messages, stop)

        given, asked = Recorder(), Llama3ToolModel(Telling(chunks=as_text_chunks([ANSWER]))).bind_tools([get_weather])
        ask(asked, "stream", given)
        assert "".join(given.tokens) == "Let me check."

    async def test_events_of_chat_models_hold_no_raw_call(self) -> None:
        with serving(ANSWER) as server:
            events = [event async for event in model(server).astream_events("Hi", version="v2")]
        of_models: list[Any] = [event for event in events if event["event"].startswith("on_chat_model")]
        assert [event["event"] for event in of_models if not event["event"].endswith("stream")] == [
            "on_chat_model_start",
            "on_chat_model_end",
        ]
        chunks = [event["data"]["chunk"] for event in of_models if event["event"] == "on_chat_model_stream"]
        assert "".join(chunk.text for chunk in chunks) == of_models[-1]["data"]["output"].text == "Let me check."

    @pytest.mark.parametrize(("before", "said"), [("", ""), ("Hm. ", "Hm.\n\n")])
    def test_an_agent_s_stream_has_each_text_once_and_none_that_is_all_asked_for_again(
        self, before: str, said: str
    ) -> None:
        with serving(f"{before}{CUT_OFF}", ANSWER, "Sunny.") as server:
            agent = create_agent(Llama3ToolModel(chat_openai(server)), [get_weather])
            items = list(agent.stream(QUESTION, stream_mode="messages"))
        texts = [chunk.text for chunk, _ in items if isinstance(chunk, AIMessageChunk)]  # type: ignore[misc]
        assert "".join(texts) == f"{said}Let me check.Sunny."


def test_what_a_server_says_beside_its_answers_is_summed() -> None:
    with serving(*RETRIED) as server:
        result = Llama3ToolModel(chat_openai(server)).generate([[HumanMessage("Hi")]], **model(server).kwargs)
    assert result.llm_output is not None
    assert result.llm_output["token_usage"]["total_tokens"] == sum(USAGES)
