"""What other options would call: an output is read again with each option that it was not read with, and with pairs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations, islice

from llama3_tools.extractor import Extractor
from llama3_tools.formats import require_formats
from llama3_tools.limits import LONGEST_NAME
from llama3_tools.output.spans import first_overlap
from llama3_tools.reader.markup import METHOD, WORD_NAME
from llama3_tools.tools import Tool
from llama3_tools.values import Extraction, Span, ToolCall

__all__ = ["Option", "OtherCall", "other_calls"]

_ALL = require_formats("all")
_MOST_OPTIONS = 2
_MOST_NAMES = 64
_NAMES = re.compile(
    rf"(?:[\[,]\s*|^[ \t]*(?=[\w.:/-]+\(\s*\w+\s*=))({WORD_NAME}?)(?:{re.escape(METHOD)})?\("  # of pythonic calls
    rf"|[\"'](?:(?:function_|tool_)?name|function|tool|action)[\"']\s*:\s*[\"']([^\"'\s]{{1,{LONGEST_NAME}}})[\"']"
    rf"|(?<![\w.:/-])({WORD_NAME}?)[\s>\])(=:,]{{0,3}}(?=\{{)",  # of an object after it
    re.MULTILINE,
)


class Option(Enum):
    """An option by which more may be called."""

    FORMATS = "formats"
    """All of them."""
    TOOLS = "tools"
    """With a declaration of the tool."""
    UNKNOWN = "on_unknown_tool"
    """Which lets such calls through."""
    REPAIR = "repair"


@dataclass(frozen=True, slots=True)
class OtherCall:
    """A call that is found with other options, in a place where the usual ones find none."""

    call: ToolCall
    """The call."""
    options: tuple[Option, ...]
    """Those options. Without any of them, there is no call in this place."""


def other_calls(extractor: Extractor, text: str, *, complete: bool = True) -> list[OtherCall]:
    """Return the calls that an output would have with one other option, or two of them.

    >>> (f,) = other_calls(Extractor(), "f(a=1)")
    >>> print(*(option.value for option in f.options), f.call)
    tools <ToolCall f({"a": 1}) pythonic 0:6>

    Args:
        extractor: reads the output as it was read.
        text: the output.
        complete: whether the model ended its turn, rather than a limit.
    """
    found: dict[frozenset[Option], list[Span]] = {}
    others: list[OtherCall] = []
    names = dict.fromkeys(next(filter(None, match.groups())) for match in _NAMES.finditer(text))
    for options in _sets_to_try(extractor):
        extraction = _with(extractor, options, islice(names, _MOST_NAMES)).extract(text, complete=complete)
        names.update(dict.fromkeys(_names(extraction)))
        fewer = [spans for some, spans in found.items() if some <= options]
        calls = [
            call for call in extraction.tool_calls if all(first_overlap(spans, call.span) is None for spans in fewer)
        ]
        found[options] = [call.span for call in calls]
        in_order = tuple(option for option in Option if option in options)
        others += [OtherCall(call, in_order) for call in calls if options]
    return others


def _sets_to_try(extractor: Extractor) -> list[frozenset[Option]]:
    """Return the sets of options to try, none first, and last those that declare the tools that the others named."""
    now, has_tools = extractor.options, extractor.tools is not None
    in_effect = {
        Option.FORMATS: now.formats == _ALL,
        Option.UNKNOWN: not has_tools or now.on_unknown_tool == "call",
        Option.REPAIR: now.repair,
    }
    free = [option for option in Option if not in_effect.get(option)]
    sets = [frozenset(some) for size in range(_MOST_OPTIONS + 1) for some in combinations(free, size)]
    if not has_tools:
        sets = [one for one in sets if Option.REPAIR not in one or Option.TOOLS in one]
    return sorted(sets, key=lambda one: Option.TOOLS in one)


def _with(extractor: Extractor, options: Collection[Option], names: Iterable[str]) -> Extractor:
    """Return an extractor that has other options, too.

    Args:
        extractor: the extractor.
        options: the options.
        names: what the tools are called that `TOOLS` declares.
    """
    now, tools = extractor.options, extractor.tools
    if Option.TOOLS in options:
        tools = {**{name: Tool(name) for name in names}, **(tools or {})}
    others = replace(
        now,
        formats=_ALL if Option.FORMATS in options else now.formats,
        on_unknown_tool="call" if Option.UNKNOWN in options else now.on_unknown_tool,
        repair=now.repair or Option.REPAIR in options,
    )
    return Extractor(None if tools is None else tools.values(), options=others)


def _names(extraction: Extraction) -> list[str]:
    """Return the names of the tools that are called, or seem to be."""
    named = [call.name for call in extraction.tool_calls] + [one.name for one in extraction.rejections if one.name]
    return [name.removesuffix(METHOD) for name in named]
