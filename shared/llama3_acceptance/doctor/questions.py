"""What the doctor asks: short questions, each of which shows one thing that servers get wrong."""

from __future__ import annotations

from typing import Any

from llama3_tools.chat import ToolChat
from llama3_tools.tools import Tool, declare_tools

_WEATHER = {
    "name": "get_weather",
    "description": "The current weather of a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Name of the city"}},
        "required": ["city"],
    },
}
_TIMER = {
    "name": "set_timer",
    "description": "Start a timer",
    "parameters": {
        "type": "object",
        "properties": {
            "minutes": {"type": "integer", "description": "How long, in minutes"},
            "rooms": {"type": "array", "items": {"type": "string"}, "description": "The rooms in which it rings"},
        },
        "required": ["minutes", "rooms"],
    },
}
TOOLS: dict[str, Tool] = declare_tools([_WEATHER, _TIMER])
"""The tools that the model is shown."""

MAX_TOKENS = 200
"""How long an answer may be."""
THINKING_TOKENS = 2000
"""How long an answer may be if the model was still thinking at `MAX_TOKENS`."""
SHORT_TOKENS = 8
"""How long the answer may be that a limit is to end."""
TEXT_TOKENS = 60
"""An answer of one call has fewer tokens, and the text that `TEXT_AND_CALL` asks for has more."""
LONG_WORDS = 4500
"""How many words the long prompt has, each of which is a token or more: beyond the 2048 and 4096 tokens that servers
keep by default."""

_ONE = "What is the weather in Paris? Call a tool."
_TWO = (
    "What is the weather in Paris, and what is it in Rome? First write one short sentence that says what you do. "
    "Then call get_weather twice, once for each city."
)
_NUMBERS = (
    "Write the numbers from one to thirty in words, and after them, in the same answer, call get_weather for Paris."
)
_ALARM = "Start a timer for 5 minutes that rings in the kitchen and in the hall. Call a tool."
_CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}


def _with_result(content: str | None) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "What is the weather in Paris?"},
        {"role": "assistant", "content": content, "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Sunny, 21 degrees."},
    ]


WITH_EMPTY_CONTENT = "result, with empty content"
"""Asked if the server takes no result of a call whose message has `content: null`, as OpenAI's clients send it."""
TWO_AGAIN = "two, again"
"""Asked if a stream says something else than the whole answer, to know whether that is the stream or the model."""
TEXT_AND_CALL = "text and a call"
"""Asked if there is no text beside calls: does the model write none, or does the server drop it?"""
NATIVE = ("one", "two", "two streamed", "arguments")
"""The questions with tools that need calls, and leave the choice to the model."""


def _user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


_DECLARED = {"tools": [tool.to_openai() for tool in TOOLS.values()]}
_CHAT = ToolChat(list(TOOLS.values()))

QUESTIONS: dict[str, dict[str, Any]] = {
    "plain": {"messages": _user("Count from 1 to 50, in words."), "max_tokens": SHORT_TOKENS},
    "one": {"messages": _user(_ONE), **_DECLARED},
    "two": {"messages": _user(_TWO), **_DECLARED},
    "two streamed": {"messages": _user(_TWO), **_DECLARED, "stream": True},
    TWO_AGAIN: {"messages": _user(_TWO), **_DECLARED},
    TEXT_AND_CALL: {"messages": _user(_NUMBERS), **_DECLARED},
    "arguments": {"messages": _user(_ALARM), **_DECLARED},
    "no call": {"messages": _user(_ONE), **_DECLARED, "tool_choice": "none"},
    "a call": {"messages": _user("Good morning!"), **_DECLARED, "tool_choice": "required"},
    "result": {"messages": _with_result(None), **_DECLARED},
    WITH_EMPTY_CONTENT: {"messages": _with_result(""), **_DECLARED},
    "in the prompt": {"messages": _CHAT.request(_user(_TWO)).messages},
    "long": {"messages": _user("tea " * LONG_WORDS + "\nSay yes."), "max_tokens": 1},
}
"""The bodies of the requests, without the model. Those before `in the prompt`, but for `plain`, have the tools in
`tools`, that one in the prompt."""


def request_body(name: str, model: str, max_tokens: int = MAX_TOKENS) -> dict[str, Any]:
    """Return the body of a request.

    >>> sorted(request_body("long", "llama3.1"))
    ['max_tokens', 'messages', 'model', 'seed', 'temperature']

    Args:
        name: one of `QUESTIONS`.
        model: the model's name.
        max_tokens: how long an answer may be, if the question itself does not say.
    """
    return {"model": model, "temperature": 0, "seed": 1, "max_tokens": max_tokens, **QUESTIONS[name]}
