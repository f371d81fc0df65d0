"""Outputs to measure with: what models write, and what is hard on a parser. Each comes in any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CALL", "GROWING", "TYPICAL", "Workload", "calls_of"]

CALL = '{"name": "get_weather", "parameters": {"city": "Paris", "days": 3, "units": "metric"}}'
TYPICAL = (
    "Let me check the weather for you in a moment, one second please. "
    f"{CALL}\nI will tell you as soon as I know more about it."
)
"""An output of 200 characters with one call in it."""

_TOOLS = [
    {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
    {"name": "clock"},
]


@dataclass(frozen=True, slots=True)
class Workload:
    """Outputs of one kind."""

    name: str
    """What it is called in the table."""
    make: Callable[[int], str]
    """Makes an output of about so many characters."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of the extractor that reads it."""


def calls_of(text: str) -> str:
    """Give an output that holds so many characters of calls and nothing else: what `json.loads` would have to read."""
    return "; ".join([CALL] * max(1, len(text) // len(CALL)))


def _repeat(unit: str, *, before: str = "", after: str = "") -> Callable[[int], str]:
    """Make outputs of a unit repeated, with a call behind it."""
    return lambda size: before + unit * max(1, size // len(unit)) + after + f"\n{CALL}"


def _nested(size: int) -> str:
    levels = max(1, size // 12)
    return '{"name": "f", "parameters": ' + '{"a": [' * levels + "]}" * levels + f"}}\n{CALL}"


def _wide(size: int) -> str:
    leaf = '{"a": [1, 2, {"b": "ccccccc"}]}'
    return '{"name": "f", "parameters": {"all": [' + ",".join([leaf] * max(1, size // len(leaf))) + "]}}"


_WITH_TOOLS = {"tools": _TOOLS}

GROWING: tuple[Workload, ...] = (
    Workload("prose", lambda size: "Prose without a brace in it. " * (size // 29)),
    Workload("prose with braces", _repeat("A set {x, y}, a list [1] and a (pair). ")),
    Workload("one long string", _repeat("x", before='{"name": "f", "parameters": {"text": "', after='"}}')),
    Workload(
        "a long string of escapes", _repeat(r"\n\"\\", before='{"name": "f", "parameters": {"text": "', after='"}}')
    ),
    Workload("wide arguments", _wide),
    Workload("nesting beyond every limit", _nested),
    Workload("open objects", _repeat('{"a":')),
    Workload("open arrays", _repeat("[")),
    Workload("open arrays of objects", _repeat('[{"a":')),
    Workload("open braces", _repeat("{")),
    Workload("closing braces", _repeat("}]")),
    Workload("quotes", _repeat('"')),
    Workload("backslashes", _repeat("\\", before='{"name": "')),
    Workload("open strings", _repeat('{"name": "f", "parameters": {"text": "abc ')),
    Workload("calls", _repeat(f"{CALL}; ")),
    Workload("an array of calls", _repeat(f"{CALL}, ", before="[", after=f"{CALL}]")),
    Workload("calls with text between", _repeat(f"And now: {CALL} ")),
    Workload("malformed calls", _repeat('{"name": "f", "parameters": {oops}} ')),
    Workload("calls of unknown tools", _repeat('{"name": "f", "parameters": {}} '), _WITH_TOOLS),
    Workload("half tags", _repeat("<tool_")),
    Workload("open tags", _repeat("<tool_call>")),
    Workload("open function tags", _repeat("<function=f>{")),
    Workload("half tokens", _repeat("<|python_")),
    Workload("tokens", _repeat("<|python_tag|>")),
    Workload("a fence that never closes", _repeat("print(1)\n", before="```python\n")),
    Workload("fences that never close", _repeat("```json\n{")),
    Workload("backticks", _repeat("`")),
    Workload("open thoughts", _repeat("<think>")),
    Workload("half-closed thoughts", _repeat("</thin", before="<think>"), {"split_reasoning": True}),
    Workload("white space", _repeat(" ")),
    Workload("line breaks after a call", _repeat("\n", before=CALL)),
    Workload("delimiters after a call", _repeat(" ;,", before=CALL)),
    Workload("pythonic calls", _repeat("[get_weather(city='Paris', days=3)]\n"), _WITH_TOOLS),
    Workload("a long pythonic list", _repeat("clock(), ", before="[", after="clock()]"), _WITH_TOOLS),
    Workload("a long pythonic string", _repeat("x\\'", before="[get_weather(city='", after="')]"), _WITH_TOOLS),
    Workload("open pythonic calls", _repeat("[get_weather(city="), _WITH_TOOLS),
    Workload("open pythonic lines", _repeat("get_weather(city=[\n"), _WITH_TOOLS),
    Workload("names of tools", _repeat("get_weather "), _WITH_TOOLS),
)
"""What the time must not grow faster on than the output does: each with a call behind it, where one can follow."""
