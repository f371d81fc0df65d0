"""`create_agent` with the middleware and nothing else, on a server that refuses all that servers refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.structured_output import ProviderStrategy
from langchain_core.messages import AIMessageChunk, BaseMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from endpoints.script import Turn, scripted
from endpoints.server import LoopbackServer
from endpoints.wire import api
from integrations.langchain.agents import (
    PARIS,
    QUESTION,
    add,
    agent_on,
    chat_openai,
    conversations,
    get_weather,
    in_every_way,
    serving,
    shown,
)
from langchain_llama3_tools import Llama3ToolMiddleware, Llama3ToolModel, render_llama3_tools


class Forecast(BaseModel):
    """The forecast."""

    city: str
    degrees: int


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


class TestAmongOthers:
    def test_a_model_that_is_wrapped_already_stays_as_it_is(self) -> None:
        with serving(PARIS, "Sunny.") as server:
            model = Llama3ToolModel(chat_openai(server), tools_in="system")
            agent = create_agent(model, [get_weather], middleware=[Llama3ToolMiddleware()])
            assert agent.invoke(QUESTION)["messages"][-1].text == "Sunny."  # type: ignore[arg-type]
        assert [role for role, _ in conversations(server)[0]] == ["system", "user"]

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
