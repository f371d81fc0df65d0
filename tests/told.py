"""Extractions in short, for tables of cases; and the tools that many tests declare."""

from __future__ import annotations

from typing import Any

from llama3_tools import Extraction


def tool(name: str, *parameters: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """Declare a tool whose parameters take anything."""
    properties: dict[str, Any] = {parameter: {} for parameter in parameters}
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": list(required)}}


TOOLS = [
    tool("f", "a", "b", required=("a",)),
    tool("g"),
    tool("clock", "zone"),
    tool("save", "text", "tags", "example"),
    tool("delete", "path", required=("path",)),
]
CLOCK = '{"name": "clock", "arguments": {}}'
DELETE = '{"name": "delete", "arguments": {"path": "/"}}'


def called(extraction: Extraction) -> str:
    """Return the names of the calls, in order."""
    return " ".join(call.name for call in extraction.tool_calls)


def calls(extraction: Extraction) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls, each with its arguments."""
    return [(call.name, call.arguments) for call in extraction.tool_calls]


def refused(extraction: Extraction) -> str:
    """Return the rejections, in order: the reason, the name if there is one, and `!` after an attempt.

    >>> from llama3_tools import extract
    >>> refused(extract('{"name": "f", "parameters": 5} {"a": 1}'))
    'invalid_arguments f!, not_a_call'
    """
    return ", ".join(
        f"{one.reason}{f' {one.name}' if one.name else ''}{'!' if one.is_attempt else ''}"
        for one in extraction.rejections
    )
