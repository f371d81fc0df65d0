"""The input of a ReAct action: one object of strict JSON, or a dict of Python's literals, and nothing made up."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from llama3_tools import RejectionReason, Tool
from llama3_tools.arguments.literals import read_container
from llama3_tools.calls.reader import CallReader
from llama3_tools.calls.repair import Mended, Mending
from llama3_tools.calls.shapes import WrittenCall
from llama3_tools.reading.json_object import JsonObject
from llama3_tools.reading.json_places import read_object
from llama3_tools.reading.refusal import Refusal

__all__ = ["BrokenInput", "Input", "read_input"]

_QUOTE_OR_BRACKET = re.compile(r"'''|\"\"\"|['\"{}\[\]()]")
_QUOTE_END = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ("'", '"', "'''", '"""')}


class Input(NamedTuple):
    """An input that could be read."""

    arguments: dict[str, Any]
    repaired_from: str | None = None
    """The malformed text that it was repaired from."""


class BrokenInput(NamedTuple):
    """Why an input cannot be read."""

    refusal: Refusal
    end: int
    """Where the last token ends that could still be part of it, an offset into the model output."""


def read_input(text: str, brace: int, *, offset: int = 0, repaired_for: str | None = None) -> Input | BrokenInput:
    """Read the object that begins at a brace; what stands after it does not matter.

    >>> read_input('{"path": "/"} and so on', 0).arguments, read_input("{'path': None}", 0).arguments
    ({'path': '/'}, {'path': None})
    >>> read_input('{"path": "/", oops}', 0).refusal.detail
    "expected a key at offset 14, found 'o'"

    Args:
        text: the text.
        brace: the index of the brace.
        offset: the offset of the text in the model output.
        repaired_for: the tool for which what is malformed is repaired, if it is.
    """
    read = read_object(text, brace, base=offset)
    if isinstance(read, JsonObject) and not read.flaw:
        return Input(read.members)
    end = _end_of_literal(text, brace)
    literal = read_container(text[brace:end]) if end else None
    if isinstance(literal, dict):
        return Input(literal)
    if isinstance(read, JsonObject):
        return BrokenInput(Refusal(RejectionReason.MALFORMED, read.flaw), offset + read.end)
    repaired = None if repaired_for is None else _repaired(text[brace:], repaired_for)
    return repaired or BrokenInput(read.refusal, offset + brace + len(text[brace : read.end].rstrip()))


def _end_of_literal(text: str, start: int) -> int | None:
    """Find where the bracket at an index closes, if it does, in JSON and in Python."""
    depth, pos = 0, start
    while found := _QUOTE_OR_BRACKET.search(text, pos):
        pos = found.end()
        if found[0] in "{[(":
            depth += 1
        elif found[0] in "}])":
            depth -= 1
            if not depth:
                return pos
        else:
            closing = _QUOTE_END[found[0]].search(text, pos)
            while closing and closing[0] != found[0]:
                closing = _QUOTE_END[found[0]].search(text, closing.end())
            if not closing:
                return None
            pos = closing.end()
    return None


def _repaired(text: str, tool: str) -> Input | None:
    calls = CallReader({tool: Tool(tool)}, repair=True)
    mended = Mending(calls, 0, "", name=tool, is_after_call=False).read(text, 0, ended=True)
    if not isinstance(mended, Mended) or not isinstance(mended.found, WrittenCall):
        return None
    return Input(mended.found.arguments, mended.text)
