"""The wire formats. A new one is a file in this folder and a line in `_FORMATS`.

If it can be asked for, its name stands in `FormatName` and in the schema of suites.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias, get_args

from llama3_tools.formats.base import Kind, WireFormat, beginnings
from llama3_tools.formats.fences import FENCE, TILDES
from llama3_tools.formats.function_tag import FUNCTION_END, FUNCTION_TAG
from llama3_tools.formats.json_calls import JSON_LIST, LITERAL, MALFORMED_OBJECT, OBJECT
from llama3_tools.formats.protocol_tokens import TOKEN, TURN
from llama3_tools.formats.pythonic import NAME, NAMED_LIST, PYTHONIC_CALL, PYTHONIC_LIST
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


_CLOSING_TAG = r"(?P<end></[\w-]{1,16}>)"
_CLOSING_TAG_BEGINS = r"</?[\w-]{0,16}"
_OTHER_ENDS = {
    "]": Patterns(*[re.compile(r"(?P<end>\])").match] * 2),
    ">": Patterns(*[re.compile(r"(?P<end>>)").match] * 2),
    "*": Patterns(re.compile(r"(?P<more>\*\Z)|(?P<end>\*\*)").match, re.compile(r"(?P<end>\*\*)").match),
}
"""What may close a wrapper beside closing tags and backticks."""

A_CALL = Patterns(
    re.compile(rf"(?P<more>{NAME}[ \t]{{0,8}}\Z)|(?P<call>{NAME}[ \t]{{0,8}}\()").match,
    re.compile(rf"(?P<call>{NAME}[ \t]{{0,8}}\()").match,
)
"""The name and the parenthesis of a pythonic call."""

RULES = frozenset(
    {format_.name for format_ in _FORMATS}
    | {"blockquote", "bold", "broken_data", "code", "functionary", "listing", "result", "span", "string"}
)
"""The names of the rules that can be switched off: those of the formats, and of what the machine asks for by itself."""

_off: set[str] = set()


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
        raise ValueError(f"formats are out of {', '.join(known)}; not {what}")
    meant = known if "all" in names else names
    return tuple(name for name in meant if name not in ("all", "none")) or ("none",)


def grammar_of(enabled: EnabledFormats) -> Grammar:
    """Return what to look for."""
    return _grammar_of(enabled, frozenset(_off))


@lru_cache(maxsize=64)
def _grammar_of(enabled: EnabledFormats, off: frozenset[str]) -> Grammar:
    calls_none = enabled.asked_for == ("none",)
    formats = [
        MALFORMED_OBJECT if format_ is OBJECT and enabled.repair else format_
        for format_ in _FORMATS
        if format_.name not in off
    ]
    if calls_none:
        formats = [format_ for format_ in formats if format_.kind in _QUOTATIONS]
    read = [format_ for format_ in formats if format_.asked_for_as is None or enabled.reads(format_.asked_for_as)]
    bare = [format_ for format_ in read if format_.is_bare]
    # JSON is read in the tags that hold it, whatever was asked for.
    inside = [format_ for format_ in formats if format_.is_inside and (format_ in read or format_.is_read_in_tags)]
    firsts = list(dict.fromkeys(format_.first for format_ in bare)) or ["\0"]
    return Grammar(
        re.compile("|".join(_first(bare, first) for first in firsts)),
        {first: _patterns(bare, first) for first in firsts},
        _OTHER_ENDS
        | {
            "{": _patterns(inside, "{"),
            "<": _patterns(inside, "<", _CLOSING_TAG, _CLOSING_TAG_BEGINS),
            "[": _patterns(inside, "["),
            "`": _patterns(inside, "`", r"(?P<end>`{1,2})", r"`{1,2}"),
        },
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


def _patterns(formats: list[WireFormat], first: str, other: str = "", other_begins: str = "") -> Patterns:
    """Return the alternation of the formats that may begin with a character, and of something else."""
    formats = [format_ for format_ in formats if format_.first == first]
    going, ended = (
        "|".join(
            [*(openings if first == "`" else []), *([other] if other else []), *(openings if first != "`" else [])]
        )
        for openings in (
            [f"(?P<{format_.name}>{format_.opening})" for format_ in formats],
            [f"(?P<{format_.name}>{format_.opening_ended or format_.opening})" for format_ in formats],
        )
    )
    texts = dict.fromkeys(chain.from_iterable(format_.texts for format_ in formats))
    text_begins = rf"(?![^>]{{1,{max(map(len, texts), default=1)}}}>)(?:{beginnings(*texts)})" if texts else ""
    begins = "|".join(
        f"(?:{one})" for one in (text_begins, *(format_.beginnings for format_ in formats), other_begins) if one
    )
    going = f"|{going}" if going else ""
    return Patterns(re.compile(rf"(?P<more>(?:{begins or '(?!)'})\Z){going}").match, re.compile(ended or "(?!)").match)
