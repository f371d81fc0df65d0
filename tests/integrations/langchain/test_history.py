"""Conversations with tools, as text."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompts import ChatPromptTemplate

from integrations.langchain.scripted import CUT_OFF
from langchain_llama3_tools import Llama3JsonToolOutputParser, flatten_tool_messages

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def call(name: str, call_id: str, **args: object) -> dict[str, Any]:
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def calling(*calls: dict[str, Any], text: Any = "") -> AIMessage:
    return AIMessage(text, tool_calls=list(calls))


def contents(messages: list[BaseMessage]) -> list[tuple[str, object]]:
    return [(message.type, message.content) for message in messages]


class TestCalls:
    def test_what_would_send_them_a_second_time_goes(self) -> None:
        kwargs = {"tool_calls": [{"id": "1"}], "function_call": {}, "refusal": None, "reasoning_content": "Hm."}
        message = AIMessage("Hi", additional_kwargs=kwargs, id="m", name="ada", response_metadata={"a": 1})
        [flat] = flatten_tool_messages([message])
        assert flat.additional_kwargs == {"refusal": None}
        assert (flat.id, flat.name, flat.response_metadata) == ("m", "ada", {"a": 1})
        assert message.additional_kwargs == kwargs

    def test_blocks_of_calls_become_text_and_thoughts_go(self) -> None:
        blocks = [
            {"type": "reasoning", "reasoning": "Hm."},
            {"type": "text", "text": "Sure."},
            {"type": "tool_use", "id": "1", "name": "f", "input": {}},
        ]
        [flat] = flatten_tool_messages([calling(call("f", "1"), text=blocks)])
        assert flat.content == 'Sure.\n{"name": "f", "parameters": {}}'
        [flat] = flatten_tool_messages([calling(call("f", "1"), text=[IMAGE, *blocks])])
        assert flat.content == [
            IMAGE,
            {"type": "text", "text": "Sure."},
            {"type": "text", "text": '{"name": "f", "parameters": {}}'},
        ]


class TestResults:
    def test_an_agent_s_answer_to_a_malformed_call_becomes_what_is_wrong_with_it(self) -> None:
        message = Llama3JsonToolOutputParser(id_factory=lambda: "1").invoke(CUT_OFF)
        answer = ToolMessage("malformed", tool_call_id="1", status="error")
        [told] = message.response_metadata["refused_tool_calls"]
        assert flatten_tool_messages([message, answer])[1].content.startswith(f"Error of get_weather: {told['told']}")


def test_all_else_stays_as_it_is() -> None:
    messages = [
        SystemMessage("S"),
        HumanMessage("H"),
        AIMessage("A"),
        HumanMessage([IMAGE]),
        ChatMessage("D", role="d"),
    ]
    flat = flatten_tool_messages(messages)
    assert [message is kept for message, kept in zip(messages, flat, strict=True)] == [True] * 5


def test_whatever_langchain_takes_for_messages_is_a_conversation() -> None:
    given: list[Any] = [("user", "A"), "B", {"role": "assistant", "content": "C"}, HumanMessage("D")]
    expected = [("human", "A"), ("human", "B"), ("ai", "C"), ("human", "D")]
    assert contents(flatten_tool_messages(given)) == expected
    assert contents(flatten_tool_messages(iter(given))) == expected
    assert contents(flatten_tool_messages(ChatPromptTemplate.from_messages(given).invoke({}))) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Hi", "messages must be a list of messages, got 'Hi'"),
        (AIMessage("Hi"), r"got AIMessage\(content='Hi'"),
        ({"role": "user", "content": "Hi"}, r"got \{'role': 'user', 'content': 'Hi'\}"),
        (None, "messages must be a list of messages, got None$"),
    ],
)
def test_anything_but_a_list_of_messages_is_an_error_that_says_so(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        flatten_tool_messages(given)


@pytest.mark.parametrize("given", [42, {"text": "Hi"}, ("bogus", "Hi"), ("user", "Hi", "there")])
def test_what_is_no_message_is_langchain_s_error(given: Any) -> None:
    with pytest.raises((NotImplementedError, ValueError), match=r"[Mm]essage"):
        flatten_tool_messages([given])
