"""Runs an output through the extractor whole and in many chunkings, and holds every one to the same result."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from beginnings import breaking_off_calls_nothing, calls_come_when_they_are_complete
from llama3_tools import (
    CallProgress,
    Extraction,
    Extractor,
    ReasoningDelta,
    RejectionReason,
    TextDelta,
    ToolCall,
    ToolCallReady,
)

if TYPE_CHECKING:
    from llama3_tools import Event

Flow: TypeAlias = list["str | ToolCall | ReasoningDelta"]
"""The events of a stream in order: text as strings and reasoning, neighbours joined, and calls."""

_RANDOM_CHUNKINGS = 8
_BEGINNINGS = 24
_CUTS_AT_ONCE = 4
_APART = 16
_SAMPLED_CUTS = 8
_SAMPLED_CHUNKINGS = 3
_LENGTH_CUT_EVERYWHERE = 1500
_LENGTH_CUT_OFF_EVERYWHERE = 300
_IS_MUTATED = "MUTANT_UNDER_TEST" in os.environ  # by mutmut, which has no time for each place


def cut(text: str, places: Iterable[int]) -> list[str]:
    """Cut text before each of the places."""
    bounds = [0, *places, len(text)]
    return [text[start:end] for start, end in itertools.pairwise(bounds)]


def pieces(text: str, size: int) -> list[str]:
    """Cut text into pieces of a size, of which the last may be shorter."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def chunkings(text: str, *, is_sampled: bool = False) -> Iterator[list[str]]:
    """Yield the text whole, cut at each place (so within each special token), in single characters, at random.

    Up to four places that are far apart are cut at once.

    With `is_sampled`, some places are tried in place of all.
    """
    yield [text]
    inner = range(1, len(text))
    if _IS_MUTATED:
        yield from (cut(text, inner[len(inner) // 2 :][:1]), list(text))
        return
    seeded = random.Random(len(text))  # noqa: S311 - the same cuts for the same text
    cuts = min(len(inner), _LENGTH_CUT_EVERYWHERE * 80 // (len(text) + 1), _SAMPLED_CUTS if is_sampled else len(inner))
    places = inner if cuts == len(inner) else sorted(seeded.sample(inner, cuts))
    apart = max(len(places) // _CUTS_AT_ONCE, min(len(places), _CUTS_AT_ONCE if is_sampled else _APART))
    yield from (cut(text, places[first::apart]) for first in range(apart))
    yield list(text)
    for _ in range((_SAMPLED_CHUNKINGS if is_sampled else _RANDOM_CHUNKINGS) if inner else 0):
        yield cut(text, sorted(seeded.sample(inner, seeded.randint(1, min(len(inner), 20)))))


def flow_of(events: Iterable[Event]) -> Flow:
    """Join the neighbouring deltas of a stream's events, and leave progress out."""
    flow: Flow = []
    for event in events:
        last = flow[-1] if flow else None
        if isinstance(event, ToolCallReady):
            flow.append(event.tool_call)
        elif isinstance(event, ReasoningDelta):
            if isinstance(last, ReasoningDelta):
                flow[-1] = ReasoningDelta(last.text + event.text)
            else:
                flow.append(event)
        elif isinstance(event, TextDelta):
            if isinstance(last, str):
                flow[-1] = last + event.text
            else:
                flow.append(event.text)
    return flow


def read(chunks: Iterable[str], extractor: Extractor, *, complete: bool = True) -> tuple[Flow, Extraction]:
    """Stream chunks through an extractor, to the end of the output."""
    stream = extractor.stream()
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    events += stream.flush(complete=complete)
    deltas = [event for event in events if not isinstance(event, (ToolCallReady, CallProgress))]
    assert all(event.text for event in deltas), "an empty delta"
    return flow_of(events), stream.extraction


def extract_in_every_chunking(
    text: str,
    *,
    complete: bool = True,
    is_sampled: bool = False,
    **options: Any,
) -> Extraction:
    """Extract one-shot; fail if a chunking gives another extraction, other events or text that is not the content.

    Extractions are compared with all that is in them: calls (ids aside), content, reasoning, and each rejection with
    its span, reason, detail, name and whether it is an attempt. Of a text that is not long, many beginnings have to
    give the calls that the whole gives, as far as they go, and a stream that breaks off no other ones.

    Args:
        text: the output.
        complete: whether the model ended its turn, rather than a limit (principle 6).
        is_sampled: try some of the chunkings only, for a test with many texts.
        **options: of the extractor.
    """
    extractor = Extractor(**options)
    extraction = extractor.extract(text, complete=complete)
    assert {type(one.reason) for one in extraction.rejections} <= {RejectionReason}
    assert all(one.detail for one in extraction.rejections)
    expected, _ = read([text], extractor, complete=complete)
    assert [part for part in expected if isinstance(part, ToolCall)] == list(extraction.tool_calls)
    streamed = "".join(part for part in expected if isinstance(part, str))
    content = extraction.content or ""
    thoughts = "".join(part.text for part in expected if isinstance(part, ReasoningDelta))
    assert thoughts == (extraction.reasoning or "")
    is_cut = extraction.tool_calls or options.get("split_reasoning")
    assert streamed == content or (is_cut and streamed.lstrip() == content)
    for chunks in chunkings(text, is_sampled=is_sampled):
        flow, streamed_extraction = read(chunks, extractor, complete=complete)
        assert flow == expected, chunks
        assert streamed_extraction == extraction, chunks
    if len(text) <= _LENGTH_CUT_OFF_EVERYWHERE and not _IS_MUTATED:
        step = max(2, len(text) // (_SAMPLED_CUTS if is_sampled else _BEGINNINGS))
        calls_come_when_they_are_complete(text, extractor, range(1 + len(text) % step, len(text) + 1, step))
        breaks = max(1, len(text) // (_SAMPLED_CUTS // 2 if is_sampled else _SAMPLED_CUTS))
        breaking_off_calls_nothing(text, extractor, range(0, len(text) + 1, breaks))
    return extraction
