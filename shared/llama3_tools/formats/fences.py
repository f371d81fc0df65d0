"""Code fences: wrappers around calls, or quotation (rule 9)."""

from __future__ import annotations

from functools import cache

from llama3_tools.formats.base import Closing, Kind, WireFormat

__all__ = ["FENCE", "LISTINGS", "TILDES", "WORDS", "end_of_fence"]

_INFO = r"[ \t]{0,4}[\w+-]{0,24}[^\n`]{0,32}"

FENCE = WireFormat(
    "fence",
    Kind.FENCE,
    r"(?P<ticks>(?<!`)`{3,16}(?!`))[ \t]{0,4}(?P<info>[\w+-]{0,24})"
    r"(?:[ \t]{0,4}(?=[{\[<])|(?P<rest>[^\n`]{0,32})\n|(?=[ \t]{0,4}\Z))"
    r"|(?<!`)`{3,16}(?!`)",
    rf"(?<!`)`{{3,16}}{_INFO}|(?<!`)`{{1,2}}",
    "`",
    "`",
)

# Nobody writes calls in these. But Markdown has them, and without this an example that a model shows in one would run.
TILDES = WireFormat(
    "tildes",
    Kind.TILDES,
    r"(?<=[\s>])~{3,16}[^\n~]{0,64}\n",
    r"(?<=[\s>])~{1,16}(?:(?<=~~~)[^\n~]{0,64})?",
    "~",
    "~",
    is_inside=False,
)

LISTINGS = ("", "python", "py", "python3")
"""The words of fences that hold code as often as calls: the first line tells."""

WORDS = frozenset(
    {*LISTINGS, "json", "jsonl", "tool_call", "tool_calls", "tool_code", "tool", "tools"}
    | {"function", "functions", "function_call", "function_calls"}
)
"""The words of fences around calls. A fence with any other is quotation."""


@cache
def end_of_fence(ticks: int, char: str = "`") -> Closing:
    """Return what closes a fence that was opened with so many backticks: a line that ends with as many or more."""
    line = rf"(?:(?<=\n)[ \t>]{{0,8}}|(?<=[^\s{char}])){char}{{{ticks},16}}[ \t]{{0,8}}"
    return Closing.of(
        rf"{line}(?=[\r\n]|\Z)",
        rf"(?:(?<=\n)[ \t>]{{0,8}}|(?<=[^\s{char}])){char}{{1,16}}[ \t]{{0,8}}|(?<=\n)[ \t>]{{1,8}}",
    )
