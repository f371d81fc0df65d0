"""Arguments in an agent: made to fit, sent back where they cannot be, and left to what other middleware says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain.tools import ToolRuntime
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PydanticSchemaGenerationError, field_validator

from integrations.langchain.agents import (
    QUESTION,
    agent_on,
    call,
    chat_openai,
    conversations,
    in_every_way,
    serving,
    shown,
)
from integrations.langchain.test_arguments import MISTYPED, SOON, TYPED, plan, wait
from langchain_llama3_tools import Llama3ToolMiddleware, Llama3ToolModel

COMPLAINT = (
    "Error of wait: The arguments do not fit, and the call was not run: $.days: expected integer, got the string "
    '"soon". Write all of it again, in the form {"name": "wait", "parameters": {"days": "<integer>"}}'
)


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
    def known(cls, value: Any) -> str:  # noqa: ANN401 (as the model wrote it)
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

    def wrap_model_call(self, request: Any, handler: Any) -> Any:  # noqa: ANN401
        return self._mended(handler(request))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:  # noqa: ANN401
        return self._mended(await handler(request))

    def _mended(self, response: Any) -> Any:  # noqa: ANN401
        for made in response.result[0].tool_calls:
            made["args"]["days"] = 1
        return response


class TestAgents:
    @in_every_way
    def test_a_tool_gets_what_it_declares(self, run: Callable[..., Any]) -> None:
        with serving(MISTYPED, "Done.") as server:
            messages = run(agent_on(server, plan))["messages"]
        assert shown(messages)[1:] == [
            ("ai", [TYPED]),
            ("tool", "3 ['sea', 'sun'] Place(city='Nice', zip='06000')"),
            ("ai", "Done."),
        ]

    @in_every_way
    def test_what_cannot_be_made_to_fit_goes_back_and_is_written_again(self, run: Callable[..., Any]) -> None:
        with serving(SOON, call("wait", days="2"), "Done.") as server:
            messages = run(agent_on(server, wait))["messages"]
        assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
        assert messages[1].tool_calls[0]["args"] == {"days": 2}
        assert messages[2].text == "waited 2"
        *_, written, complaint = conversations(server)[1]
        assert (written, complaint) == (("assistant", SOON), ("user", COMPLAINT))

    @in_every_way
    @pytest.mark.parametrize("max_retries", [0, 1, 3])
    def test_so_many_times_in_a_row_at_most_and_then_the_tool_says_so(
        self, run: Callable[..., Any], max_retries: int
    ) -> None:
        with serving(*[SOON] * (max_retries + 1), "I give up.") as server:
            messages = run(agent_on(server, wait, max_retries=max_retries))["messages"]
        [told] = [message.text for message in messages if message.type == "tool"]
        assert told.startswith("Error invoking tool 'wait'")
        assert messages[-1].text == "I give up."
        assert "$.days: expected integer" in conversations(server)[-1][-1][1]

    def test_a_good_call_in_between_counts_anew(self) -> None:
        with serving(SOON, call("wait", days=1), SOON, call("wait", days=2), "Done.") as server:
            messages = agent_on(server, wait).invoke(QUESTION)["messages"]
        assert [message.text for message in messages if message.type == "tool"] == ["waited 1", "waited 2"]

    def test_one_beside_a_good_call_goes_to_the_tool_while_that_runs(self) -> None:
        with serving(f"{call('wait', days=1)}; {SOON}", "Done.") as server:
            messages = agent_on(server, wait).invoke(QUESTION)["messages"]
        assert [message.type for message in messages] == ["human", "ai", "tool", "tool", "ai"]
        assert messages[3].text.startswith("Error invoking tool 'wait'")

    def test_one_beside_a_malformed_call_goes_back_with_it(self) -> None:
        with serving(f"{SOON}; {SOON[:-3]}", call("wait", days=1), "Done.") as server:
            agent_on(server, wait).invoke(QUESTION)
        told = conversations(server)[1][-1][1]
        assert COMPLAINT.removeprefix("Error of wait: ") in told
        assert "The call is cut off, and was not run" in told

    @pytest.mark.parametrize(
        ("schema", "arguments"),
        [
            pytest.param({"properties": {"a": {"type": "string"}}}, {"a": "x", "b": 1}, id="an-unknown-parameter"),
            pytest.param({"properties": {"a": {"minimum": "low"}}}, {"a": "x"}, id="no-schema-by-the-standard"),
            pytest.param({"properties": {"a": {"pattern": r"\p{L}+"}}}, {"a": 1}, id="a-pattern-of-another-dialect"),
            pytest.param(
                {"properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}}, {"a": "x"}, id="an-old-draft"
            ),
        ],
    )
    def test_what_no_model_can_mend_is_not_sent_back(self, schema: Any, arguments: Any) -> None:  # noqa: ANN401
        echo = StructuredTool.from_function(
            lambda **given: str(given), name="echo", description="E.", args_schema={"type": "object", **schema}
        )
        with serving(call("echo", **arguments), "Done.") as server:
            messages = agent_on(server, echo).invoke(QUESTION)["messages"]
        assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
        assert messages[2].status == "success"

    def test_rules_that_no_tool_of_a_bare_schema_checks_are_checked(self) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 5}}, "required": ["a"]}
        echo = StructuredTool.from_function(
            lambda **given: str(given), name="echo", description="E.", args_schema=schema
        )
        with serving(call("echo", a="9"), call("echo"), call("echo", a="4"), "Done.") as server:
            messages = agent_on(server, echo, max_retries=2).invoke(QUESTION)["messages"]
        asked = conversations(server)
        assert "$.a: expected at most 5, got the integer 9" in asked[1][-1][1]
        assert "$.a: missing, expected integer" in asked[2][-1][1]
        assert messages[2].text == "{'a': 4}"

    @in_every_way
    def test_where_it_is_not_wanted_calls_go_to_the_tool_as_they_are(self, run: Callable[..., Any]) -> None:
        with serving(SOON, "Done.") as server:
            messages = run(agent_on(server, wait, coerce_arguments=False))["messages"]
        assert messages[2].text.startswith("Error invoking tool 'wait'")
        assert "coerced_arguments" not in messages[1].response_metadata

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
    def test_what_the_tool_s_own_class_takes_goes_to_it(self, arguments: Any) -> None:  # noqa: ANN401
        with serving(call("lax", **arguments), "Done.") as server:
            messages = agent_on(server, lax).invoke(QUESTION)["messages"]
        assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
        assert messages[2].status == "success"
        assert messages[2].text.startswith("ran with")

    def test_and_what_it_refuses_goes_back_in_the_words_of_its_schema(self) -> None:
        with serving(call("lax", on="perhaps"), call("lax", on="yes"), "Done.") as server:
            messages = agent_on(server, lax).invoke(QUESTION)["messages"]
        assert conversations(server)[1][-1][1] == (
            "Error of lax: The arguments do not fit, and the call was not run: $.on: expected boolean, got the string "
            '"perhaps". Write all of it again, in the form {"name": "lax", "parameters": {"on": "<boolean>"}}'
        )
        assert messages[2].text.startswith("ran with")

    def test_so_does_what_its_own_class_fails_on(self) -> None:
        with serving(call("lax", place=1), call("lax", place="here"), "Done.") as server:
            messages = agent_on(server, lax).invoke(QUESTION)["messages"]
        assert "$.place: expected string, got the integer 1" in conversations(server)[1][-1][1]
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

    def test_a_model_that_leaves_arguments_as_they_are_has_its_way(self) -> None:
        with serving(SOON, "Done.") as server:
            model = Llama3ToolModel(chat_openai(server), coerce_arguments=False)
            messages = create_agent(model, [wait], middleware=[Llama3ToolMiddleware()]).invoke(QUESTION)["messages"]
        assert messages[2].text.startswith("Error invoking tool 'wait'")
