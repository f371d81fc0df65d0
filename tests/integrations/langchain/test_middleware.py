"""`create_agent` with the middleware and nothing else, on a server that refuses all that servers refuse."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.caches import InMemoryCache
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from endpoints.script import Turn, scripted
from endpoints.server import LoopbackServer
from endpoints.wire import api
from integrations.langchain.agents import (
    PARIS,
    QUESTION,
    add,
    agent_on,
    awaited,
    call,
    chat_openai,
    conversations,
    get_weather,
    in_every_way,
    invoked,
    serving,
    shown,
    with_context,
)
from integrations.langchain.scripted import counted_ids
from langchain_llama3_tools import Llama3ToolMiddleware, Llama3ToolModel, render_llama3_tools

BROKEN = '{"name": "get_weather", "parameters": {"city": "Paris"'


class Forecast(BaseModel):
    """The forecast."""

    city: str
    degrees: int


FORECAST = call("Forecast", city="Paris", degrees=21)

Run = Callable[..., list[BaseMessage]]


class TestTurns:
    @in_every_way
    def test_a_call_runs_and_the_model_answers(self, run: Run) -> None:
        with serving(f"Let me check. {PARIS}", "It is sunny.") as server:
            messages = run(agent_on(server, system_prompt="Be brief."))["messages"]
        assert shown(messages) == [
            ("human", "How is Paris?"),
            ("ai", [{"city": "Paris"}]),
            ("tool", "sunny in Paris"),
            ("ai", "It is sunny."),
        ]
        assert messages[1].text == "Let me check."
        prompt = render_llama3_tools([get_weather, add])
        first, second = conversations(server)
        assert first == [("system", "Be brief."), ("user", f"{prompt}\n\nHow is Paris?")]
        assert second == [
            *first,
            ("assistant", f"Let me check.\n{PARIS}"),
            ("user", "Result of get_weather: sunny in Paris"),
        ]

    @in_every_way
    def test_parallel_calls_in_several_turns(self, run: Run) -> None:
        turns = (
            f"{PARIS}\n{call('get_weather', city='Oslo')}",
            f"Now the sum.\n{call('add', a=2, b=3)}\n{PARIS}",
            "Done.",
        )
        with serving(*turns) as server:
            messages = run(agent_on(server))["messages"]
        assert shown(messages)[1:] == [
            ("ai", [{"city": "Paris"}, {"city": "Oslo"}]),
            ("tool", "sunny in Paris"),
            ("tool", "sunny in Oslo"),
            ("ai", [{"a": 2, "b": 3}, {"city": "Paris"}]),
            ("tool", "5"),
            ("tool", "sunny in Paris"),
            ("ai", "Done."),
        ]
        last = conversations(server)[-1]
        assert [role for role, _ in last] == ["user", "assistant", "user", "assistant", "user"]
        assert last[1][1] == turns[0]
        assert last[2][1] == (
            'Result of get_weather {"city": "Paris"}: sunny in Paris\n\n'
            'Result of get_weather {"city": "Oslo"}: sunny in Oslo'
        )
        assert last[4][1] == "Result of add: 5\n\nResult of get_weather: sunny in Paris"
        ids = [made["id"] for message in messages if isinstance(message, AIMessage) for made in message.tool_calls]
        assert len(set(ids)) == len(ids) == 4

    def test_the_stream_of_messages_is_clean(self) -> None:
        with serving(f"Let me check. {PARIS} One moment.", "It is {sunny}.") as server:
            items = list(agent_on(server).stream(QUESTION, stream_mode="messages"))
        chunks = [chunk for chunk, _ in items if isinstance(chunk, AIMessageChunk)]
        assert len(chunks) == len([message for message, _ in items if message.type != "tool"])
        ids = list(dict.fromkeys(chunk.id for chunk in chunks))
        texts = ["".join(str(chunk.text) for chunk in chunks if chunk.id == one) for one in ids]
        assert texts == ["Let me check. One moment.", "It is {sunny}."]
        calls = [made for chunk in chunks for made in chunk.tool_calls]
        assert [(made["name"], made["args"]) for made in calls] == [("get_weather", {"city": "Paris"})]
        [result] = [message for message, _ in items if isinstance(message, ToolMessage)]
        assert result.content == "sunny in Paris"

    def test_an_agent_without_tools_is_a_chat(self) -> None:
        with serving(PARIS) as server:
            agent = create_agent(chat_openai(server), [], middleware=[Llama3ToolMiddleware()])
            assert shown(agent.invoke(QUESTION)["messages"])[1:] == [("ai", PARIS)]  # type: ignore[arg-type]
        assert conversations(server) == [[("user", "How is Paris?")]]


class TestStructuredAnswers:
    @in_every_way
    @pytest.mark.parametrize("response_format", [ToolStrategy(Forecast), Forecast], ids=["strategy", "schema"])
    def test_after_a_tool(self, run: Any, response_format: Any) -> None:
        with serving(PARIS, FORECAST) as server:
            result = run(agent_on(server, response_format=response_format))
        assert result["structured_response"] == Forecast(city="Paris", degrees=21)
        assert "Call a function in your reply." in conversations(server)[0][0][1]

    def test_a_model_that_never_calls_ends_with_its_text(self) -> None:
        with serving("21 degrees.", "21 degrees.") as server:
            result = agent_on(server, response_format=Forecast).invoke(QUESTION)
        assert result["messages"][-1].text == "21 degrees."
        assert result.get("structured_response") is None


class TestRetries:
    """What the model is told, and how often, is the chat layer's; here, that an agent goes on with it."""

    @with_context
    @in_every_way
    def test_a_malformed_call_goes_back_with_what_was_wrong(self, run: Run) -> None:
        with serving(f"Hm. {BROKEN}", PARIS, "Sunny.") as server:
            messages = run(agent_on(server))["messages"]
        assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
        assert messages[-1].text == "Sunny."
        assert messages[1].text == ("" if run in {invoked, awaited} else "Hm.")
        *_, written, complaint = conversations(server)[1]
        assert written == ("assistant", f"Hm. {BROKEN}")
        assert complaint[0] == "user"
        assert '"parameters": {"city": "<string>"}' in complaint[1]
        assert "<string>" not in conversations(server)[2][-1][1], "it is told of a call once"

    def test_a_conversation_goes_on_after_one_that_stayed_broken(self) -> None:
        with serving(BROKEN, BROKEN, "Hello again.") as server:
            agent = agent_on(server, checkpointer=InMemorySaver())
            config = {"configurable": {"thread_id": "1"}}
            agent.invoke(QUESTION, config)
            messages = agent.invoke({"messages": [("user", "Hello?")]}, config)["messages"]
        assert messages[-1].text == "Hello again."
        [*_, (wrote, _), (told, text)] = conversations(server)[-1]
        assert (wrote, told) == ("assistant", "user"), "some templates want the roles in turns"
        assert text.endswith("Hello?")


class TestAmongOthers:
    def test_a_model_that_is_wrapped_already_stays_as_it_is(self) -> None:
        with serving(PARIS, "Sunny.") as server:
            model = Llama3ToolModel(chat_openai(server), tools_in="system")
            agent = create_agent(model, [get_weather], middleware=[Llama3ToolMiddleware()])
            assert agent.invoke(QUESTION)["messages"][-1].text == "Sunny."  # type: ignore[arg-type]
        assert [role for role, _ in conversations(server)[0]] == ["system", "user"]

    @pytest.mark.parametrize(
        ("options", "of_the_model", "is_told"),
        [
            ({"tools_in": "system", "repair": True}, {}, True),
            ({"formats": "json"}, {"formats": ["function"]}, True),
            ({"coerce_arguments": False}, {}, True),
            ({"split_reasoning": True}, {"split_reasoning": True}, False),
            ({}, {"split_reasoning": True, "coerce_arguments": False}, False),
        ],
    )
    @pytest.mark.parametrize("run", [invoked, awaited])
    def test_options_that_such_a_model_does_not_heed_are_told_of(
        self, run: Run, options: dict[str, Any], of_the_model: dict[str, Any], is_told: bool
    ) -> None:
        with serving("Sunny.") as server:
            model = Llama3ToolModel(chat_openai(server), **of_the_model)
            agent = create_agent(model, [get_weather], middleware=[Llama3ToolMiddleware(**options)])
            with pytest.warns(UserWarning, match="keeps its own options") if is_told else nullcontext():
                assert run(agent)["messages"][-1].text == "Sunny."

    def test_it_takes_the_model_that_another_middleware_chose(self) -> None:
        class Choose(AgentMiddleware):
            def __init__(self, model: ChatOpenAI) -> None:
                super().__init__()
                self.model = model

            def wrap_model_call(self, request: Any, handler: Any) -> Any:
                return handler(request.override(model=self.model))

        with serving(PARIS, "Sunny.") as chosen, serving() as other:
            agent = agent_on(other, before=[Choose(chat_openai(chosen))])
            assert agent.invoke(QUESTION)["messages"][-1].text == "Sunny."
        assert conversations(other) == []

    def test_one_that_answers_itself_is_no_reason_to_warn(self, recwarn: pytest.WarningsRecorder) -> None:
        class Guard(AgentMiddleware):
            def wrap_model_call(self, request: Any, handler: Any) -> Any:
                del request, handler
                return ModelResponse(result=[AIMessage("I must not say.")])

        cached = FakeListChatModel(responses=["Sunny."], cache=InMemoryCache())
        assert invoked(create_agent(cached, [get_weather], middleware=[Llama3ToolMiddleware()]))
        for model, others in ((cached, []), (FakeListChatModel(responses=[]), [Guard()])):
            invoked(create_agent(model, [get_weather], middleware=[Llama3ToolMiddleware(), *others]))
        assert [str(warning.message) for warning in recwarn if warning.category is UserWarning] == []

    def test_its_options_are_those_of_the_model(self) -> None:
        ids = counted_ids()
        with serving(f"{PARIS}; {PARIS}", "Sunny.") as server:
            messages = agent_on(server, tools_in="system", id_factory=ids).invoke(QUESTION)["messages"]
        assert [made["id"] for made in messages[1].tool_calls] == ["call_0", "call_1"]
        assert [role for role, _ in conversations(server)[0]] == ["system", "user"]

    def test_a_provider_strategy_goes_to_the_server_as_it_is(self) -> None:
        answer = Turn(pieces=('{"city": "Paris", ', '"degrees": 21}'))
        with LoopbackServer(api(["llama3.1"], scripted([answer]))) as server:
            result = agent_on(server, response_format=ProviderStrategy(Forecast)).invoke(QUESTION)
        assert result["structured_response"] == Forecast(city="Paris", degrees=21)
        assert "response_format" in server.requests[-1].body
        assert "tools" not in server.requests[-1].body


def test_the_names_of_the_package_can_be_listed_without_it() -> None:
    import langchain_llama3_tools as package  # noqa: PLC0415 (what is tested)

    assert package.Llama3ToolMiddleware is Llama3ToolMiddleware
    with pytest.raises(AttributeError, match="has no attribute 'Llama3Middleware'"):
        package.Llama3Middleware  # type: ignore[attr-defined]  # noqa: B018 (asking is the test)


@in_every_way
@pytest.mark.parametrize("last", ["", "<|eot_id|>"])
def test_an_answer_of_nothing_ends_a_run(run: Run, last: str) -> None:
    with serving(PARIS, last) as server:
        assert run(agent_on(server))["messages"][-1].text == ""
