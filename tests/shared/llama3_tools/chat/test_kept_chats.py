"""Chats with the same tools are one, and no others are taken for them."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from chats import CITY as CITY_CALL
from chats import TOOLS, same_id
from llama3_tools import ReadOptions
from llama3_tools.chat import ChatOptions, ToolChat, kept_chat


def test_the_same_tools_and_options_are_one_chat():
    chat = kept_chat(TOOLS, ChatOptions(max_retries=2))
    assert kept_chat([dict(tool) for tool in TOOLS], ChatOptions(max_retries=2)) is chat
    assert kept_chat(TOOLS) is kept_chat(TOOLS, ChatOptions())
    assert kept_chat(TOOLS) is not chat
    assert kept_chat(TOOLS[:1], ChatOptions(max_retries=2)) is not chat


CITY = {"type": "string"}
DAYS = {"type": "integer", "default": 1}


def declared(properties: dict[str, Any], **fields: str) -> list[dict[str, Any]]:
    return [{"name": "f", "parameters": {"type": "object", "properties": properties}, **fields}]


@pytest.mark.parametrize(
    "other",
    [
        declared({"city": CITY, "days": DAYS}, description="F"),
        declared({"days": DAYS, "city": CITY}),  # the prompt has them in their order
        declared({"city": CITY, "days": {"type": "integer", "default": True}}),
        declared({"city": CITY, "days": {"type": "integer", "default": 1.0}}),
    ],
    ids=["description", "order", "true for 1", "1.0 for 1"],
)
def test_other_tools_are_another_chat(other: list[dict[str, Any]]):
    for tools in (declared({"city": CITY, "days": DAYS}), other):
        assert kept_chat(tools).prompt() == ToolChat(tools).prompt()


def test_tools_may_change_later_on():
    tools = [{"name": "now"}]
    chat = kept_chat(tools)
    tools[0]["name"] = "later"
    assert list(chat.tools) == ["now"]
    assert list(kept_chat(tools).tools) == ["later"]


def test_no_function_of_the_caller_s_is_kept_alive():
    class Ids:
        def __call__(self) -> str:
            return "id"

    ids = Ids()
    chat = kept_chat(TOOLS, ChatOptions(read=ReadOptions(id_factory=ids)))
    assert [call.id for call in chat.request([]).read({"content": CITY_CALL}).tool_calls] == ["id"]
    session = weakref.ref(ids)
    del ids, chat
    gc.collect()
    assert session() is None


def test_without_tools_any_name_may_be_called():
    assert kept_chat(None) is kept_chat(None)
    assert kept_chat(None).request([]).read({"content": CITY_CALL}).tool_calls
    assert not kept_chat([]).request([]).read({"content": CITY_CALL}).tool_calls


def test_what_cannot_be_written_or_has_ids_of_its_own_is_made_anew():
    odd: list[Any] = [{"name": "now", "cache": {1, 2}}]
    assert list(kept_chat(odd).tools) == ["now"]
    own = ChatOptions(read=ReadOptions(id_factory=same_id))
    assert kept_chat(TOOLS, own) is not kept_chat(TOOLS, own)
