"""The tool prompt in LlamaIndex's messages."""

from __future__ import annotations

import copy

import pytest
from llama_index.core.llms import ChatMessage, ImageBlock, MessageRole, TextBlock

from integrations.llamaindex.endpoint import TOOLS, endpoint
from llama3_tools.prompts.placement import ToolsIn
from llama_index_llama3_tools import Llama3ToolLLM
from llama_index_llama3_tools.prompting import with_tool_prompt
from placements import PLACEMENTS, PROMPT, Conversation

IMAGE = ImageBlock(url="http://127.0.0.1/a.png")


def messages_of(conversation: Conversation) -> list[ChatMessage]:
    return [
        ChatMessage(role=MessageRole(role), blocks=[IMAGE if part is None else TextBlock(text=part) for part in parts])
        for role, parts in conversation
    ]


@pytest.mark.parametrize(("tools_in", "given", "expected"), PLACEMENTS.values(), ids=PLACEMENTS)
def test_it_stands_where_the_table_says(tools_in: ToolsIn, given: Conversation, expected: Conversation) -> None:
    messages = messages_of(given)
    before = copy.deepcopy(messages)
    assert with_tool_prompt(messages, PROMPT, tools_in=tools_in) == messages_of(expected)
    assert messages == before


@pytest.mark.parametrize("tools_in", ["user", "system"])
def test_tools_alone_are_shown(tools_in: ToolsIn) -> None:
    with endpoint("Hello.") as served:
        Llama3ToolLLM(served.llm(), tools_in=tools_in).chat_with_tools(TOOLS)
    [(role, text)] = served.messages(0)
    assert role == tools_in
    assert '"name": "get_weather"' in text
