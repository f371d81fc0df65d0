"""Messages and deltas, taken apart."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from chats import asked, native
from llama3_tools.chat import ToolChat
from llama3_tools.chat.messages import CallPiece, split_message

IMAGE = {"type": "image_url", "image_url": {"url": "data:"}}


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
def test_reasoning_is_found_where_servers_put_it(key: str):
    parts = split_message({key: "Hm.", "content": "Hi"})
    assert (parts.reasoning, parts.content, parts.rest) == ("Hm.", ["Hi"], {})


@pytest.mark.parametrize("part", [{"type": "thinking", "thinking": "Hm."}, {"type": "reasoning", "reasoning": "Hm."}])
def test_and_in_parts_of_the_content(part: dict[str, Any]):
    assert split_message({"content": [part, {"type": "redacted_thinking", "data": "x"}]}).reasoning == "Hm."


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ({"tool_calls": [native("f", "{}")]}, CallPiece(None, "a", "f", "{}")),
        ({"tool_calls": [{"index": 1, "function": {"arguments": "}"}}]}, CallPiece(1, None, "", "}")),
        ({"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}, CallPiece(None, None, "f", '{"a": 1}')),
        ({"tool_calls": [native("f", [1])]}, CallPiece(None, "a", "f", "[1]")),
        ({"tool_calls": [{"index": [1], "function": {"name": "f"}}]}, CallPiece(None, None, "f", "")),
        ({"tool_calls": [{"id": 5, "function": None}]}, CallPiece(None, "5", "", "")),
        ({"function_call": {"name": "f", "arguments": "{}"}}, CallPiece(0, None, "f", "{}")),
        ({"content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}, CallPiece(None, "1", "f", "")),
        (
            {"content": [{"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}]},
            CallPiece(None, "1", "f", '{"a": 1}'),
        ),
        (
            {"content": [{"type": "input_json_delta", "index": 2, "partial_json": '{"a'}]},
            CallPiece(2, None, "", '{"a'),
        ),
    ],
)
def test_calls_are_found_in_all_forms(message: dict[str, Any], call: CallPiece):
    assert split_message(message).calls == [call]


def test_what_a_client_says_twice_is_there_once():
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "id": "a", "name": "f", "input": {}}]
    calls = {"tool_calls": [native("f", "{}")], "function_call": {"name": "f", "arguments": "{}"}}
    parts = split_message({"content": content, "reasoning_content": "Hm.", **calls})
    assert (parts.calls, parts.reasoning) == ([CallPiece(None, "a", "f", "{}")], "Hm.")


class Call:
    """A call of a client's, with attributes."""

    id = "a"

    def model_dump(self) -> dict[str, Any]:
        """Return the call as a dict."""
        return {"id": self.id}


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (
            {"role": "assistant", "tool_calls": [Call()]},
            "a call in tool_calls must be a dict in OpenAI's form, not a Call: pass its model_dump()",
        ),
        ({"role": "assistant", "tool_calls": [5]}, "a call in tool_calls must be a dict in OpenAI's form, not an int"),
        ({"role": "assistant", "tool_calls": {"id": "a"}}, "tool_calls must be a list of dicts, not a dict"),
        (
            {"role": "assistant", "tool_calls": [{"function": Call()}]},
            "the function of a call must be a dict with name and arguments, not a Call: pass its model_dump()",
        ),
        (None, 'a message must be a dict such as {"role": "user", "content": "Hi"}, not None'),
    ],
)
def test_what_is_no_dict_is_an_error_that_names_the_cure(message: Any, error: str):
    for take in (asked().read, asked().stream().feed, lambda given: asked().chat.request([given])):
        with pytest.raises(TypeError, match=f"^{re.escape(error)}$"):
            take(message)


@pytest.mark.parametrize("messages", ["hi", b"bytes", {"role": "user", "content": "Hi"}, None, 5])
def test_what_is_no_list_of_messages_is_an_error_that_names_the_cure(messages: Any):
    with pytest.raises(
        TypeError, match=r"^messages must be a list of dicts such as \[\{\"role\": .+, not (?:an? \w+|None)$"
    ):
        asked().chat.request(messages)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (5, "an int"),
        ({"a": 1}, "a dict"),
        (True, "a bool"),
        (IMAGE, "a dict: put the part into a list"),
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant", None, ["user"]])
@pytest.mark.parametrize("tools", [None, [{"name": "now"}]])
def test_a_content_is_text_or_parts(content: object, found: str, role: object, tools: list[dict[str, Any]] | None):
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}, {"role": role, "content": content}]
    error = f"messages[1].content must be a str or a list of parts, not {found}"
    with pytest.raises(TypeError, match=f"^{re.escape(error)}$"):
        ToolChat(tools).request(messages)


@pytest.mark.parametrize("role", ["tool", "function", "ipython"])
def test_what_a_tool_gave_is_any_value(role: str):
    request = asked().chat.request([{"role": role, "name": "now", "content": {"hour": 12}}])
    assert request.messages[-1]["content"].endswith('Result of now: {"hour": 12}')


def test_all_else_stays():
    parts = split_message({"role": "assistant", "refusal": "No.", "content": ["Hi", IMAGE, 5, {"type": "text"}]})
    assert parts.rest == {"role": "assistant", "refusal": "No."}
    assert parts.content == ["Hi", IMAGE, 5, {"type": "text"}]
    assert split_message({"content": IMAGE}).content == [IMAGE]


def test_a_result_among_parts_stands_in_no_message_of_its_own():
    (result,) = split_message({"content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}).results
    assert result == ("a", None, "x", False, {})


def test_arguments_that_are_no_json_are_written_as_text():
    (piece,) = split_message({"tool_calls": [{"function": {"name": "f", "arguments": [Decimal("1.5")]}}]}).calls
    assert piece.arguments == '["1.5"]'
