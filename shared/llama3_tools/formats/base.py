"""What a wire format is: how it begins, and a reader for what follows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

from llama3_tools.calls.reader import CallReader, Parts, Scope
from llama3_tools.reading.source import Reading, Source
from llama3_tools.values import Rejection

__all__ = [
    "NO_CITATION",
    "Candidate",
    "Choice",
    "IsCall",
    "IsReasoning",
    "IsText",
    "IsToken",
    "Marker",
    "Openings",
    "Outcome",
    "WireFormat",
    "always",
    "beside_calls",
    "where_read",
]

NO_CITATION = r"(?![0-9]{1,4}\])"
"""Behind a bracket, in the pattern of what a list begins with: `[1]` would be read only to come out as prose."""

_LONG = 512
"""From how many characters on text is searched in steps."""

_PROSE_LIKE = frozenset({"pythonic", "code"})
"""What prose could be mistaken for: read only for declared tools, or where it is asked for by name (rule 11)."""


class IsCall(NamedTuple):
    """The candidate held calls. The source stands behind them and their wrapper."""

    parts: Parts
    surplus: Callable[[Source], Reading[object]] | None = None
    """Steps over what vanishes right behind, for which the calls do not wait."""


class IsText(NamedTuple):
    """The candidate is text, up to an offset at which the search goes on."""

    resume: int
    rejection: Rejection | None = None
    token_end: int | None = None
    """Where the protocol token ends with which it begins, if it begins with one."""


class IsToken(NamedTuple):
    """The candidate is a protocol token, up to an offset."""

    end: int
    then: WireFormat | None = None
    """Reads what stands behind it, where that is the text of another than the assistant."""


class IsReasoning(NamedTuple):
    """The candidate is reasoning to be split off, up to an offset; the source stands behind the tag that closes it."""

    end: int


Outcome: TypeAlias = IsCall | IsText | IsToken | IsReasoning


class Marker(NamedTuple):
    """How something begins, as two patterns: the whole beginning, and a part of it at the end of the text.

    Each is one or more alternatives that begin with a literal character: that makes looking for them fast.
    """

    whole: str
    partial: str
    heads: tuple[str, ...]
    """The literal texts with which the alternatives begin."""
    begins_as_word: bool = False
    """Whether all of them begin with a letter."""

    def begins(self, text: str) -> bool:
        r"""Tell whether a text begins so, whatever follows it.

        >>> marker = Marker(r"\{(?=\s*(?:\"|\Z))", r"\{\Z", ("{",))
        >>> marker.begins('{ "'), marker.begins("{ ")
        (True, False)
        """
        return re.match(self.whole, f"{text}\0") is not None

    @staticmethod
    def of(head: str, name: str = "", tail: str = "") -> Marker:
        r"""Make the patterns of literal text, or of a name between two literals.

        >>> Marker.of("<a>")
        Marker(whole='<a>', partial='<(?:a(?:>)?)?\\Z', heads=('<a>',), begins_as_word=False)
        >>> Marker.of("<", r"\d", "/>").partial
        '<\\d(?:/(?:>)?)?\\Z|<\\Z'

        Args:
            head: the literal text at the start.
            name: the pattern of the name after it, of bounded length.
            tail: the literal text after the name.
        """
        whole = re.escape(head) + name + re.escape(tail)
        partial = rf"{_beginnings(head)}\Z"
        if name:
            partial = rf"{re.escape(head)}{name}(?:{_beginnings(tail)})?\Z|{partial}"
        return Marker(whole, partial, (head,))

    @staticmethod
    def of_words(heads: Iterable[str]) -> Marker:
        r"""Make the patterns of literal texts of which none begins within a word.

        >>> Marker.of_words(["f(", "go("]).whole
        'f(?<!\\wf)(?:\\()|g(?<!\\wg)(?:o\\()'
        """
        heads = tuple(heads)
        whole, partial = [], []
        for char in dict.fromkeys(head[0] for head in heads):  # which is looked at first, once for all of them
            first, rests = rf"{char}(?<!\w{char})", [head[1:] for head in heads if head[0] == char]
            whole.append(f"{first}(?:{'|'.join(map(re.escape, rests))})")
            partial.append(rf"{first}(?:(?:{'|'.join(map(_beginnings, rests))})?\Z)")
        return Marker("|".join(whole), "|".join(partial), heads, begins_as_word=True)

    @staticmethod
    def any_of(markers: Iterable[Marker]) -> Marker:
        r"""Make the patterns of several markers that mean the same.

        >>> Marker.any_of([Marker.of("<"), Marker.of("[")])
        Marker(whole='<|\\[', partial='<\\Z|\\[\\Z', heads=('<', '['), begins_as_word=False)
        """
        whole, partial, heads, _ = zip(*markers, strict=True)
        return Marker("|".join(whole), "|".join(partial), tuple(chain.from_iterable(heads)))


@dataclass(frozen=True, slots=True)
class WireFormat:
    """One way in which a call stands in text, or what must not be read as one."""

    name: str
    """The format's name: the `format` of its calls."""
    marker: Marker
    """How it begins."""
    read: Callable[[Source, Candidate], Reading[Outcome]]
    """Reads on from the beginning of the marker, at which the source stands."""
    may_be_inside: bool = True
    """Whether it may stand inside a wrapper."""
    only_in_tags: bool = False
    """Whether a tag around JSON has to be among the wrappers, where it stands inside any."""
    is_reasoning: bool = False
    """Whether what it settles on the way is reasoning to be split off, rather than text."""
    tool: str | None = None
    """The tool that it calls, where what it holds names none that is declared."""

    def may_be_in(self, scope: Scope) -> bool:
        """Tell whether it may stand inside these wrappers."""
        is_here = scope.is_in_tag or not self.only_in_tags
        return self.may_be_inside and is_here and self.name not in scope.wrappers


class Choice(NamedTuple):
    """What an extractor reads."""

    asked_for: tuple[str, ...] | None = None
    """The names of the formats that were asked for, or `None`: all that cannot be mistaken for prose, and where tools
    are declared the rest too."""
    declared: tuple[str, ...] | None = None
    """The names of the declared tools, or `None` where any name may be called."""
    lenient: bool = False
    """Whether undocumented variants are read, too."""
    repair: bool = False
    """Whether malformed objects of declared tools are repaired."""
    split_reasoning: bool = False
    """Whether reasoning is split off, rather than kept in the content."""
    starts_reasoning: bool = False
    """Whether the output begins inside reasoning."""
    is_inside: bool = False
    """Whether this is about the inside of a wrapper, rather than the bare text."""

    def reads(self, name: str) -> bool:
        """Tell whether a format is read."""
        if self.asked_for is None:
            return self.declared is not None or name not in _PROSE_LIKE
        return name in self.asked_for

    def asks_for(self, name: str) -> bool:
        """Tell whether a format was asked for by name."""
        return name in (self.asked_for or ())


def always(format_: WireFormat) -> Callable[[Choice], WireFormat]:
    """List a format that is read whatever was asked for."""
    return lambda _: format_


def beside_calls(format_: WireFormat) -> Callable[[Choice], WireFormat | None]:
    """List a format that is read unless no calls are."""
    return lambda choice: None if choice.asked_for == ("none",) else format_


def where_read(format_: WireFormat) -> Callable[[Choice], WireFormat | None]:
    """List a format that is read unless others were asked for."""
    return lambda choice: format_ if choice.reads(format_.name) else None


class Openings:
    """The beginnings of a set of wire formats, to be looked for together."""

    __slots__ = (
        "_any",
        "_chars",
        "_formats",
        "_longest_head",
        "_partial",
        "_whole",
        "_word_ends",
        "_words",
    )

    def __init__(self, formats: Iterable[WireFormat]) -> None:
        self._formats = tuple(formats)
        markers = [format_.marker for format_ in self._formats]
        self._whole = re.compile("|".join(f"({marker.whole})" for marker in markers))
        self._partial = re.compile("|".join(marker.partial for marker in markers))
        # Without a group around an alternative, `re` runs to their first characters in C.
        self._any = re.compile("|".join(f"{marker.whole}|{marker.partial}" for marker in markers))
        words = [marker for marker in markers if marker.begins_as_word]
        self._words = tuple(head for marker in words for head in marker.heads)
        self._word_ends = {word[-1] for word in self._words}
        self._chars = {head[0] for marker in markers if not marker.begins_as_word for head in marker.heads}
        self._longest_head = max(len(head) for marker in markers for head in marker.heads)

    def find(self, text: str, pos: int) -> int:
        """Give the index of the next place at which a format begins, or may begin at the end of the text; or -1."""
        if len(text) - pos > _LONG:
            pos = self._skip(text, pos)
        match = self._any.search(text, pos)
        return match.start() if match else -1

    def _skip(self, text: str, pos: int) -> int:
        """Step over text that holds no head of a format: `str.find` is a hundred times as fast as a pattern.

        Each step is longer than the one before, so that no text is searched in vain again and again.
        """
        end = len(text) - self._longest_head  # behind it, one may be cut off
        length = _LONG
        while pos < end:
            step = min(pos + length, end)
            if self._has_head(text, pos, step):
                return pos
            pos = step
            length *= 2
        return pos

    def _has_head(self, text: str, pos: int, end: int) -> bool:
        """Tell whether a head of a format may begin between two indexes."""
        if any(text.find(char, pos, end) >= 0 for char in self._chars):
            return True
        behind = end + self._longest_head - 1
        may_have_word = any(text.find(char, pos, behind) >= 0 for char in self._word_ends)
        return may_have_word and any(text.find(word, pos, behind) >= 0 for word in self._words)

    def match(self, text: str, pos: int) -> tuple[WireFormat, str] | None:
        """Give the format that begins at `text[pos]`, and its marker as it stands there."""
        match = self._whole.match(text, pos)
        return (self._formats[match.lastindex - 1], match[0]) if match and match.lastindex else None

    def may_begin(self, text: str, pos: int) -> bool:
        """Tell whether a format may begin at `text[pos]` once there is more text."""
        return self._partial.match(text, pos) is not None


class Candidate(NamedTuple):
    """A place where a call may start, with all that a reader needs to know there."""

    marker: str
    """The marker as it stands in the text."""
    scope: Scope
    """What is around it."""
    calls: CallReader
    """Decides what is a call."""
    openings: Openings
    """What else may begin inside it."""
    is_after_call: bool
    """Whether nothing but delimiters stands between it and the call before."""


def _beginnings(literal: str) -> str:
    """Give a pattern of every beginning of the literal, of one character at least."""
    pattern = ""
    for char in reversed(literal):
        pattern = f"{re.escape(char)}(?:{pattern})?" if pattern else re.escape(char)
    return pattern
