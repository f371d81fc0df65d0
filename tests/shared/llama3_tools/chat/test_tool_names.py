"""Names that an API does not allow: others are sent for them, and both are read."""

from __future__ import annotations

import re

import pytest

from chats import asked
from generated_calls import ANY_NAME
from llama3_tools.chat.tool_names import ToolNames


def test_each_name_has_one_that_is_allowed_and_its_own():
    names = ToolNames(ANY_NAME)
    allowed = [names.allowed(name) for name in ANY_NAME]
    assert len(set(allowed)) == len(ANY_NAME)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in allowed)
    assert [names.own(name) for name in allowed] == list(ANY_NAME)
    assert [names.own(name) for name in ANY_NAME] == list(ANY_NAME)


@pytest.mark.parametrize(
    ("names", "allowed"),
    [
        (["a.b"], ["a_b"]),
        (["a.b", "a_b"], ["a_b_2", "a_b"]),
        (["a.b", "a/b", "a b"], ["a_b", "a_b_2", "a_b_3"]),
        (["y" * 70, "y" * 71], ["y" * 64, "y" * 62 + "_2"]),
    ],
)
def test_what_is_allowed_stays_and_no_two_are_one(names: list[str], allowed: list[str]):
    mapped = ToolNames(names)
    assert [mapped.allowed(name) for name in names] == allowed


def test_tools_in_a_request_have_allowed_names_and_so_has_the_history():
    chat = asked([{"name": "math.add"}], tools_in="request").chat
    call = {"id": "a", "function": {"name": "math.add", "arguments": "{}"}}
    request = chat.request([{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "name": "math.add"}])
    assert [tool["function"]["name"] for tool in request.tools] == ["math_add"]
    assert [message["content"] for message in request.messages] == [
        '{"name": "math_add", "parameters": {}}',
        "Result of math_add:",
    ]
    assert chat.request([], tool_choice="none").tools == []
    assert chat.prompt("math.add").endswith("Call the function 'math_add' in your reply.")
