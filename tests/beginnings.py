"""What an output gives when it is cut off or breaks off, against what the whole of it gives (principles 5 and 6)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llama3_tools import Extraction, Extractor, ReasoningDelta, TextDelta, ToolCall, ToolCallReady

_TAKEN_OUT = re.compile(r"<\||<\Z|</s>|\[TOOL_CALLS\]|[\"']tool_calls?[\"']")
"""What may be taken out of an output without a call: tokens at its edges, and the JSON of an envelope."""


def calls_come_when_they_are_complete(text: str, extractor: Extractor, places: Iterable[int] | None = None) -> None:
    """Hold what is sent at once, and what a beginning of a text calls if that is all, to the calls of the whole.

    A call that was sent stays, whether the output goes on, ends there, or is cut off there by a limit.

    Args:
        text: the output.
        extractor: reads it.
        places: where the output is cut off, in order; `None` is everywhere.
    """
    whole = extractor.extract(text).tool_calls
    stream, sent, at = extractor.stream(), list[ToolCall](), 0
    for place in range(1, len(text) + 1) if places is None else places:
        sent += [event.tool_call for event in stream.feed(text[at:place]) if isinstance(event, ToolCallReady)]
        at, beginning = place, text[:place]
        assert tuple(sent) == whole[: len(sent)], beginning
        ended = extractor.extract(beginning).tool_calls
        assert ended[: len(sent)] == whole[: len(sent)], beginning
        limited = extractor.extract(beginning, complete=False).tool_calls
        assert limited[: len(sent)] == whole[: len(sent)], beginning
        assert len(limited) <= len(ended), beginning


def _broken_off(text: str, extractor: Extractor) -> Extraction:
    """Return what a stream has of a text in short chunks that breaks off after it."""
    stream = extractor.stream()
    for start in range(0, len(text), 3):
        stream.feed(text[start : start + 3])
    stream.abort()
    return stream.extraction


def breaking_off_calls_nothing(text: str, extractor: Extractor, places: Iterable[int]) -> None:
    """Hold a stream that breaks off to the calls that it had handed out; all that it held back comes out as text.

    Args:
        text: the output.
        extractor: reads it.
        places: where the stream breaks off.
    """
    for place in places:
        beginning = text[:place]
        stream = extractor.stream()
        before = stream.feed(beginning)
        after = stream.abort()
        sent = tuple(event.tool_call for event in before if isinstance(event, ToolCallReady))
        assert not [event for event in after if isinstance(event, ToolCallReady)], beginning
        extraction = stream.extraction
        assert extraction.tool_calls == sent, beginning
        written = "".join(event.text for event in (*before, *after) if isinstance(event, TextDelta))
        assert written.strip() == (extraction.content or "").strip(), beginning
        if not sent and not extractor.options.split_reasoning:
            _all_is_content(beginning, extraction)
        _is_a_part(written, beginning, extraction)
        assert extraction == _broken_off(beginning, extractor), beginning
        assert all(0 <= start < end <= place for start, end in (one.span for one in extraction.rejections)), beginning
        thoughts = "".join(event.text for event in (*before, *after) if isinstance(event, ReasoningDelta))
        assert thoughts == (extraction.reasoning or ""), beginning


def _all_is_content(beginning: str, extraction: Extraction) -> None:
    if not _TAKEN_OUT.search(beginning):
        assert extraction.content == beginning


def _is_a_part(written: str, beginning: str, extraction: Extraction) -> None:
    """What is written is in the beginning, in its order, outside of calls."""
    if _TAKEN_OUT.search(beginning):  # a message of an envelope is written in JSON
        return
    rest, at = "", 0
    for call in extraction.tool_calls:
        rest, at = rest + beginning[at : call.span[0]], call.span[1]
    characters = iter(rest + beginning[at:])
    assert all(character in characters for character in "".join(written.split())), beginning
