"""Which tool has to be called: the model's choice, any, or one of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from llama3_tools.errors import ToolDefinitionError

ToolChoice: TypeAlias = str
"""`"auto"`: the model decides; `"required"`: it has to call a tool; anything else: the name of the tool to call.
In `llama3_tools.chat`, also `"none"`: no tool is shown or called."""


def require_tool_choice(tool_choice: object, names: Collection[str] | None) -> None:
    """Raise if the tools do not allow a choice.

    >>> require_tool_choice("required", ["now"])
    >>> require_tool_choice("required", [])
    Traceback (most recent call last):
    llama3_tools.errors.ToolDefinitionError: tool_choice "required" takes a tool that can be called; declared: none

    Args:
        tool_choice: what the user asked for.
        names: the tools that may be called; `None`: any, without their names being known.

    Raises:
        TypeError: it is not a `str`.
        ToolDefinitionError: it names a tool that is not declared, or `"required"` has none to choose from.
    """
    if not isinstance(tool_choice, str):
        found = type(tool_choice).__name__
        hint = ': pass the name, which OpenAI has under ["function"]["name"]' if isinstance(tool_choice, dict) else ""
        raise TypeError(f'tool_choice is "auto", "required" or the name of a tool, got {found}{hint}')
    if tool_choice == "required":
        if names is not None and not names:
            raise ToolDefinitionError('tool_choice "required" takes a tool that can be called; declared: none')
    elif tool_choice != "auto" and tool_choice not in (names or ()):
        declared = ", ".join(names or ()) or "none"
        raise ToolDefinitionError(f"tool_choice {tool_choice!r} is not declared; declared: {declared}")
