"""What other options would call: an output is read again with each option that it was not read with, and with pairs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
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
_MOST_TRIES = 64
_LEAST_TRIES = 4
_MOST_CHARACTERS = 1_000_000  # of all tries together
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
    """With declarations of the tool, and of those that are called together with it."""
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
    declared: tuple[str, ...] = ()
    """The tools that `TOOLS` has to declare together, the called one first. With fewer of them, there is no call."""


def other_calls(extractor: Extractor, text: str, *, complete: bool = True) -> list[OtherCall]:
    """Return the calls that an output would have with one other option, or two of them.

    A call that needs tools is returned only if reading with the tools that it names was tried, and makes it.

    >>> f, g = other_calls(Extractor(), "f(a=1), g(a=1)")
    >>> print(*(option.value for option in g.options), *g.declared, g.call)
    tools g f <ToolCall g({"a": 1}) pythonic 8:14>

    Args:
        extractor: reads the output as it was read.
        text: the output.
        complete: whether the model ended its turn, rather than a limit.
    """
    found: dict[frozenset[Option], list[Span]] = {}
    others: list[OtherCall] = []
    names = dict.fromkeys(next(filter(None, match.groups())) for match in _NAMES.finditer(text))
    trial = _Trial(extractor, text, complete)
    for options in _sets_to_try(extractor):
        tried = tuple(islice(names, _MOST_NAMES)) if Option.TOOLS in options else ()
        extraction = trial.read(options, tried)
        names.update(dict.fromkeys(_names(extraction)))
        fewer = [spans for some, spans in found.items() if some <= options]
        calls = [
            call for call in extraction.tool_calls if all(first_overlap(spans, call.span) is None for spans in fewer)
        ]
        if Option.TOOLS in options:
            called = dict.fromkeys(call.name for call in extraction.tool_calls)
            declared = trial.declarations(options, calls, (tuple(called), tried))
        else:
            declared = dict.fromkeys((call.span for call in calls), ())
        found[options] = list(declared)
        others += [
            OtherCall(call, tuple(option for option in Option if option in options), declared[call.span])
            for call in calls
            if options and call.span in declared
        ]
    return others


class _NoTriesLeftError(Exception):
    """As many choices of tools were tried as may be."""


class _Trial:
    """An output that is read with other options, and with a bounded number of choices of declared tools."""

    def __init__(self, extractor: Extractor, text: str, complete: bool) -> None:  # noqa: FBT001 (as `other_calls`)
        self._extractor, self._text, self._complete = extractor, text, complete
        self._tries = min(_MOST_TRIES, max(_LEAST_TRIES, _MOST_CHARACTERS // max(len(text), 1)))
        self._holding: dict[tuple[frozenset[Option], frozenset[str]], frozenset[tuple[Span, str, str]]] = {}

    def read(self, options: frozenset[Option], names: Collection[str]) -> Extraction:
        """Return what is read with options, where `TOOLS` declares these names."""
        extraction = _with(self._extractor, options, names).extract(self._text, complete=self._complete)
        self._holding[options, self._new(names)] = frozenset(_facts(call) for call in extraction.tool_calls)
        return extraction

    def declarations(
        self, options: frozenset[Option], calls: Iterable[ToolCall], larger: Iterable[Sequence[str]]
    ) -> dict[Span, tuple[str, ...]]:
        """Return by a call's span which names make it, if they are declared; no name can be left out.

        Args:
            options: the options, `TOOLS` among them.
            calls: the calls. One that no choice within the bound makes is left out.
            larger: the names to choose from if a call's own is not enough, the fewest first.
        """
        enough: dict[Span, tuple[str, ...]] = {}
        for call in calls:
            choices = [(call.name,), *dict.fromkeys(names for names in enough.values() if call.name in names), *larger]
            own_first = (tuple(dict.fromkeys((call.name, *names))) for names in choices)
            with suppress(_NoTriesLeftError):
                for names in islice((names for names in own_first if self._makes(options, names, call)), 1):
                    enough[call.span] = self._fewest(options, names, call)
        return enough

    def _fewest(self, options: frozenset[Option], names: tuple[str, ...], call: ToolCall) -> tuple[str, ...]:
        """Return names that make a call without those that it can do without; its own, the first, stays."""
        for name in names[1:]:
            fewer = tuple(one for one in names if one != name)
            if self._makes(options, fewer, call):
                names = fewer
        return names

    def _makes(self, options: frozenset[Option], names: tuple[str, ...], call: ToolCall) -> bool:
        """Return whether reading with these names makes the call.

        Raises:
            _NoTriesLeftError: it would be one try too many.
        """
        key = options, self._new(names)
        if key not in self._holding:
            if not self._tries:
                raise _NoTriesLeftError
            self._tries -= 1
            self.read(options, names)
        return _facts(call) in self._holding[key]

    def _new(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(names).difference(self._extractor.tools or ())


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
    called = [call.name.removesuffix(METHOD) for call in extraction.tool_calls]
    return called + [rejection.name for rejection in extraction.rejections if rejection.name]


def _facts(call: ToolCall) -> tuple[Span, str, str]:
    """Return what makes two calls of two readings the same; their ids may differ, and the format they were read as."""
    return call.span, call.name, call.arguments_json
