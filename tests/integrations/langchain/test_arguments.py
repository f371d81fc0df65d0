"""Arguments that fit: made to by the parser and the model, and told on the message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.tools import tool
from pydantic import BaseModel

from integrations.langchain.agents import call
from integrations.langchain.scripted import (
    ScriptedChatModel,
    as_text_chunks,
    counted_ids,
    streamed,
    summed,
)
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolModel


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


def parser(**options: Any) -> Llama3JsonToolOutputParser:
    return Llama3JsonToolOutputParser(
        **{"tools": [plan, wait], "coerce_arguments": True, "id_factory": counted_ids(), **options}
    )


def native(*pieces: str) -> list[AIMessageChunk]:
    """Return a call as a server sends it that found it, in pieces."""
    first = tool_call_chunk(name="plan", args="", id="a", index=0)
    rest = [tool_call_chunk(args=piece, index=0) for piece in pieces]
    return [AIMessageChunk(content="", tool_call_chunks=[piece]) for piece in (first, *rest)]


class TestTheParser:
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

    def test_calls_that_the_server_found_are_made_to_fit_as_well(self) -> None:
        message = summed(streamed(parser(), native(WRITTEN[:9], WRITTEN[9:])))
        assert message.tool_calls[0]["args"] == TYPED
        assert message.response_metadata["coerced_arguments"][0]["written"] == WRITTEN
        whole = AIMessage("", tool_calls=[{"name": "plan", "args": json.loads(WRITTEN), "id": "a"}])
        assert parser().invoke(whole).tool_calls == message.tool_calls
        assert parser().invoke(whole).response_metadata == message.response_metadata
        assert whole.tool_calls[0]["args"]["days"] == "3"

    def test_a_message_that_was_read_may_be_read_again(self) -> None:
        for output in (MISTYPED, SOON):
            message = parser().invoke(output)
            assert parser().invoke(message) == message


class TestTheModel:
    @pytest.mark.parametrize("chunks", [as_text_chunks([MISTYPED[:20], MISTYPED[20:]]), native(WRITTEN)])
    async def test_it_does_so_in_every_way_to_ask(self, chunks: list[Any]) -> None:
        def bound(**options: Any) -> Any:
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
