"""A model output in segments, each with what happened to it: to show a person why something is a call or not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import chain, pairwise

from llama3_tools.extractor import Extractor
from llama3_tools.output.spans import index_at
from llama3_tools.values import Extraction, fields_shown


class SegmentKind(str, Enum):
    """What happened to a segment of the output."""

    TEXT = "text"
    """It is content, or reasoning that was split off."""
    CALL = "call"
    """It is a tool call."""
    REJECTED = "rejected"
    """It looked like a call: there is a rejection for it. It is content or reasoning, a token at an edge aside."""
    QUOTED = "quotation"
    """Content or reasoning in which nothing counts as a call: a listing, thoughts, another's turn (principle 4)."""
    REMOVED = "removed"
    """It is neither: markup that went with a call, a protocol token at an edge, or white space (principle 2)."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of the output. The segments of an output, joined, are the output."""

    kind: SegmentKind
    """What happened to it."""
    text: str
    """The segment as the model wrote it."""
    index: int | None = None
    """Which of the extraction's calls or rejections it is, or a part of."""

    __repr__ = fields_shown


@dataclass(frozen=True, slots=True)
class SegmentedOutput:
    """An output in segments, and what was extracted from it."""

    extraction: Extraction
    """The calls, the content and the rejections."""
    segments: tuple[Segment, ...]
    """The whole output, in order."""


def read_segments(extractor: Extractor, text: str, *, complete: bool = True) -> SegmentedOutput:
    """Return the segments of one whole model output. Reasoning keeps its place.

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
    rejected = [one.span for one in extraction.rejections]

    def became(at: int) -> tuple[SegmentKind, int | None]:
        if (call := index_at(calls, at)) is not None:
            return SegmentKind.CALL, call
        if (rejection := index_at(rejected, at)) is not None:
            return SegmentKind.REJECTED, rejection
        if index_at(trace.kept, at) is None:
            return SegmentKind.REMOVED, None
        return SegmentKind.TEXT if index_at(trace.quoted, at) is None else SegmentKind.QUOTED, None

    edges = sorted({0, len(text), *chain.from_iterable((*calls, *trace.kept, *trace.quoted, *rejected))})
    segments: list[Segment] = []
    begun = 0
    for at, end in pairwise(edges):
        this = became(at)
        if end == len(text) or became(end) != this:
            segments.append(Segment(this[0], text[begun:end], this[1]))
            begun = end
    return SegmentedOutput(extraction, tuple(segments))
