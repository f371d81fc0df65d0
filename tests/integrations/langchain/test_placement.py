"""The tool prompt in LangChain's messages."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langchain_llama3_tools.prompting import put_tools
from llama3_tools.prompts.placement import ToolsIn
from placements import PLACEMENTS, PROMPT, Conversation

KINDS: dict[str, type[BaseMessage]] = {"user": HumanMessage, "system": SystemMessage, "assistant": AIMessage}
IMAGE = {"type": "image", "url": "http://127.0.0.1/a.png"}


def blocks(conversation: Conversation) -> list[BaseMessage]:
    return [
        KINDS[role](content=[IMAGE if part is None else {"type": "text", "text": part} for part in parts])
        for role, parts in conversation
    ]


def strings(conversation: Conversation) -> list[BaseMessage]:
    return [KINDS[role](content=parts[0] or "") for role, parts in conversation]


def as_blocks(content: Any) -> list[Any]:  # noqa: ANN401 (any content)
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


@pytest.mark.parametrize(("tools_in", "given", "expected"), PLACEMENTS.values(), ids=PLACEMENTS)
def test_it_stands_where_the_table_says(tools_in: ToolsIn, given: Conversation, expected: Conversation) -> None:
    messages = blocks(given)
    before = copy.deepcopy(messages)
    put = put_tools(messages, PROMPT, tools_in)
    assert messages == before
    written = [(type(message), as_blocks(message.content)) for message in put]
    assert written == [(type(message), message.content) for message in blocks(expected)]
    if all(len(parts) == 1 and parts[0] is not None for _, parts in given):
        assert put_tools(strings(given), PROMPT, tools_in) == strings(expected)


def test_a_block_keeps_what_else_it_has() -> None:
    given = [HumanMessage([{"type": "text", "text": "Hi", "index": 1}]), HumanMessage(["Hi", IMAGE])]
    (marked, _), (bare, _) = (put_tools(messages, PROMPT, "user") for messages in (given, given[::-1]))
    assert marked.content == [{"type": "text", "text": f"{PROMPT}\n\nHi", "index": 1}]
    assert bare.content == [f"{PROMPT}\n\nHi", IMAGE]
