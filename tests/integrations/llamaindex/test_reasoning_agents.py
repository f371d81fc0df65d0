"""Reasoning models behind `Llama3ToolLLM` and in agents: the loop works, and answers hold no reasoning."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.llms import ChatMessage
from llama_index.core.workflow import Context

from integrations.llamaindex.endpoint import TIME, TOOLS, WEATHER, Endpoint, endpoint
from integrations.llamaindex.test_reasoning import parts
from integrations.llamaindex.test_servers import native, native_stream
from integrations.llamaindex.ways import FUNCTION_AGENTS, PLAIN
from llama_index_llama3_tools import Llama3ReActOutputParser, Llama3ToolLLM

# LlamaIndex's own ReActAgent asks its context, from within a step, whether it runs.
pytestmark = pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")

THINKS = f"They want the weather: {WEATHER}?"
THOUGHT = f"<think>\n{THINKS}\n</think>\n\n"
ENVELOPE = '{"message": "Hi", "tool_call": null}'
ANSWER = "<think>It is sunny.</think>Sunny."


def llm_of(served: Endpoint, **options: Any) -> Llama3ToolLLM:
    return Llama3ToolLLM(served.llm(), **{"split_reasoning": True, **options})


class TestTheLLM:
    @pytest.mark.parametrize("way", [way for way in PLAIN if "chat" in way])
    @pytest.mark.parametrize("is_chat_model", [True, False])
    @pytest.mark.parametrize("starts", [True, False])
    async def test_without_tools(self, way: str, is_chat_model: bool, starts: bool) -> None:
        deltas: list[str] = []
        with endpoint(ANSWER.removeprefix("<think>") if starts else ANSWER) as served:
            llm = Llama3ToolLLM(served.llm(is_chat_model=is_chat_model), split_reasoning=True, starts_reasoning=starts)
            assert await PLAIN[way](llm, deltas.append) == "Sunny."
        assert "".join(deltas) in ("", "Sunny.")

    @pytest.mark.parametrize("streaming", [True, False])
    def test_a_server_that_splits_it_off_needs_nothing(self, streaming: bool) -> None:
        pieces = [{"reasoning_content": "So"}, {"reasoning_content": "."}, {"content": WEATHER}]
        served_answer = native_stream(*pieces) if streaming else native(text=WEATHER, reasoning_content="So.")
        with endpoint(served_answer) as served:
            llm = llm_of(served, starts_reasoning=True)
            if streaming:
                *_, last = llm.stream_chat_with_tools(TOOLS, "Weather?")
            else:
                last = llm.chat_with_tools(TOOLS, "Weather?")
        assert parts(last.message) == [("thinking", "So."), ("tool_call", "get_weather")]


class TestAgents:
    TURNS = (f"{THOUGHT}Let me see. {WEATHER}", ANSWER)

    @pytest.mark.parametrize("way", FUNCTION_AGENTS)
    async def test_the_loop_runs_what_was_not_only_thought_of(self, way: str) -> None:
        deltas: list[str] = []
        with endpoint(f"{THOUGHT}Let me see. {TIME}", ANSWER) as served:
            assert await FUNCTION_AGENTS[way](llm_of(served), deltas.append) == "Sunny."
        assert "".join(deltas) in ("", "Let me see.Sunny.")
        assert [content for _, content in served.messages(1)[1:]] == [
            f"Let me see.\n{TIME}",
            "Result of get_time: 12:30 CET",
        ]

    @pytest.mark.parametrize("make", [FunctionAgent, lambda **given: AgentWorkflow(agents=[FunctionAgent(**given)])])
    async def test_its_events_tell_the_reasoning_as_it_comes(self, make: Callable[..., Any]) -> None:
        with endpoint(*self.TURNS) as served:
            handler = make(tools=TOOLS, llm=llm_of(served)).run("Weather?")
            events = [event async for event in handler.stream_events() if isinstance(event, AgentStream)]
            final = await handler
        assert "".join(event.thinking_delta or "" for event in events) == f"{THINKS}It is sunny."
        assert sum(bool(event.thinking_delta) for event in events) > len("It is sunny.") / 4
        assert parts(final.response) == [("thinking", "It is sunny."), ("text", "Sunny.")]

    async def test_a_conversation_goes_on_without_it_and_can_be_stored(self) -> None:
        with endpoint(*self.TURNS, "Rain.") as served:
            agent = FunctionAgent(tools=TOOLS, llm=llm_of(served))
            ctx = Context(agent)
            handler = agent.run("Weather?", ctx=ctx)
            results = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
            await handler
            memory = await ctx.store.get("memory")
            stored = [ChatMessage.model_validate_json(one.model_dump_json()) for one in await memory.aget_all()]
            assert str(await agent.run("And tomorrow?", chat_history=stored)) == "Rain."
        assert [result.tool_kwargs for result in results] == [{"city": "Paris"}]
        assert [role for role, _ in served.messages(2)] == ["user", "assistant", "user", "assistant", "user"]
        assert "think" not in json.dumps(served.messages(2)), served.messages(2)
        assert "It is sunny" not in json.dumps(served.messages(2))


def test_a_react_step_is_read_after_the_reasoning_that_it_begins_in() -> None:
    read = Llama3ReActOutputParser(TOOLS, starts_reasoning=True)
    for output, content in [
        (f"Hm.\nAnswer: {WEATHER}</think>Thought: So.\n{TIME}", "get_time"),
        (f"Action: x\n</think>{TIME}", "get_time"),
        ("Answer: 1.</think>Thought: So.\nAnswer: 2.", "2."),
    ]:
        step: Any = read.parse(output)
        assert (step.response if step.is_done else step.action) == content
    with pytest.raises(ValueError, match="the answer holds reasoning and no step"):
        read.parse("Hm.</think>\n")
