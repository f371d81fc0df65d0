"""Messages of LlamaIndex as the chat layer has them, and back: nothing is lost, and no message is changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from llama_index.core.base.llms.types import ContentBlock, ImageBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole, TextBlock

from integrations.llamaindex.endpoint import TIME, WEATHER
from llama3_tools.chat import ChatOptions, kept_chat
from llama_index_llama3_tools.messages import to_dicts, to_messages

IMAGE = ImageBlock(url="http://127.0.0.1/a.png")
SIGNED = ThinkingBlock(content="Signed.", additional_information={"signature": "…"})


def call(call_id: str, name: str = "get_weather", kwargs: Any = None) -> ToolCallBlock:
    return ToolCallBlock(
        tool_call_id=call_id, tool_name=name, tool_kwargs={"city": "Paris"} if kwargs is None else kwargs
    )


def assistant(*blocks: ContentBlock, **kwargs: Any) -> ChatMessage:
    return ChatMessage(role="assistant", blocks=list(blocks), additional_kwargs=kwargs)


def result(call_id: str, text: str) -> ChatMessage:
    return ChatMessage(role="tool", content=text, additional_kwargs={"tool_call_id": call_id})


def sent(messages: list[ChatMessage], **options: Any) -> list[ChatMessage]:
    """Return what a model is sent."""
    before = copy.deepcopy(messages)
    flat = to_messages(kept_chat((), ChatOptions(**options)).request(to_dicts(messages)).messages)
    assert messages == before
    return flat


def shown(messages: list[ChatMessage], **options: Any) -> list[tuple[str, str | None]]:
    return [(message.role.value, message.content) for message in sent(messages, **options)]


def test_a_conversation_without_calls_stays_as_it_is() -> None:
    messages = [
        ChatMessage(role="system", content="Be brief."),
        ChatMessage(role="user", blocks=[TextBlock(text="What is "), TextBlock(text="this?"), IMAGE]),
        ChatMessage(role="assistant", content="Hello.", additional_kwargs={"logprobs": 1}),
        ChatMessage(role="user", content="", additional_kwargs={"images": []}),
    ]
    assert sent(messages) == messages


@pytest.mark.parametrize(("tool_role", "between"), [("user", "\n\n"), ("tool", None)])
def test_calls_and_results_are_text(tool_role: Any, between: str | None) -> None:
    messages = [
        ChatMessage(content="?"),
        assistant(TextBlock(text="Both."), call("1"), call("2", "get_time", '{"zone": "CET"}')),
        result("2", "12:30"),
        result("1", "Sun"),
        ChatMessage(role="function", content="Old", additional_kwargs={"name": "ancient"}),
        ChatMessage(role="assistant", content="Sunny."),
    ]
    results = ["Result of get_weather: Sun", "Result of get_time: 12:30", "Result of ancient: Old"]
    assert shown(messages, tool_role=tool_role) == [
        ("user", "?"),
        ("assistant", f"Both.\n{WEATHER}\n{TIME}"),
        *((tool_role, text) for text in ([between.join(results)] if between else results)),
        ("assistant", "Sunny."),
    ]


def test_calls_in_the_additional_arguments_count() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}]
    message = ChatMessage(role="assistant", content=None, additional_kwargs={"tool_calls": calls})
    assert shown([message, result("1", "Sun")]) == [("assistant", WEATHER), ("user", "Result of get_weather: Sun")]


@pytest.mark.parametrize("role", ["tool", "user"])
def test_an_image_in_a_result_is_kept(role: Any) -> None:
    message = ChatMessage(role="tool", blocks=[IMAGE, TextBlock(text="A cat")], additional_kwargs={"tool_call_id": "1"})
    [flat] = sent([message], tool_role=role)
    assert (flat.role, flat.blocks) == (MessageRole(role), [TextBlock(text="Result of a tool: A cat"), IMAGE])


def test_other_blocks_and_arguments_of_an_answer_are_kept_and_its_thoughts_are_not() -> None:
    message = assistant(
        ThinkingBlock(content="Hm"),
        SIGNED,
        TextBlock(text="A"),
        call("1"),
        IMAGE,
        tool_calls=["…"],
        tool_call_id="0",
        coerced_arguments=[],
        kept=1,
    )
    [flat] = sent([message])
    assert flat.blocks == [SIGNED, TextBlock(text="A"), IMAGE, TextBlock(text=WEATHER)]
    assert flat.additional_kwargs == {"kept": 1}
