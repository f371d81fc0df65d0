"""Where the tools are in a conversation."""

from __future__ import annotations

from typing import Any

import pytest

from chats import TOOLS
from llama3_tools.chat import ChatOptions, ToolChat
from llama3_tools.chat.tool_prompt import put_tools

IMAGE = {"type": "image_url", "image_url": {"url": "data:"}}
HM = {"role": "assistant", "content": "Hm."}
RESULT = {"type": "tool_result", "tool_use_id": "1", "content": "x"}


def user(content: object) -> dict[str, Any]:
    return {"role": "user", "content": content}


def system(content: object, role: str = "system") -> dict[str, Any]:
    return {"role": role, "content": content}


@pytest.mark.parametrize(
    ("messages", "put"),
    [
        ([user("Hi"), user("Ho")], [user("T\n\nHi"), user("Ho")]),
        ([system("Be."), user("Hi")], [system("Be."), user("T\n\nHi")]),
        ([], [user("T")]),
        ([system("Be.")], [system("Be."), user("T")]),
        ([system("Be.", "developer")], [system("Be.", "developer"), user("T")]),
        ([HM, user("Hi")], [HM, user("T\n\nHi")]),
        ([system("Be."), system("So."), HM], [system("Be."), system("So."), user("T"), HM]),
        ([user(None)], [user("T")]),
        ([user("")], [user("T")]),
        ([user([IMAGE])], [user([{"type": "text", "text": "T"}, IMAGE])]),
        (
            [user([IMAGE, {"type": "text", "text": "Hi", "cache": 1}])],
            [user([IMAGE, {"type": "text", "text": "T\n\nHi", "cache": 1}])],
        ),
        ([user(["Hi"])], [user(["T\n\nHi"])]),
        ([user([RESULT]), user("Hi")], [user([RESULT]), user("T\n\nHi")]),
    ],
)
def test_before_the_first_user_message(messages: list[dict[str, Any]], put: list[dict[str, Any]]):
    given = [dict(message) for message in messages]
    assert put_tools(messages, "T", "user") == put
    assert messages == given


@pytest.mark.parametrize(
    ("messages", "put"),
    [
        ([system("Be."), user("Hi")], [system("Be.\n\nT"), user("Hi")]),
        ([system("Be.", "developer"), user("Hi")], [system("Be.\n\nT", "developer"), user("Hi")]),
        ([user("Hi")], [system("T"), user("Hi")]),
        ([user("Hi"), system("Be."), system("So.")], [user("Hi"), system("Be.\n\nT"), system("So.")]),
        ([system(["Be.", "So.", IMAGE])], [system(["Be.", "So.\n\nT", IMAGE])]),
        ([system([IMAGE])], [system([IMAGE, {"type": "text", "text": "T"}])]),
        ([system("")], [system("T")]),
    ],
)
def test_in_the_system_message(messages: list[dict[str, Any]], put: list[dict[str, Any]]):
    assert put_tools(messages, "T", "system") == put


def test_tools_in_the_request_are_not_in_the_prompt():
    request = ToolChat(TOOLS, ChatOptions(tools_in="request")).request([user("Hi")])
    assert request.messages == [user("Hi")]
    assert len(request.tools) == 3
