"""A model output in segments, each with what became of it: to show a person why something was or was not called."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from enum import Enum
from itertools import chain, pairwise

from llama3_tools.extractor import Extractor
from llama3_tools.output.spans import index_at, joined, kept_apart
from llama3_tools.stream.delimiters import DELIMITER, DELIMITERS
from llama3_tools.values import Extraction, Span, fields_shown

__all__ = ["Segment", "SegmentKind", "SegmentedOutput", "read_segments"]

_SPACE = re.compile(r"\s*")


class SegmentKind(str, Enum):
    """What became of a segment of the output."""

    TEXT = "text"
    """It is content, or reasoning that was split off."""
    CALL = "call"
    """It is a tool call."""
    REJECTED = "rejected"
    """It is content or reasoning, and it looked like a call: there is a rejection for it."""
    QUOTED = "quotation"
    """It is content or reasoning in which nothing is called: a listing, thoughts, another's turn (rule 9)."""
    REMOVED = "removed"
    """It is neither: a wrapper, a delimiter, a protocol token, or the space around a call (rules 3, 4, 9 and 10)."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of the output. The segments of an output, joined, are the output."""

    kind: SegmentKind
    """What became of it."""
    text: str
    """The segment as the model wrote it."""
    index: int | None = None
    """Which of the extraction's calls or rejections it is, or a part of."""

    def __repr__(self) -> str:
        """Show it as Python does; no character hides."""
        return fields_shown(self)


@dataclass(frozen=True, slots=True)
class SegmentedOutput:
    """An output in segments, and what was extracted from it."""

    extraction: Extraction
    """The calls, the content and the rejections."""
    segments: tuple[Segment, ...]
    """The whole output, in order."""


def read_segments(extractor: Extractor, text: str, *, complete: bool = True) -> SegmentedOutput:
    """Take one whole model output apart, and cut it into segments. Reasoning stands in its place.

    >>> output = read_segments(Extractor(), 'Sure. <tool_call>{"name": "f", "arguments": {}}</tool_call>')
    >>> for segment in output.segments:
    ...     print(f"{segment.kind.value:8} {segment.text}")
    text     Sure.
    removed   <tool_call>
    call     {"name": "f", "arguments": {}}
    removed  </tool_call>

    Args:
        extractor: reads the output.
        text: the output.
        complete: whether the model ended its turn, rather than a limit.
    """
    stream = extractor.stream()
    trace = stream.keep_trace()
    extraction = stream.read_whole(text, complete=complete)
    calls = [call.span for call in extraction.tool_calls]
    traced = joined((start, end) for start, end, _ in trace)
    kept = list(_kept(text, traced, calls, has_reasoning=extraction.reasoning is not None))
    quoted = joined((start, end) for start, end, is_quotation in trace if is_quotation)
    rejected = kept_apart([one.span for one in extraction.rejections])

    def became(at: int) -> tuple[SegmentKind, int | None]:
        if (call := index_at(calls, at)) is not None:
            return SegmentKind.CALL, call
        if index_at(kept, at) is None:
            return SegmentKind.REMOVED, None
        if (rejection := index_at(rejected, at)) is not None:
            return SegmentKind.REJECTED, rejection
        return SegmentKind.TEXT if index_at(quoted, at) is None else SegmentKind.QUOTED, None

    edges = sorted({0, len(text), *chain.from_iterable((*calls, *kept, *quoted, *rejected))})
    segments: list[Segment] = []
    begun = 0
    for at, end in pairwise(edges):
        this = became(at)
        if end == len(text) or became(end) != this:
            segments.append(Segment(this[0], text[begun:end], this[1]))
            begun = end
    return SegmentedOutput(extraction, tuple(segments))


def _kept(text: str, traced: list[Span], calls: list[Span], *, has_reasoning: bool) -> list[Span]:
    """Return what stays of the text: content, reasoning, and the protocol tokens in prose.

    Args:
        text: the output.
        traced: what may stay. Only protocol tokens and the tags of reasoning stand between, calls and envelopes aside.
        calls: the calls.
        has_reasoning: whether reasoning was split off.
    """
    starts = [start for start, _ in calls]
    stretches: list[list[Span]] = [[]]
    last = 0
    for start, end in [*traced, (len(text), len(text))]:
        has_call = bisect_left(starts, last) < bisect_left(starts, start)
        if has_call or "{" in text[last:start]:  # an envelope may hold no call
            stretches.append([])
        stretches[-1].append((start, end))
        last = end
    if len(stretches) == 1 and not has_reasoning:
        return _without_edges(text, traced)
    cut = (
        _between_calls(text, spans, is_after_call=number > 0, is_before_call=number < len(stretches) - 1)
        for number, spans in enumerate(stretches)
    )
    return [(start, end) for start, end in cut if start < end]


def _without_edges(text: str, spans: list[Span]) -> list[Span]:
    """Return what stays of an output without calls: all but the protocol tokens at its edges (rules 5 and 10)."""
    written = [span for span in spans if not text[slice(*span)].isspace()]
    if not written:
        return spans
    start, end = written[0][0], written[-1][1]
    return [span for span in spans if span[1] <= start] + [(start, end)] + [span for span in spans if span[0] >= end]


def _between_calls(text: str, spans: list[Span], *, is_after_call: bool, is_before_call: bool) -> Span:
    """Return from where to where text between calls stays (rules 3 and 4)."""
    pattern = DELIMITER if is_after_call else _SPACE
    if is_after_call and is_before_call and _is_delimiters(text, spans):
        pattern = DELIMITERS
    for start, end in spans:
        match = pattern.match(text, start, end)
        if match is not None and match.end() < end:
            last = next(span for span in reversed(spans) if not text[slice(*span)].isspace() and span[0] < span[1])
            return match.end(), last[0] + len(text[slice(*last)].rstrip())
    return 0, 0


def _is_delimiters(text: str, spans: list[Span]) -> bool:
    return all(DELIMITERS.fullmatch(text, *span) for span in spans)
