"""A model output cut into pieces, each with what became of it: to show a person why something was or was not called."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from llama3_tools.calls.reader import CallReader
from llama3_tools.extractor import Extractor
from llama3_tools.formats import Reads
from llama3_tools.formats.base import Candidate, WireFormat
from llama3_tools.formats.protocol_tokens import TOKEN_PATTERN, TURN
from llama3_tools.formats.wrappers import PYTHON_START
from llama3_tools.limits import Limits
from llama3_tools.reading.source import Source
from llama3_tools.stream.machine import ExtractionStream
from llama3_tools.values import Extraction, Span, fields_shown

__all__ = ["Piece", "PieceExtractor", "PieceKind", "Pieces"]

_TOKEN = re.compile(rf"{TOKEN_PATTERN}|{PYTHON_START.marker.whole}")  # which is a token where it is no wrapper
_SPACE_AND_TOKENS = re.compile(rf"(?:\s|{_TOKEN.pattern})*")
_DELIMITER = re.compile(rf"(?:;{_SPACE_AND_TOKENS.pattern})?")
_DELIMITERS = re.compile(rf"(?:[\s;,]|{_TOKEN.pattern})*")
_LEADING_TOKENS = re.compile(rf"(?:\s*(?:{_TOKEN.pattern}))*")


_Region: TypeAlias = tuple[int, int, "PieceKind"]


class PieceKind(str, Enum):
    """What became of a piece of the output."""

    TEXT = "text"
    """It is content, or reasoning that was split off."""
    CALL = "call"
    """It is a tool call."""
    REJECTED = "rejected"
    """It is content, and it looked like a call: there is a rejection for it."""
    QUOTED = "quotation"
    """It was not searched, though elsewhere it would hold a call: a listing, or thoughts (rule 9)."""
    REMOVED = "removed"
    """It is neither: a wrapper, a delimiter, a protocol token, or the space around a call (rules 3, 4, 9 and 10)."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the output. The pieces of an output, joined, are the output."""

    kind: PieceKind
    """What became of it."""
    text: str
    """The piece as the model wrote it."""
    index: int | None = None
    """Which of the extraction's calls or rejections it is, or a part of."""

    def __repr__(self) -> str:
        """Show it as Python does; no character hides."""
        return fields_shown(self)


@dataclass(frozen=True, slots=True)
class Pieces:
    """An output in pieces, and what was extracted from it."""

    extraction: Extraction
    """The calls, the content and the rejections."""
    pieces: tuple[Piece, ...]
    """The whole output, in order."""


class PieceExtractor(Extractor):
    """An extractor that can tell what became of each character.

    >>> whole = PieceExtractor().pieces('Sure. <tool_call>{"name": "f", "arguments": {}}</tool_call>')
    >>> for piece in whole.pieces:
    ...     print(f"{piece.kind.value:8} {piece.text}")
    text     Sure.
    removed   <tool_call>
    call     {"name": "f", "arguments": {}}
    removed  </tool_call>
    """

    __slots__ = ()

    def pieces(self, text: str) -> Pieces:
        """Take one whole model output apart, and cut it into pieces. Reasoning stands in its place."""
        stream = _Recording(self._calls, self._reads, self._options.limits)
        stream.feed(text)
        stream.flush()
        extraction = stream.extraction
        opened = stream.unsearched[: self._reads.first is not None]
        others = [span for span in stream.unsearched[len(opened) :] if not _TOKEN.fullmatch(text, *span)]
        unsearched = [*opened, *others]
        elsewhere = copy(self)
        elsewhere.__setstate__(self._options._replace(starts_reasoning=False))
        insides = [(span, text[slice(*span)].lstrip().removeprefix("<think>")) for span in opened]
        insides += [
            (span, text[slice(*span)].lstrip("<`~")) for span in others if text.startswith(("<", "`", "~"), span[0])
        ]
        insides += [(span, text[slice(*span)]) for span in _stripped(text, stream.turns)]
        quoted = [span for span, inside in insides if elsewhere.extract(inside).tools_called]
        solid = [*unsearched, *_with_tokens(text, stream.turns), *(one.span for one in extraction.rejections)]
        return Pieces(extraction, tuple(_cut(text, extraction, quoted, _regions(text, stream.dropped, solid))))


class _Recording(ExtractionStream):
    """A stream that remembers where calls and their wrappers stood, and what may be quotation."""

    __slots__ = ("dropped", "turns", "unsearched")

    def __init__(self, calls: CallReader, reads: Reads, limits: Limits) -> None:
        super().__init__(calls, reads, limits)
        self.dropped: list[Span] = []
        self.unsearched: list[Span] = []
        self.turns: list[Span] = []
        self._source = _RecordingSource(self.dropped)

    def _follow(self, format_: WireFormat, candidate: Candidate) -> Generator[None, None, WireFormat | None]:
        start, before = self._source.offset, len(self.dropped)
        found = len(self._rejections) + before
        then = yield from super()._follow(format_, candidate)
        if format_.is_reasoning:
            del self.dropped[before:]
        if format_ is TURN:
            self.turns.append((start, self._source.mark))
        elif found == len(self._rejections) + len(self.dropped):
            self.unsearched.append((start, self._source.mark))
        return then


class _RecordingSource(Source):
    __slots__ = ("_dropped",)

    def __init__(self, dropped: list[Span]) -> None:
        super().__init__()
        self._dropped = dropped

    def drop(self, end: int) -> None:
        self._dropped.append((self.mark, end))
        super().drop(end)


def _stripped(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Give the spans without the white space at their ends."""
    for start, end in spans:
        inner = text[start:end].strip()
        at = text.find(inner, start)
        yield at, at + len(inner)


def _with_tokens(text: str, turns: Iterable[Span]) -> Iterator[Span]:
    """Give the turns that hold protocol tokens, which are text there, from the first of them on."""
    for start, end in _stripped(text, turns):
        token = text.find("<|", start, end)
        if token >= 0:
            yield token, end


class _Mark(NamedTuple):
    start: int
    end: int
    kind: PieceKind
    which: int | None = None


def _cut(text: str, extraction: Extraction, quoted: list[Span], regions: Iterable[_Region]) -> Iterator[Piece]:
    """Give the pieces in order: what was removed, with the calls in it; text, with rejections and quotations in it."""
    calls = [_Mark(*call.span, PieceKind.CALL, index) for index, call in enumerate(extraction.tool_calls)]
    others = [_Mark(*span, PieceKind.QUOTED) for span in quoted]
    others += [_Mark(*one.span, PieceKind.REJECTED, index) for index, one in enumerate(extraction.rejections)]
    to_come = {PieceKind.REMOVED: _to_come(calls, len(text)), PieceKind.TEXT: _to_come(others, len(text))}
    for start, end, kind in regions:
        at, marks = start, to_come[kind]
        while at < end:
            while marks[-1].end <= at:
                marks.pop()
            mark = marks[-1]
            here = mark if mark.start <= at else _Mark(at, mark.start, kind)
            stop = min(here.end, end)
            yield Piece(here.kind, text[at:stop], here.which)
            at = stop


def _to_come(marks: list[_Mark], end: int) -> list[_Mark]:
    """Give the marks, the first one last, none of which reaches into the next: a rejection may, into a quotation."""
    nearest = _Mark(end, end + 1, PieceKind.TEXT)
    stack = [nearest]
    for mark in sorted(marks, key=lambda mark: mark.start, reverse=True):
        nearest = mark._replace(end=min(mark.end, nearest.start))
        stack.append(nearest)
    return stack


def _regions(text: str, dropped: list[Span], solid: list[Span]) -> Iterator[_Region]:
    """Give what was kept and what was not, in order.

    Args:
        text: the output.
        dropped: where calls and their wrappers stood.
        solid: where rejections and quotations stand, and turns with tokens. Nothing is removed inside them.
    """
    at = 0
    starts, ends = sorted(start for start, _ in solid), sorted(end for _, end in solid)
    for start, end in [*dropped, (len(text), len(text))]:
        kept_start = _without_head(text, at, start, dropped, starts)
        before = bisect_right(ends, start)
        floor = max(kept_start, ends[before - 1]) if before else kept_start
        kept_end = _without_tail(text, floor, start, keep_space=not dropped)
        yield at, kept_start, PieceKind.REMOVED
        yield kept_start, kept_end, PieceKind.TEXT
        yield kept_end, end, PieceKind.REMOVED
        at = end


def _without_head(text: str, start: int, end: int, dropped: list[Span], solid_starts: list[int]) -> int:
    """Give where the text between two calls begins to be content (rules 3, 4, 5 and 10)."""
    follows, precedes = start > 0, end < len(text)
    first_solid = bisect_left(solid_starts, start)
    stop = min([end, *solid_starts[first_solid : first_solid + 1]])
    if follows and precedes and stop == end == _behind(_DELIMITERS, text, start, end):
        return end
    start = _behind(_SPACE_AND_TOKENS if dropped else _LEADING_TOKENS, text, start, stop)
    return _behind(_DELIMITER, text, start, stop) if follows else start


def _behind(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    match = pattern.match(text, start, end)
    return match.end() if match else start


def _without_tail(text: str, start: int, end: int, *, keep_space: bool) -> int:
    """Give where the text ends before the protocol tokens and the space at its end."""
    while True:
        bare = end
        while bare > start and text[bare - 1].isspace():
            bare -= 1
        token = min((at for at in _last_two(text, start, bare) if _TOKEN.fullmatch(text, at, bare)), default=None)
        if token is None:
            return end if keep_space else bare
        end = token


def _last_two(text: str, start: int, end: int) -> Iterator[int]:
    """Give where the last two `<|` stand: a header has two of them."""
    for _ in range(2):
        end = text.rfind("<|", start, end)
        if end < 0:
            return
        yield end
