"""Arguments in an agent: made to fit, sent back where they cannot be, and left to what other middleware says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any

import pytest
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain.tools import ToolRuntime
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PydanticSchemaGenerationError, field_validator

from integrations.langchain.agents import (
    QUESTION,
    agent_on,
    call,
    conversations,
    in_every_way,
    serving,
    shown,
)
from integrations.langchain.test_arguments import SOON, wait


def _split(value: object) -> object:
    return value.split(",") if isinstance(value, str) else value


class Lax(BaseModel):
    """Arguments of which a validator, or pydantic itself, reads more than the schema says."""

    model_config = ConfigDict(populate_by_name=True)
    on: bool = False
    count: int = 0
    numbers: set[int] = set()
    pause: timedelta = timedelta(0)
    days: int = Field(default=0, alias="numDays")
    words: list[str] = []
    place: str = ""
    cities: Annotated[list[str], BeforeValidator(_split)] = []

    @field_validator("words", mode="before")
    @classmethod
    def split(cls, value: object) -> object:
        return _split(value)

    @field_validator("place", mode="before")
    @classmethod
    def known(cls, value: Any) -> str:
        return {"here": "Paris"}[value]


@tool(args_schema=Lax)
def lax(**given: object) -> str:
    """Take much."""
    return f"ran with {sorted(given)}"


def watch(on: bool, runtime: ToolRuntime) -> str:
    """Watch."""
    return f"{on} of {len(runtime.state['messages'])}"


class Mending(AgentMiddleware):
    """Mends the model's calls in place."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return self._mended(handler(request))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return self._mended(await handler(request))

    def _mended(self, response: Any) -> Any:
        for made in response.result[0].tool_calls:
            made["args"]["days"] = 1
        return response


class TestAgents:
    @pytest.mark.parametrize(
        "arguments",
        [
            {"on": 1},
            {"on": "yes"},
            {"count": True},
            {"numbers": [1, 1]},
            {"pause": 60},
            {"numDays": 1, "pause": 60},
            {"words": "a, b", "on": 1},
            {"cities": "a,b", "on": 1},
        ],
        ids=str,
    )
    def test_what_the_tool_s_own_class_takes_goes_to_it(self, arguments: Any) -> None:
        with serving(call("lax", **arguments), "Done.") as server:
            messages = agent_on(server, lax).invoke(QUESTION)["messages"]
        assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
        assert messages[2].status == "success"
        assert messages[2].text.startswith("ran with")

    def test_and_what_it_refuses_goes_back_in_the_words_of_its_schema(self) -> None:
        with serving(call("lax", on="perhaps"), call("lax", on="yes"), "Done.") as server:
            messages = agent_on(server, lax).invoke(QUESTION)["messages"]
        assert conversations(server)[1][-1][1].startswith(
            "Error of lax: The arguments do not fit, and the call was not run: $.on: expected boolean, got the string "
            '"perhaps". Write all of it again, in the form {"name": "lax", "parameters": {"on": "<boolean>"}}'
        )
        assert messages[2].text.startswith("ran with")

    @in_every_way
    def test_what_the_agent_fills_in_itself_is_not_missing(self, run: Callable[..., Any]) -> None:
        try:
            watching = tool(watch)
        except PydanticSchemaGenerationError:
            pytest.skip("pydantic 2.10 makes no schema of LangChain's ToolRuntime")
        answers = (call("watch", on=1), call("watch", on=1, runtime=1), call("watch", on="perhaps"), "Done.")
        with serving(*answers) as server:
            messages = run(agent_on(server, watching))["messages"]
        assert [message.text for message in messages if message.type == "tool"] == ["True of 2", "True of 4"]
        assert "The arguments do not fit" in conversations(server)[3][-1][1] if len(conversations(server)) > 3 else True

    @in_every_way
    def test_what_other_middleware_mends_runs(self, run: Callable[..., Any]) -> None:
        with serving(call("wait", days=5), "Done.") as server:
            messages = run(agent_on(server, wait, before=[Mending()]))["messages"]
        assert shown(messages)[1:] == [("ai", [{"days": 1}]), ("tool", "waited 1"), ("ai", "Done.")]

    def test_a_person_who_comes_before_is_asked_about_calls_that_fit_alone(self) -> None:
        person = HumanInTheLoopMiddleware(interrupt_on={"wait": True})
        thread: Any = {"configurable": {"thread_id": "1"}}
        with serving(SOON, call("wait", days=2), "Done.") as server:
            agent = agent_on(server, wait, before=[person], checkpointer=InMemorySaver())
            [asked] = agent.invoke(QUESTION, thread)["__interrupt__"]
            assert [action["args"] for action in asked.value["action_requests"]] == [{"days": 2}]
            messages = agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread)["messages"]
        assert [message.text for message in messages[-2:]] == ["waited 2", "Done."]
