"""What other options would call: an output is read again with each option that it was not read with."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from itertools import chain, islice

from llama3_tools.extractor import Extractor
from llama3_tools.formats import require_formats
from llama3_tools.limits import LONGEST_NAME
from llama3_tools.options import ReadOptions
from llama3_tools.output.spans import first_overlap
from llama3_tools.reader.markup import METHOD, WORD_NAME
from llama3_tools.tools import Tool
from llama3_tools.values import Extraction, ToolCall

_ALL = require_formats("all")
_MOST_NAMES = 64
_PYTHONIC = rf"(?:[\[,]\s*|^[ \t]*(?=[\w.:/-]+\(\s*\w+\s*=))({WORD_NAME}?)(?:{re.escape(METHOD)})?\("
_KEY = r"[\"'](?:(?:function_|tool_)?name|function|tool|action)[\"']"
_NAMES = (
    ("(", re.compile(_PYTHONIC, re.MULTILINE)),
    (":", re.compile(rf"{_KEY}\s*:\s*[\"']([^\"'\s]{{1,{LONGEST_NAME}}})[\"']")),
    ("{", re.compile(rf"(?<![\w.:/-])({WORD_NAME}?)[\s>\])(=:,]{{0,3}}(?=\{{)")),
)
"""The names of pythonic calls, in objects, and before objects; each with a character that it needs."""


class Option(Enum):
    """An option by which more may count as a call."""

    TOOLS = "tools"
    """With a declaration of the tool."""
    REPAIR = "repair"
    FORMATS = "formats"
    """All of them, if fewer were asked for."""


@dataclass(frozen=True, slots=True)
class OtherCall:
    """A call that is found with other options, in a place where the usual ones find none."""

    call: ToolCall
    """The call."""
    options: tuple[Option, ...]
    """Those options: the first of those tried."""


def other_calls(extractor: Extractor, text: str, *, complete: bool = True) -> list[OtherCall]:
    """Return the calls that an output would have with other options, where it has none.

    >>> (f,) = other_calls(Extractor(), "f(a=1)")
    >>> print(*(option.value for option in f.options), f.call)
    tools <ToolCall f({"a": 1}) pythonic 0:6>

    Args:
        extractor: reads the output as it was read.
        text: the output.
        complete: whether the model ended its turn, rather than a limit.
    """
    read = extractor.extract(text, complete=complete)
    in_all_formats = _with(extractor, (Option.FORMATS,), ()).extract(text, complete=complete)
    names = dict.fromkeys((*_names(text), *_named(read), *_named(in_all_formats)))
    found = [call.span for call in read.tool_calls]
    others: list[OtherCall] = []
    for options in _to_try(extractor):
        calls = _with(extractor, options, names).extract(text, complete=complete).tool_calls
        new = [OtherCall(call, options) for call in calls if first_overlap(found, call.span) is None]
        found = sorted((*found, *(other.call.span for other in new)))
        others += new
    return others


def calls_if_declared(extractor: Extractor, text: str) -> Sequence[ToolCall]:
    """Return the calls of an output if the tools that it seems to name were declared.

    >>> [call.name for call in calls_if_declared(Extractor(), "f(a=1)")]
    ['f']
    """
    names = tuple(_names(text)[:_MOST_NAMES])
    return _declaring(names, extractor.options).extract(text).tool_calls if names else ()


@lru_cache(maxsize=256)
def _declaring(names: tuple[str, ...], options: ReadOptions) -> Extractor:
    """Return an extractor for tools of some names; many outputs name the same ones."""
    return Extractor(map(Tool, names), options=options)


def _to_try(extractor: Extractor) -> list[tuple[Option, ...]]:
    """Return the options to try, first what asks for the least."""
    sets: list[tuple[Option, ...]] = [(Option.TOOLS,)]
    if not extractor.options.repair:
        sets.append((Option.TOOLS, Option.REPAIR))
        if extractor.tools is not None:
            sets.insert(0, (Option.REPAIR,))
    if extractor.options.formats is not None:
        sets.append((Option.FORMATS,))
    return sets


def _with(extractor: Extractor, options: Collection[Option], names: Iterable[str]) -> Extractor:
    """Return an extractor that has other options, too.

    Args:
        extractor: the extractor.
        options: the options.
        names: the names of the tools that `TOOLS` declares.
    """
    now, tools = extractor.options, extractor.tools
    if Option.TOOLS in options:
        tools = {**{name: Tool(name) for name in islice(names, _MOST_NAMES)}, **(tools or {})}
    others = replace(
        now,
        formats=_ALL if Option.FORMATS in options else now.formats,
        repair=now.repair or Option.REPAIR in options,
    )
    return Extractor(None if tools is None else tools.values(), options=others)


def _names(text: str) -> list[str]:
    """Return the names in a text that may be those of tools."""
    found = (pattern.findall(text) for needed, pattern in _NAMES if needed in text)
    return list(dict.fromkeys(chain.from_iterable(found)))


def _named(extraction: Extraction) -> list[str]:
    """Return the names of the tools that calls, or seeming calls, name."""
    named = [call.name for call in extraction.tool_calls] + [one.name for one in extraction.rejections if one.name]
    return [name.removesuffix(METHOD) for name in named]
