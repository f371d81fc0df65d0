"""LlamaIndex's agents with a Llama 3 that writes its calls as text, over real HTTP."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.agent.workflow import (
    AgentStream,
    AgentWorkflow,
    FunctionAgent,
    ToolCall,
    ToolCallResult,
)
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts import PromptTemplate

from endpoints.script import scripted
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import api
from integrations.llamaindex.endpoint import TIME, TOOLS, WEATHER, Endpoint, endpoint, get_time, get_weather, say
from integrations.llamaindex.scripted import ScriptedLLM
from llama3_tools import render_tool_call, render_tool_prompt
from llama_index_llama3_tools import Llama3ToolLLM
from llama_index_llama3_tools.tools import tool_dicts

if TYPE_CHECKING:
    from llama_index.core.workflow import Event

PROMPT = render_tool_prompt(tool_dicts(TOOLS))


# With pydantic 2.14 LlamaIndex cannot serialise its own memory, and says so each time it takes stock of a context.
pytestmark = pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key. memory")


def agent_of(llm: Any, **options: Any) -> FunctionAgent:
    llm = llm if isinstance(llm, Llama3ToolLLM) else Llama3ToolLLM(llm)
    return FunctionAgent(**{"tools": TOOLS, "llm": llm, **options})


async def run(agent: Any, message: str = "Weather in Paris?", **options: Any) -> tuple[str, list[Event]]:
    handler = agent.run(message, **options)
    events = [event async for event in handler.stream_events()]
    return str(await handler), events


def deltas(events: list[Event]) -> str:
    return "".join(event.delta for event in events if isinstance(event, AgentStream))


def called(events: list[Event]) -> list[tuple[str, dict[str, Any]]]:
    # A result is a call too, to Python.
    return [(event.tool_name, event.tool_kwargs) for event in events if type(event) is ToolCall]


def results(events: list[Event]) -> list[str]:
    return [event.tool_output.content for event in events if isinstance(event, ToolCallResult)]


class TestFunctionAgent:
    @pytest.mark.parametrize("streaming", [True, False])
    async def test_it_runs_the_tool_and_answers(self, streaming: bool) -> None:
        with endpoint(f"Let me check. {WEATHER}", "Sunny.") as served:
            answer, events = await run(agent_of(served.llm(), streaming=streaming))
        assert answer == "Sunny."
        assert called(events) == [("get_weather", {"city": "Paris"})]
        assert deltas(events) == ("Let me check.Sunny." if streaming else "")
        first, second = served.bodies
        assert "tools" not in first
        assert bool(first.get("stream")) is streaming
        assert served.messages(0) == [("user", f"{PROMPT}\n\nWeather in Paris?")]
        assert served.messages(1) == [
            ("user", f"{PROMPT}\n\nWeather in Paris?"),
            ("assistant", f"Let me check.\n{WEATHER}"),
            ("user", "Result of get_weather: Sun in Paris"),
        ]
        assert "tool_calls" not in second["messages"][1]
        assert "tool_call_id" not in second["messages"][2]

    async def test_the_caller_s_history_and_memory_are_left_alone(self) -> None:
        history = [ChatMessage(content="Hi"), ChatMessage(role="assistant", content="Hello.")]
        memory = ChatMemoryBuffer.from_defaults(chat_history=list(history))
        before = [message.model_dump_json() for message in history]
        with endpoint(WEATHER, "Sunny.") as served:
            await run(agent_of(served.llm()), memory=memory)
        assert [message.model_dump_json() for message in history] == before
        assert [message.content for message in memory.get_all()] == [
            "Hi",
            "Hello.",
            "Weather in Paris?",
            None,
            "Sun in Paris",
            "Sunny.",
        ]

    async def test_many_runs_of_one_agent_at_once_keep_to_themselves(self) -> None:
        cities = [f"City{n}" for n in range(12)]
        all_asked = threading.Barrier(len(cities), timeout=30)

        def respond(request: Request) -> Answer:
            question, *told = request.body["messages"]
            if not told:
                all_asked.wait()
            city = question["content"].rpartition(" ")[2]
            text = told[-1]["content"] if told else render_tool_call("get_weather", {"city": city})
            return scripted([say(text)])(request)

        with LoopbackServer(api(["llama3.1"], respond)) as server:
            agent = agent_of(Endpoint(server).llm(), streaming=True)
            answers = await asyncio.gather(*(run(agent, f"Weather in {city}") for city in cities))
        assert [called(events) for _, events in answers] == [[("get_weather", {"city": city})] for city in cities]
        assert [answer for answer, _ in answers] == [f"Result of get_weather: Sun in {city}" for city in cities]

    async def test_an_llm_that_completes_text(self) -> None:
        with endpoint(f" {WEATHER}", " Sunny.") as served:
            answer, events = await run(agent_of(served.llm(is_chat_model=False)))
        assert (answer, results(events)) == (" Sunny.", ["Sun in Paris"])
        assert "Result of get_weather: Sun in Paris" in served.bodies[1]["prompt"]


@pytest.mark.parametrize("streaming", [True, False])
async def test_agents_hand_over_to_each_other(streaming: bool) -> None:
    handoff = '{"name": "handoff", "parameters": {"to_agent": "clock", "reason": "It is about the time."}}'
    with endpoint(f"Not mine. {handoff}", TIME, "Half past twelve.") as served:
        llm = Llama3ToolLLM(served.llm())
        weather = FunctionAgent(
            name="weather", description="Knows the weather", tools=[get_weather], llm=llm, streaming=streaming
        )
        clock = FunctionAgent(
            name="clock", description="Knows the time", tools=[get_time], llm=llm, streaming=streaming
        )
        answer, events = await run(AgentWorkflow(agents=[weather, clock], root_agent="weather"), "What time is it?")
    assert answer == "Half past twelve."
    assert [name for name, _ in called(events)] == ["handoff", "get_time"]
    assert '"name": "handoff"' in served.messages(0)[0][1]
    assert handoff in served.messages(1)[1][1]


class TestPrograms:
    @pytest.mark.parametrize("tools", [TOOLS, [get_weather, get_time]], ids=["tools", "functions"])
    async def test_predict_and_call_runs_the_first_call_alone_or_all(self, tools: list[Any]) -> None:
        with endpoint(*[f"{WEATHER}; {TIME}"] * 3) as served:
            llm = Llama3ToolLLM(served.llm())
            assert str(llm.predict_and_call(tools, "Weather?")) == "Sun in Paris"
            assert str(await llm.apredict_and_call(tools, user_msg="Weather?")) == "Sun in Paris"
            both = llm.predict_and_call(tools, "Weather?", allow_parallel_tool_calls=True)
        assert str(both) == "Sun in Paris\n\n12:30 CET"

    async def test_predict_and_call_says_what_came_instead_of_a_call(self) -> None:
        forecast = '{"name": "forecast", "parameters": {}}'
        with endpoint("Hello.", forecast, forecast) as served:
            llm = Llama3ToolLLM(served.llm())
            with pytest.raises(ValueError, match=r"wrote no tool call: 'Hello\.'"):
                llm.predict_and_call(TOOLS, "Weather?")
            with pytest.raises(ValueError, match=r"wrote no tool call: '.*forecast"):
                await llm.apredict_and_call(TOOLS, "Weather?")
            assert str(llm.predict_and_call(TOOLS, "Weather?", error_on_no_tool_call=False)) == forecast

    def test_predict_asks_as_the_wrapped_llm_does(self) -> None:
        inside = ScriptedLLM(
            chunks=["Hello."], is_chat_model=False, system_prompt="Be brief.", completion_to_prompt="<{}>".format
        )
        for llm in (inside, Llama3ToolLLM(inside)):
            assert llm.predict(PromptTemplate("Hi")) == "Hello."
        assert inside.prompts == ["Be brief.\n\n<Hi>"] * 2
