"""Whole responses: text calls become blocks, and all else stays."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.llms.types import ThinkingBlock, ToolCallBlock
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    MessageRole,
    TextBlock,
)

from integrations.llamaindex.scripted import CALL, calls_in
from llama_index_llama3_tools import Llama3JsonToolOutputParser

PARSER = Llama3JsonToolOutputParser()


def response(*blocks: TextBlock | ThinkingBlock | ToolCallBlock, **fields: Any) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=list(blocks)), **fields)


def kinds(promoted: ChatResponse) -> list[str]:
    return [block.block_type for block in promoted.message.blocks]


@pytest.mark.parametrize(("delta", "new"), [(None, None), ("}", "Hm.")], ids=["whole", "the last of a stream"])
def test_a_text_call_becomes_a_block_and_the_rest_of_the_response_stays(delta: str | None, new: str | None) -> None:
    given = response(TextBlock(text=f"Hm. {CALL}"), raw={"id": 1}, additional_kwargs={"prompt_tokens": 3}, delta=delta)
    before = given.model_copy(deep=True)
    promoted = PARSER.promote(given)
    assert kinds(promoted) == ["text", "tool_call"]
    assert (promoted.message.content, promoted.raw, promoted.delta) == ("Hm.", {"id": 1}, new)
    assert promoted.additional_kwargs == {"prompt_tokens": 3}
    assert given == before


def test_a_completion_becomes_a_chat_response() -> None:
    given = CompletionResponse(text=CALL, raw={"id": 1}, additional_kwargs={"prompt_tokens": 3})
    promoted = PARSER.promote(given)
    assert (kinds(promoted), promoted.raw) == (["tool_call"], {"id": 1})
    assert promoted.message.additional_kwargs["prompt_tokens"] == 3
    assert promoted.message.role == MessageRole.ASSISTANT


def test_several_texts_are_read_as_one_and_other_blocks_keep_their_place() -> None:
    promoted = PARSER.promote(
        response(ThinkingBlock(content="So."), TextBlock(text=CALL[:9]), TextBlock(text=CALL[9:]), TextBlock(text="!"))
    )
    assert kinds(promoted) == ["thinking", "text", "tool_call"]
    assert promoted.message.content == "!"


@pytest.mark.parametrize("given", [response(TextBlock(text="Hello, "), TextBlock(text="you.")), response()])
def test_a_response_without_a_call_stays_as_it_is(given: ChatResponse) -> None:
    assert PARSER.promote(given) is given


def test_images_in_additional_arguments_are_not_added_twice() -> None:
    message = ChatMessage(content=CALL)
    message.additional_kwargs["images"] = []
    message.blocks.append(ThinkingBlock(content="picture"))
    assert kinds(PARSER.promote(ChatResponse(message=message))) == ["thinking", "tool_call"]


def test_what_is_no_response_is_refused() -> None:
    wrong: Any = CALL
    for read in (PARSER.promote, lambda given: list(PARSER.stream(given))):
        with pytest.raises(TypeError, match=r"expected a ChatResponse or a CompletionResponse .*, not a str$"):
            read(wrong)


def test_a_function_call_as_servers_once_sent_it_is_a_call() -> None:
    given = {"function_call": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    response = ChatResponse(message=ChatMessage(role="assistant", additional_kwargs=given))
    message = PARSER.promote(response).message
    assert calls_in(message) == [("get_weather", {"city": "Paris"})]
    assert "function_call" not in message.additional_kwargs


@pytest.mark.parametrize("repeats", [True, False], ids=["with those before it", "by itself"])
def test_each_call_of_a_server_counts_whether_or_not_responses_repeat_those_before(repeats: bool) -> None:
    blocks = [ToolCallBlock(tool_name=name, tool_kwargs={}, tool_call_id=name) for name in ("a", "b", "c")]
    responses = [
        ChatResponse(message=ChatMessage(role="assistant", blocks=blocks[: end + 1] if repeats else [blocks[end]]))
        for end in range(3)
    ]
    *_, last = PARSER.stream(responses)
    assert [name for name, _ in calls_in(last.message)] == ["a", "b", "c"]


THINKS = f"One <think>two</think> three {CALL}<think>four</think>"


@pytest.mark.parametrize("given", [response(TextBlock(text=THINKS)), CompletionResponse(text=THINKS)])
def test_thoughts_are_a_block_of_their_own(given: Any) -> None:
    parser = Llama3JsonToolOutputParser(split_reasoning=True)
    for message in (parser.promote(given).message, parser.parse(THINKS).to_chat_message()):
        thinking, text, call = message.blocks
        assert (thinking.content, text.text, call.tool_name) == ("two\n\nfour", "One three", "get_weather")  # type: ignore[union-attr]


def test_what_the_server_split_off_stays_beside_them() -> None:
    signed = ThinkingBlock(content="So.", additional_information={"signature": "…"})
    given = response(signed, TextBlock(text=f"<think>Hm.</think>{CALL}"))
    first, own, _ = Llama3JsonToolOutputParser(split_reasoning=True).promote(given).message.blocks
    assert (first, own) == (signed, ThinkingBlock(content="Hm."))
