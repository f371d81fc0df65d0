"""Tools as a user has them in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama3_tools.text import read_json

__all__ = ["read_tool_list"]


def read_tool_list(text: str) -> list[Any]:
    """Return the tools in JSON: those of a list of OpenAI tools, of the body of a request that has one, or one tool.

    >>> read_tool_list('{"model": "llama3.1", "tools": [{"name": "clock"}]}')
    [{'name': 'clock'}]

    Raises:
        ValueError: it cannot be read, or is something else; says why.
    """
    tools = read_json(text)
    if isinstance(tools, Mapping):
        tools = tools.get("tools", [tools])
    if not isinstance(tools, list):
        raise ValueError("expected a JSON list of OpenAI tools")  # noqa: TRY004 (what was read, not what was passed)
    return tools
