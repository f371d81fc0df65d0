"""JSON that the command is given, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["read_json", "read_tool_list"]


def read_json(text: str) -> object:
    """Read JSON.

    Raises:
        ValueError: it cannot be read; says why.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None
    except ValueError:
        raise ValueError("a number in it has more digits than Python reads") from None
    except RecursionError:
        raise ValueError("nested too deep to be read") from None


def read_tool_list(text: str) -> list[Any]:
    """Read tools: a JSON list of OpenAI tools, the body of a request that has one, or one tool.

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
