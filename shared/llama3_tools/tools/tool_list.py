"""Tools as a user has them in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama3_tools.text import read_json

_OF_A_BODY = frozenset({"tools", "tool_choice", "messages", "input", "prompt", "model"})


def read_tool_list(text: str) -> list[Any] | None:
    """Return the tools in JSON: those of a list of OpenAI tools, of the body of a request, or one tool.

    >>> read_tool_list('{"model": "llama3.1", "tools": [{"name": "clock"}]}')
    [{'name': 'clock'}]
    >>> read_tool_list('{"tools": [{"name": "clock"}], "tool_choice": "none"}')
    []
    >>> read_tool_list("null"), read_tool_list('{"messages": [], "tools": null}')
    (None, None)

    A body is known by one of its keys `model`, `messages`, `input`, `prompt`, `tools` and `tool_choice`. `{}` is one,
    too; any other object is a tool.

    Returns:
        The tools. None are left if the body says that none may be called; `None` if there is no list.

    Raises:
        ValueError: it cannot be read, or is something else; says why.
    """
    tools = read_json(text)
    if isinstance(tools, Mapping):
        is_body = not tools or not _OF_A_BODY.isdisjoint(tools)
        if is_body and tools.get("tool_choice") == "none":
            return []
        tools = tools.get("tools") if is_body else [tools]
    if tools is not None and not isinstance(tools, list):
        raise ValueError("expected a JSON list of OpenAI tools")
    return tools
