"""Chats with the same tools are one, and no others are taken for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from chats import TOOLS, same_id
from llama3_tools import ReadOptions, ToolDefinitionError
from llama3_tools.chat import ChatOptions, kept_chat


def test_the_same_tools_and_options_are_one_chat():
    chat = kept_chat(TOOLS, ChatOptions(max_retries=2))
    assert kept_chat([dict(tool) for tool in TOOLS], ChatOptions(max_retries=2)) is chat
    assert kept_chat(TOOLS) is kept_chat(TOOLS, ChatOptions())
    assert kept_chat(TOOLS) is not chat
    assert kept_chat(TOOLS[:1], ChatOptions(max_retries=2)) is not chat


def test_tools_may_change_later_on():
    tools = [{"name": "now"}]
    chat = kept_chat(tools)
    tools[0]["name"] = "later"
    assert list(chat.tools) == ["now"]
    assert list(kept_chat(tools).tools) == ["later"]


def test_what_cannot_be_written_or_has_ids_of_its_own_is_made_anew():
    def read(tools: Sequence[Any]) -> list[dict[str, Any]]:
        return [{"name": str(tool)} for tool in tools]

    odd: list[Any] = [{1, 2}]
    assert list(kept_chat(odd, read=read).tools) == ["{1, 2}"]
    own = ChatOptions(read=ReadOptions(id_factory=same_id))
    assert kept_chat(TOOLS, own) is not kept_chat(TOOLS, own)


def test_errors_are_those_of_a_chat():
    with pytest.raises(ToolDefinitionError):
        kept_chat([{}])
    with pytest.raises(TypeError):
        kept_chat("now")  # type: ignore[arg-type]
