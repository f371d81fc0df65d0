"""The wire formats: which there are, and the patterns that look for those that are read.

CONTRIBUTING.md says how to add one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias, get_args

from llama3_tools.formats.base import Kind, WireFormat, beginnings, literals, require_no_end
from llama3_tools.formats.fences import FENCE, TILDES
from llama3_tools.formats.function_tag import CLOSING, FUNCTION_END, FUNCTION_TAG
from llama3_tools.formats.json_calls import JSON_LIST, LITERAL, MALFORMED_OBJECT, OBJECT
from llama3_tools.formats.prefixes import FUNCTIONARY
from llama3_tools.formats.protocol_tokens import TOKEN, TURN
from llama3_tools.formats.pythonic import NAMED_LIST, PYTHONIC_CALL, PYTHONIC_LIST, PYTHONIC_NAME, PYTHONIC_NAME_BEGINS
from llama3_tools.formats.quotations import RESPONSE, THOUGHT
from llama3_tools.formats.tags import TAGS

__all__ = [
    "A_CALL",
    "RULES",
    "EnabledFormats",
    "FormatName",
    "Formats",
    "Grammar",
    "Patterns",
    "added",
    "grammar_of",
    "require_formats",
    "switched_off",
]

FormatName: TypeAlias = Literal[
    "json", "tool_call", "tool", "tools", "function", "functioncall", "pythonic", "code", "all", "none"
]
"""A form of writing calls, as it can be asked for (rule 11); or all of them, or none."""

Formats: TypeAlias = Iterable[FormatName] | FormatName | None
"""The forms that are read: their names, or one. `None`: what cannot be mistaken for prose and, if tools are declared,
the rest too, for those. `"none"`: no call is read at all, and nothing but reasoning is taken out of the text."""

# In the order in which they are tried if several begin with the same character.
_FORMATS: tuple[WireFormat, ...] = (
    LITERAL,
    OBJECT,
    *TAGS,
    TURN,
    TOKEN,
    JSON_LIST,
    PYTHONIC_LIST,
    NAMED_LIST,
    FUNCTION_TAG,
    FUNCTION_END,
    FENCE,
    TILDES,
    THOUGHT,
    RESPONSE,
    PYTHONIC_CALL,
)

_QUOTATIONS = (Kind.THOUGHT, Kind.FENCE, Kind.TILDES, Kind.RESPONSE)
_PROSE_LIKE = frozenset({"pythonic", "code"})
"""What prose could be mistaken for: read only for declared tools, or if it is asked for by name (rule 11)."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """What may begin with one character, compiled for text that may go on and for text that has ended.

    The group that matches names the format. Group `more`: it takes more text to know.
    """

    going: Callable[[str, int], re.Match[str] | None]
    ended: Callable[[str, int], re.Match[str] | None]


_ENDS = ("]", ">", "**", "`", "``", CLOSING)
"""What closes wrappers that are no tags: a list, Llama's misspelt tag, bold, a code span, `<function=NAME>`."""

A_CALL = Patterns(
    re.compile(rf"(?P<more>{PYTHONIC_NAME_BEGINS}[ \t]{{0,8}}\Z)|(?P<call>{PYTHONIC_NAME}[ \t]{{0,8}}\()").match,
    re.compile(rf"(?P<call>{PYTHONIC_NAME}[ \t]{{0,8}}\()").match,
)
"""The name and the parenthesis of a pythonic call."""

RULES = frozenset(
    {format_.name for format_ in _FORMATS}
    | {"blockquote", "bold", "broken_data", "code", FUNCTIONARY, "listing", "result", "span", "string"}
)
"""The names of the rules that can be switched off: those of the formats, and of what the machine asks for by itself."""

_off: set[str] = set()
_added: list[WireFormat] = []


class EnabledFormats(NamedTuple):
    """What an extractor reads."""

    asked_for: tuple[str, ...] | None
    """The names that were asked for; `None`: the default."""
    has_tools: bool
    """Whether tools were declared."""
    has_code_interpreter: bool
    repair: bool

    def reads(self, name: str) -> bool:
        """Return whether a form is read."""
        if self.asked_for is None:
            return name not in _PROSE_LIKE or (self.has_tools and (name != "code" or self.has_code_interpreter))
        return name in self.asked_for


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the machine looks for."""

    first: re.Pattern[str]
    """The characters with which anything may begin, where what follows does not exclude it."""
    outside: dict[str, Patterns]
    """What begins in text, by its first character."""
    inside: dict[str, Patterns]
    """What follows in a wrapper, by its first character: a call, another wrapper, or what closes it."""
    formats: dict[str, WireFormat]
    """The formats by the names of their groups."""
    calls: bool
    """Whether any call is read."""
    json: bool
    """Whether bare JSON is called."""
    pythonic: bool
    """Whether pythonic calls are read."""
    any_pythonic: bool
    """Whether they were asked for by name, so that those of Meta's built-in tools are read, declared or not."""
    code: bool
    """Whether code after `<|python_tag|>` is a call."""
    off: frozenset[str]
    """The rules that are switched off, by name."""


@contextmanager
def switched_off(*names: str) -> Iterator[None]:
    """Switch rules off for the extractors that are made meanwhile, to see what they are good for.

    >>> from llama3_tools import Extractor
    >>> with switched_off("blockquote"):
    ...     extractor = Extractor()
    >>> len(extractor.extract('> {"name": "f", "parameters": {}}').tool_calls)
    1

    Args:
        *names: the rules, out of `RULES`.

    Raises:
        ValueError: there is no such rule.
    """
    unknown = sorted(set(names) - RULES)
    if unknown:
        raise ValueError(f"no rule is named {unknown[0]!r}; there are {', '.join(sorted(RULES))}")
    before = set(_off)
    _off.update(names)
    try:
        yield
    finally:
        _off.clear()
        _off.update(before)


@contextmanager
def added(*formats: WireFormat) -> Iterator[None]:
    """Let the extractors that are made meanwhile read other formats, too, to try or to measure them.

    >>> from llama3_tools import Extractor
    >>> from llama3_tools.formats import base
    >>> with added(base.tag("answer", {"<answer>": "</answer>"})):
    ...     extractor = Extractor()
    >>> extractor.extract('<answer>{"name": "f", "parameters": {}}</answer>').tool_calls
    (<ToolCall f({}) answer 8:39>,)

    Args:
        *formats: the formats. They are tried before those that there are.

    Raises:
        ValueError: one has the name of another, or opens with the same text.
    """
    _require_distinct(*formats, *_added, *_FORMATS)
    before = _added[:]
    _added[:0] = formats
    try:
        yield
    finally:
        _added[:] = before


def require_formats(formats: Formats) -> tuple[FormatName, ...] | None:
    """Check the names of formats, and return each of those meant.

    >>> require_formats("json"), "code" in require_formats("all"), require_formats(["none"])
    (('json',), True, ('none',))

    Raises:
        TypeError: not a list of names.
        ValueError: no name at all, or one that no format has.
    """
    if formats is None:
        return None
    given: object = formats
    known = get_args(FormatName)
    if isinstance(given, (bytes, bytearray)) or not isinstance(given, Iterable):
        raise TypeError(f"formats is a name, or a list of names, out of {', '.join(known)}; not {formats!r}")
    names = (formats,) if isinstance(formats, str) else tuple(formats)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        what = f"{unknown[0]!r}" if unknown else "an empty list"
        raise ValueError(f"formats can be {', '.join(known)}, not {what}")
    meant = known if "all" in names else names
    return tuple(name for name in meant if name not in ("all", "none")) or ("none",)


def grammar_of(enabled: EnabledFormats) -> Grammar:
    """Return what to look for."""
    off = frozenset(_off)
    return _build((*_added, *_FORMATS), enabled, off) if _added else _grammar_of(enabled, off)


@lru_cache(maxsize=64)
def _grammar_of(enabled: EnabledFormats, off: frozenset[str]) -> Grammar:
    return _build(_FORMATS, enabled, off)


def _build(every: tuple[WireFormat, ...], enabled: EnabledFormats, off: frozenset[str]) -> Grammar:
    calls_none = enabled.asked_for == ("none",)
    formats = [
        MALFORMED_OBJECT if format_ is OBJECT and enabled.repair else format_
        for format_ in every
        if format_.name not in off
    ]
    if calls_none:
        formats = [format_ for format_ in formats if format_.kind in _QUOTATIONS]
    read = [format_ for format_ in formats if format_.asked_for_as is None or enabled.reads(format_.asked_for_as)]
    # JSON is read in the tags that hold it, whatever was asked for.
    inside = [format_ for format_ in formats if format_.is_inside and (format_ in read or format_.is_read_in_tags)]
    firsts = list(dict.fromkeys(format_.first for format_ in read)) or ["\0"]
    return Grammar(
        re.compile("|".join(_first(read, first) for first in firsts)),
        {first: _patterns(read, first) for first in firsts},
        _inside(inside, _ends(every)),
        {format_.name: format_ for format_ in formats},
        calls=not calls_none,
        json=enabled.reads("json"),
        pythonic=enabled.reads("pythonic") and "pythonic" not in off,
        any_pythonic="pythonic" in (enabled.asked_for or ()),
        code=enabled.reads("code") and "code" not in off,
        off=off,
    )


def _first(formats: list[WireFormat], first: str) -> str:
    """Return the pattern of a character with which some of the formats begin, if what follows does not exclude them."""
    seconds = [format_.second for format_ in formats if format_.first == first]
    return re.escape(first) + (rf"(?={'|'.join(dict.fromkeys(seconds))}|\Z)" if all(seconds) else "")


def _require_distinct(*formats: WireFormat) -> None:
    """Refuse formats that cannot be told apart.

    Raises:
        ValueError: two have the same name, the same text opens two tags, or one opens with what closes another.
    """
    ends = _ends(formats)
    names: dict[str, str] = {}
    for format_ in formats:
        groups = format_.name, *re.findall(r"\(\?P<(\w+)>", format_.opening)
        openings = format_.closings if format_.kind is Kind.TAG else ()
        for opening in openings:
            require_no_end(opening, ends)
        for name in (*groups, *openings):
            if name in names:
                raise ValueError(f"{name!r} belongs to two formats, {names[name]!r} and {format_.name!r}: rename one")
            names[name] = format_.name


def _ends(formats: Iterable[WireFormat]) -> list[str]:
    """Return what may close a wrapper, without the protocol tokens among it, which the machine takes as such."""
    formats = tuple(formats)
    tokens = {text for format_ in formats if format_.kind is Kind.TOKEN for text in format_.texts}
    closings = {closing for format_ in formats if format_.kind is Kind.TAG for closing in format_.closings.values()}
    return sorted({*closings, *_ENDS} - tokens, key=lambda end: (-len(end), end))  # one may begin with another


def _inside(formats: list[WireFormat], ends: list[str]) -> dict[str, Patterns]:
    """Return what may follow in a wrapper, by its first character."""
    firsts = dict.fromkeys([*(format_.first for format_ in formats), *(end[0] for end in ends)])
    return {first: _patterns(formats, first, [end for end in ends if end[0] == first]) for first in firsts}


def _patterns(formats: list[WireFormat], first: str, ends: Sequence[str] = ()) -> Patterns:
    """Return the alternation of the formats that may begin with a character, and of what may end with it."""
    formats = [format_ for format_ in formats if format_.first == first]
    end = [f"(?P<end>{literals(ends)})"] if ends else []
    going, ended = (
        "|".join([*openings, *end] if first == "`" else [*end, *openings])  # a fence has more backticks than a span
        for openings in (
            [f"(?P<{format_.name}>{format_.opening})" for format_ in formats],
            [f"(?P<{format_.name}>{format_.opening_ended or format_.opening})" for format_ in formats],
        )
    )
    texts = list(dict.fromkeys([*chain.from_iterable(format_.texts for format_ in formats), *ends]))
    is_quick = first == "<" and not any(">" in text[:-1] for text in texts)  # text with a `>` begins none of them
    guard = rf"(?![^>]{{1,{max(map(len, texts), default=1)}}}>)" if is_quick else ""
    begins = [
        f"{guard}(?:{beginning})" if (beginning := beginnings(*texts)) else "",
        *(format_.beginnings for format_ in formats),
        "`{1,2}" if ends and first == "`" else "",
    ]
    more = "|".join(f"(?:{one})" for one in begins if one) or "(?!)"
    going = rf"(?P<more>(?:{more})\Z)|{going or '(?!)'}"
    return Patterns(re.compile(going).match, re.compile(ended or "(?!)").match)
