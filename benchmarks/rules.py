"""What evidence is counted for: the rules that can be switched off, options of reading, and the shapes of calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from llama3_tools.formats import FormatName
from llama3_tools.reader import switches

__all__ = ["OPTIONS", "RULES", "SHAPES", "Rule"]

_FORMATS = [name for name in get_args(FormatName) if name not in ("all", "none")]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule or an option of reading."""

    name: str
    """What it is called in the table."""
    kind: str
    """`rule`, `format` or `option`."""
    off: tuple[str, ...] = ()
    """The rules that are switched off."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options that are set."""
    has_tools: bool = True
    """Whether tools are declared."""
    complete: bool = True
    """Whether the output counts as complete (principle 6)."""


def _without(name: str) -> Rule:
    return Rule(f"`{name}`", "format", options={"formats": [one for one in _FORMATS if one != name]})


RULES = (*(Rule(name, "rule", (name,)) for name in switches.RULES), *map(_without, _FORMATS))
"""Each is switched off: what an output loses, or gains, without it."""

OPTIONS = (
    Rule("no tools declared", "option", has_tools=False),
    Rule('on_unknown_tool="call"', "option", options={"on_unknown_tool": "call"}),
    Rule('formats="all"', "option", options={"formats": "all"}),
    Rule("repair", "option", options={"repair": True}),
    Rule("coerce_arguments", "option", options={"coerce_arguments": True}),
    Rule("split_reasoning", "option", options={"split_reasoning": True}),
    Rule("starts_reasoning", "option", options={"starts_reasoning": True}),
    Rule("complete=False", "option", complete=False),
)
"""Each is switched on."""

_ARGUMENTS = r'"(?:parameters|arguments)"\s*:'
SHAPES = {
    "`name`, then `parameters`": r'"name"\s*:[\s\S]*"parameters"\s*:',
    "`name`, then `arguments`": r'"name"\s*:[\s\S]*"arguments"\s*:',
    "arguments first": rf'{_ARGUMENTS}\s*\{{[\s\S]*"name"\s*:\s*"[^"]*"\s*\}}',
    '`"type": "function"` beside': r'"type"\s*:\s*"function"',
    "OpenAI's": r'"function"\s*:\s*\{',
    '`"function": "NAME"`': r'"function"\s*:\s*"',
    "`tool_name`": r'"tool_name"\s*:',
    "arguments in a string": rf'{_ARGUMENTS}\s*"\s*\{{',
    '`null` or `""` as arguments': rf'{_ARGUMENTS}\s*(?:null|"")',
    "no arguments": rf"^(?![\s\S]*{_ARGUMENTS})\s*\{{",
}
"""The shapes of calls in JSON, by what stands in the text of a call."""
