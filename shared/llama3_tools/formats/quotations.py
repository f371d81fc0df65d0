"""Thoughts and results of tools: quotation between two tags (rule 9)."""

from __future__ import annotations

import re
from functools import cache

from llama3_tools.formats.base import NAME, Closing, Kind, WireFormat, beginnings, literals

__all__ = ["RESPONSE", "RESPONSE_END", "RESULT_LINE", "THOUGHT", "end_of_quote", "end_of_tag"]

# <think> is DeepSeek-R1-Distill-Llama's; the others are those of finetunes: Hermes 3's <scratch_pad>, <thinking> and
# <reasoning> of DeepHermes and Reflection Llama. Without it, what a model only thinks of calling would run.
_THOUGHTS = ("<think>", "<thinking>", "<reasoning>", "<scratch_pad>")
THOUGHT = WireFormat(
    "thought",
    Kind.THOUGHT,
    literals(_THOUGHTS),
    "",
    "<",
    "[a-z]",
    {opening: f"</{opening[1:]}" for opening in _THOUGHTS},
    is_inside=False,
    texts=_THOUGHTS,
)

# Hermes's models are given results between these tags, and a result is written by strangers: without this, a call in
# one that the model repeats would run.
RESPONSE = WireFormat(
    "tool_response",
    Kind.RESPONSE,
    r"<tool_response(?:[ \t][^<>\n]{0,128})?>",
    rf"{beginnings('<tool_response')}|<tool_response(?:[ \t][^<>\n]{{0,128}})?",
    "<",
    "t",
    is_inside=False,
)

RESPONSE_END = "</tool_response>"

RESULT_LINE = re.compile(rf"(?:Result|Error) of ({NAME}):")
"""How a line begins that shows a result to the model, as `render_tool_result` writes it, and the name in it.

Strangers wrote the result, and without this a call in one that the model repeats would run.
"""


@cache
def end_of_quote(closing: str, quote: str) -> Closing:
    """Return the end of a wrapper between quotation marks: its closing before the mark, or the end of the line."""
    return Closing.of(rf"{re.escape(closing)}(?={quote})|(?=\n)", beginnings(f"{closing}{quote}"))


@cache
def end_of_tag(closing: str) -> Closing:
    """Return the closing tag of quotation as its end."""
    return Closing.of(literals([closing]), beginnings(closing))
