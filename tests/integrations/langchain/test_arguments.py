"""Arguments that fit: made to, told on the message, and sent back to the model where they cannot be."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.tools import StructuredTool, tool
from pydantic import BaseModel, ValidationError

from chunkings import chunkings
from integrations.langchain.agents import PARIS, QUESTION, agent_on, call, conversations, in_every_way, serving, shown
from integrations.langchain.scripted import (
    ScriptedChatModel,
    as_block_chunks,
    as_text_chunks,
    counted_ids,
    fields,
    streamed,
    summed,
)
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolMiddleware, Llama3ToolModel
from llama3_tools import MissingExtraError


class Place(BaseModel):
    """A place."""

    city: str
    zip: str | None = None


@tool
def plan(days: int, labels: list[str], place: Place) -> str:
    """Plan a trip."""
    return f"{days!r} {labels!r} {place!r}"


@tool
def wait(days: int) -> str:
    """Wait."""
    return f"waited {days!r}"


MISTYPED = call("plan", days="3", labels="['sea', 'sun']", place='{"city": "Nice", "zip": "06000"}')
WRITTEN = json.dumps(json.loads(MISTYPED)["parameters"])
TYPED = {"days": 3, "labels": ["sea", "sun"], "place": {"city": "Nice", "zip": "06000"}}
SOON = call("wait", days="soon")
COMPLAINT = (
    "Error of wait: The arguments do not fit, and the call was not run: $.days: expected integer, got the string "
    '"soon". Write all of it again, in the form {"name": "wait", "parameters": {"example_name": "example_value"}}'
)


def parser(**options: Any) -> Llama3JsonToolOutputParser:  # noqa: ANN401 (any option)
    return Llama3JsonToolOutputParser(
        **{"tools": [plan, wait], "coerce_arguments": True, "id_factory": counted_ids(), **options}
    )


def native(*pieces: str) -> list[AIMessageChunk]:
    """Give a call as a server sends it that found it, in pieces."""
    first = tool_call_chunk(name="plan", args="", id="a", index=0)
    rest = [tool_call_chunk(args=piece, index=0) for piece in pieces]
    return [AIMessageChunk(content="", tool_call_chunks=[piece]) for piece in (first, *rest)]


class TestTheParser:
    def test_it_leaves_arguments_as_they_are_unless_told_otherwise(self) -> None:
        message = parser(coerce_arguments=False).invoke(MISTYPED)
        assert message.tool_calls[0]["args"]["days"] == "3"
        assert "coerced_arguments" not in message.response_metadata

    def test_what_was_changed_and_what_does_not_fit_is_told_by_the_call_s_id(self) -> None:
        message = parser().invoke(f"{call('wait', days=1)}; {call('wait', days='3')}; {call('wait', days='soon', x=1)}")
        assert [made["args"] for made in message.tool_calls] == [{"days": 1}, {"days": 3}, {"days": "soon", "x": 1}]
        changed, misfit = message.response_metadata["coerced_arguments"]
        assert changed == {
            "id": "call_1",
            "name": "wait",
            "written": '{"days": "3"}',
            "changes": [{"path": "$.days", "declared": "integer", "before": "3", "after": 3}],
            "problems": [],
        }
        assert (misfit["id"], misfit["changes"]) == ("call_2", [])
        assert misfit["problems"] == [
            {
                "path": "$.days",
                "declared": "integer",
                "value": "soon",
                "reason": "wrong_type",
                "message": '$.days: expected integer, got the string "soon"',
            },
            {
                "path": "$.x",
                "declared": "",
                "value": 1,
                "reason": "unknown_parameter",
                "message": "$.x: unknown, expected only days",
            },
        ]

    @pytest.mark.parametrize("as_chunks", [as_text_chunks, as_block_chunks])
    def test_the_sum_of_the_chunks_is_what_invoke_gives(self, as_chunks: Callable[[list[str]], Any]) -> None:
        output = f"Let me see. {MISTYPED}; {SOON} {PARIS}"
        for pieces in chunkings(output):
            chunks = as_chunks(pieces)
            out = streamed(parser(), chunks)
            expected = parser().invoke(summed(chunks))
            assert fields(summed(out)) == fields(expected)
            assert [made["args"] for made in expected.tool_calls] == [TYPED, {"days": "soon"}]
            assert [len(chunk.response_metadata.get("coerced_arguments", ())) for chunk in out].count(1) == 2

    def test_calls_that_the_server_found_are_made_to_fit_as_well(self) -> None:
        message = summed(streamed(parser(), native(WRITTEN[:9], WRITTEN[9:])))
        assert message.tool_calls[0]["args"] == TYPED
        assert message.response_metadata["coerced_arguments"][0]["written"] == WRITTEN
        whole = AIMessage("", tool_calls=[{"name": "plan", "args": json.loads(WRITTEN), "id": "a"}])
        assert parser().invoke(whole).tool_calls == message.tool_calls
        assert parser().invoke(whole).response_metadata == message.response_metadata
        assert whole.tool_calls[0]["args"]["days"] == "3"

    def test_nor_is_it_kept_quiet_that_they_do_not_fit(self) -> None:
        message = parser().invoke(AIMessage("", tool_calls=[{"name": "wait", "args": {"days": "soon"}, "id": "a"}]))
        assert message.tool_calls[0]["args"] == {"days": "soon"}
        assert message.response_metadata["coerced_arguments"][0]["problems"][0]["path"] == "$.days"

    def test_a_message_that_was_read_may_be_read_again(self) -> None:
        for output in (MISTYPED, SOON):
            message = parser().invoke(output)
            assert parser().invoke(message) == message

    def test_it_takes_tools(self) -> None:
        with pytest.raises(ValidationError, match=r"coerce_arguments=True goes by the schemas of the tools"):
            Llama3JsonToolOutputParser(coerce_arguments=True)


class TestTheModel:
    @pytest.mark.parametrize("chunks", [as_text_chunks([MISTYPED[:20], MISTYPED[20:]]), native(WRITTEN)])
    async def test_it_does_so_in_every_way_to_ask(self, chunks: list[Any]) -> None:
        def bound(**options: Any) -> Any:  # noqa: ANN401 (LangChain's own type for it says less)
            return Llama3ToolModel(ScriptedChatModel(chunks=chunks), id_factory=lambda: "a", **options).bind_tools(
                [plan]
            )

        message = bound().invoke("Hi")
        assert message.tool_calls[0]["args"] == TYPED
        assert [entry["id"] for entry in message.response_metadata["coerced_arguments"]] == ["a"]
        for other in (
            await bound().ainvoke("Hi"),
            summed(bound().stream("Hi")),
            summed([chunk async for chunk in bound().astream("Hi")]),
        ):
            assert (other.tool_calls, other.response_metadata) == (message.tool_calls, message.response_metadata)
        assert bound(coerce_arguments=False).invoke("Hi").tool_calls[0]["args"]["days"] == "3"

    def test_a_structured_answer_of_strings_fits(self) -> None:
        class Trip(BaseModel):
            """A trip."""

            days: list[int]

        llm = ScriptedChatModel(chunks=as_text_chunks([call("Trip", days="[1, '2']")]))
        assert Llama3ToolModel(llm).with_structured_output(Trip).invoke("Hi") == Trip(days=[1, 2])


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
        assert [text for _, text in shown(messages)][3:] == [[{"days": 2}], "waited 2", "Done."]
        assert messages[2].status == "error"
        assert messages[2].tool_call_id == messages[1].tool_calls[0]["id"]
        *_, written, complaint = conversations(server)[1]
        assert (written, complaint) == (("assistant", SOON), ("user", COMPLAINT))

    @in_every_way
    @pytest.mark.parametrize("max_repairs", [0, 1, 3])
    def test_so_many_times_in_a_row_at_most_and_then_the_tool_says_so(
        self, run: Callable[..., Any], max_repairs: int
    ) -> None:
        with serving(*[SOON] * 5, "I give up.") as server:
            messages = run(agent_on(server, wait, max_repairs=max_repairs))["messages"]
        told = [message.text for message in messages if message.type == "tool"]
        assert [text.startswith("The arguments do not fit") for text in told] == [
            place < max_repairs for place in range(5)
        ]
        assert told[-1].startswith("Error invoking tool 'wait'")
        assert messages[-1].text == "I give up."

    def test_a_good_call_in_between_counts_anew(self) -> None:
        with serving(SOON, call("wait", days=1), SOON, call("wait", days=2), "Done.") as server:
            messages = agent_on(server, wait).invoke(QUESTION)["messages"]
        told = [message.text for message in messages if message.type == "tool"]
        assert [told[1], told[3]] == ["waited 1", "waited 2"]
        assert told[0] == told[2] == COMPLAINT.removeprefix("Error of wait: ")

    def test_one_beside_a_good_call_goes_to_the_tool_while_that_runs(self) -> None:
        with serving(f"{call('wait', days=1)}; {SOON}", "Done.") as server:
            messages = agent_on(server, wait).invoke(QUESTION)["messages"]
        assert [message.type for message in messages] == ["human", "ai", "tool", "tool", "ai"]
        assert messages[3].text.startswith("Error invoking tool 'wait'")

    def test_one_beside_a_malformed_call_goes_back_with_it(self) -> None:
        broken = SOON[:-3]
        with serving(f"{SOON}; {broken}", call("wait", days=1), f"{SOON}; {broken}", "Done.") as server:
            messages = agent_on(server, wait, max_repairs=1).invoke(QUESTION)["messages"]
        first = conversations(server)[1][-1][1]
        assert COMPLAINT.removeprefix("Error of wait: ") in first
        assert "The call is malformed, and was not run" in first
        assert [message.type for message in messages].count("ai") == 4

    def test_both_are_answered_after_the_last_repair(self) -> None:
        with serving(f"{SOON}; {SOON[:-3]}", "Done.") as server:
            messages = agent_on(server, wait, max_repairs=0).invoke(QUESTION)["messages"]
        assert sorted(message.text[:22] for message in messages if message.type == "tool") == [
            "Error invoking tool 'w",
            "The call is malformed,",
        ]

    @pytest.mark.parametrize(
        ("schema", "arguments"),
        [
            pytest.param({"properties": {"a": {"type": "string"}}}, {"a": "x", "b": 1}, id="an-unknown-parameter"),
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
            messages = agent_on(server, echo, max_repairs=2).invoke(QUESTION)["messages"]
        told = [message.text for message in messages if message.type == "tool"]
        assert "$.a: expected at most 5, got the integer 9" in told[0]
        assert "$.a: missing, expected integer" in told[1]
        assert told[2] == "{'a': 4}"

    @in_every_way
    def test_where_it_is_not_wanted_calls_go_to_the_tool_as_they_are(self, run: Callable[..., Any]) -> None:
        with serving(SOON, "Done.") as server:
            messages = run(agent_on(server, wait, coerce_arguments=False))["messages"]
        assert messages[2].text.startswith("Error invoking tool 'wait'")
        assert messages[1].response_metadata.keys().isdisjoint({"coerced_arguments", "misfit_arguments"})

    def test_without_the_library_that_checks_it_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "llama3_tools.arguments.standard", raising=False)
        monkeypatch.setitem(sys.modules, "jsonschema", None)
        with pytest.raises(MissingExtraError, match=r"llama3-tools\[validation\]"):
            Llama3ToolMiddleware()
        assert Llama3ToolMiddleware(coerce_arguments=False).max_repairs == 1
