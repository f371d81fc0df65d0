"""Which tools may be called, and whether one has to be: in all the ways in which APIs and frameworks say it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from llama3_tools.errors import ToolDefinitionError, did_you_mean
from llama3_tools.tools.choice import ToolChoice

_WORDS: Mapping[object, ToolChoice] = {
    None: "auto",
    False: "auto",
    "auto": "auto",
    True: "required",
    "any": "required",
    "required": "required",
    "none": "none",
}


@dataclass(frozen=True, slots=True)
class RequestedChoice:
    """What a request asks for."""

    tool_choice: ToolChoice = "auto"
    """`"auto"`, `"required"`, `"none"`, or the name of the tool to call."""
    allowed: tuple[str, ...] | None = None
    """The tools that may be called; `None` for all."""
    parallel: bool = True
    """Whether an answer may have more than one call."""

    @property
    def is_due(self) -> bool:
        """Whether a call has to be made."""
        return self.tool_choice not in {"auto", "none"}

    @property
    def tool(self) -> str | None:
        """The one tool that may be called, if one is named."""
        return None if self.tool_choice in _WORDS else self.tool_choice


def read_tool_choice(tool_choice: object, names: Collection[str]) -> RequestedChoice:
    """Read a tool choice: a word, a tool's name, or a dict of OpenAI's or Anthropic's.

    >>> read_tool_choice({"type": "function", "function": {"name": "now"}}, ["now"]).tool_choice
    'now'
    >>> read_tool_choice({"type": "any", "disable_parallel_tool_use": True}, ["now"])
    RequestedChoice(tool_choice='required', allowed=None, parallel=False)
    >>> tools = [{"type": "function", "function": {"name": "now"}}]
    >>> read_tool_choice({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}}, ["now", "rm"])
    RequestedChoice(tool_choice='auto', allowed=('now',), parallel=True)

    Args:
        tool_choice: what the user asked for; `None` and `False` are `"auto"`, `True` is `"required"`.
        names: the tools.

    Raises:
        ToolDefinitionError: it is none of these, or names a tool that is not there.
    """
    wanted, allowed, parallel = tool_choice, None, True
    if isinstance(tool_choice, Mapping):
        parallel = tool_choice.get("disable_parallel_tool_use") is not True
        kind = tool_choice.get("type")
        wanted = _name_in(tool_choice) or (kind if isinstance(kind, str) else "")
        if kind == "allowed_tools":
            given = tool_choice.get("allowed_tools")
            given = given if isinstance(given, Mapping) else tool_choice
            wanted, tools = given.get("mode"), given.get("tools")
            allowed = tuple(map(_name_in, tools)) if isinstance(tools, (list, tuple)) else ("",)
    is_word = isinstance(wanted, (str, bool, type(None))) and wanted in _WORDS
    if not is_word and not (isinstance(wanted, str) and wanted in names):
        raise _no_choice(tool_choice, names)
    if not all(name in names for name in allowed or ()):
        raise _no_choice(tool_choice, names)
    return RequestedChoice(_WORDS[wanted] if is_word else str(wanted), allowed, parallel)


def _name_in(tool: object) -> str:
    """Return the name in a dict that names a tool: at its own level, or under `function` or `custom`."""
    for holder in (tool.get("function"), tool.get("custom"), tool) if isinstance(tool, Mapping) else ():
        name = holder.get("name") if isinstance(holder, Mapping) else None
        if isinstance(name, str) and name:
            return name
    return ""


def _no_choice(tool_choice: object, names: Collection[str]) -> ToolDefinitionError:
    known = f"the tools are {', '.join(names)}" if names else "there are no tools"
    similar = did_you_mean(tool_choice, names) if isinstance(tool_choice, str) else ""
    return ToolDefinitionError(
        f'tool_choice must be "auto", "required" (or "any"), "none" or the name of a tool, not {tool_choice!r}: '
        f"{known}{similar}"
    )
