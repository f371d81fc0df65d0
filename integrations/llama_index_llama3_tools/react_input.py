"""The input of a ReAct action: one object of strict JSON, or a dict of Python's literals, and nothing made up."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from llama3_tools.arguments.literals import read_container
from llama3_tools.calls.reader import CallReader
from llama3_tools.calls.repair import load_repair, read_repaired_object
from llama3_tools.reading.json_parse import JsonObject
from llama3_tools.reading.json_scan import Refusal, Scan, read_object
from llama3_tools.reading.source import Source, run_to_end

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


def read_input(text: str, brace: int, *, offset: int = 0, repairs: bool = False) -> Input | BrokenInput:
    """Read the object that begins at a brace; what stands behind it does not matter.

    >>> read_input('{"path": "/"} and so on', 0).arguments, read_input("{'path': None}", 0).arguments
    ({'path': '/'}, {'path': None})
    >>> read_input('{"path": "/", oops}', 0).refusal.detail
    "expected a key at offset 14, found 'o'"

    Args:
        text: the text.
        brace: the index of the brace.
        offset: where the text begins in the model output.
        repairs: whether what is malformed is repaired.
    """
    source = Source()
    source.base = source.mark = offset + brace
    source.feed(text[brace:])
    source.ended = True
    read = run_to_end(read_object(source))
    if isinstance(read, JsonObject):
        return Input(read.value)
    end = _end_of_literal(text, brace)
    literal = read_container(text[brace:end]) if end else None
    if isinstance(literal, dict):
        return Input(literal)
    assert read.refusal is not None  # noqa: S101  # or it had been an object
    return (_repaired(source, read) if repairs else None) or BrokenInput(read.refusal, read.end)


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


def _repaired(source: Source, scan: Scan) -> Input | None:
    reader = CallReader(None, "call", id_factory=str, repair=load_repair())
    repaired = run_to_end(read_repaired_object(source, source.mark, scan, reader))
    return repaired and Input(repaired.parsed.value, repaired.repaired_from)
