"""What holds for every output, however it is read. Each function says one thing, and fails if it does not hold.

The property tests try them on outputs put together from fragments, the fuzzers in `tests/fuzz/` on any text. Two more
are in files of their own: `accounts.py` and `beginnings.py`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from accounts import all_is_accounted_for
from chunkings import read
from llama3_tools import CallProgress, Extractor, ReasoningDelta, TextDelta, ToolCall, ToolCallReady
from llama3_tools.output.segments import SegmentKind, read_segments

_ENVELOPE = re.compile(r'"tool_calls?"')
_PLAIN = '{"name": "f", "parameters": {"q": "x"}}'
_QUOTES = re.compile(
    r"`|~~~|<!--|think>|(?i:<(?:code|pre|tool_response))"
    r"|<\|(?:start_header|header_start|im_start|python_tag)|^[ \t]*>|\r[ \t]*>|(?:Result|Error) of |Observation:",
    re.MULTILINE,
)
"""What may make quotation of all that follows, or of a line."""
_TAKEN_OUT = re.compile(rf"<\|(?:start_header_id|header_start|im_start)\|>|think>|{_ENVELOPE.pattern}")


def every_chunking_is_one_shot(chunks: Sequence[str], extractor: Extractor) -> None:
    """Streaming gives what one shot gives, whatever the chunks, and events that add up to it."""
    text = "".join(chunks)
    _, cut_off = read(chunks, extractor, complete=False)
    assert cut_off == extractor.extract(text, complete=False)
    extraction = extractor.extract(text)
    whole, _ = read([text], extractor)
    flow, streamed = read(chunks, extractor)
    assert flow == whole
    assert streamed == extraction
    assert [part for part in flow if isinstance(part, ToolCall)] == list(extraction.tool_calls)
    content = "".join(part for part in flow if isinstance(part, str))
    is_cut = extraction.tool_calls or "</think>" in text or "<think>" in text or _ENVELOPE.search(text)
    assert content == (extraction.content or "") or (is_cut and content.lstrip() == (extraction.content or ""))
    assert "".join(part.text for part in flow if isinstance(part, ReasoningDelta)) == (extraction.reasoning or "")


def nothing_is_lost(text: str, extractor: Extractor) -> None:
    """Content, reasoning and calls are the text, but for what may vanish where it does; the segments show the same."""
    all_is_accounted_for(text, extractor)
    whole = read_segments(extractor, text)
    segments, extraction = whole.segments, whole.extraction
    assert "".join(segment.text for segment in segments) == text
    called = [segment.text for segment in segments if segment.kind is SegmentKind.CALL]
    assert called == [text[slice(*call.span)] for call in extraction.tool_calls]
    if not (_ENVELOPE.search(text) or extractor.options.split_reasoning):  # text that is no content, or moved
        kept = [one.text for one in segments if one.kind not in {SegmentKind.CALL, SegmentKind.REMOVED}]
        shown, content = ("".join(one.split()) for one in ("".join(kept), extraction.content or ""))
        token = "<|python_tag|>"  # it is rejected if no call follows, and at an edge no content
        assert shown == content or shown.replace(token, "") == content.replace(token, "")


def a_stream_holds_back_no_more_than_a_call(chunks: Sequence[str], extractor: Extractor) -> None:
    """A stream holds back no more than a call may have, white space at the end of text aside (principle 8).

    What it holds back is what `abort` hands out, as that makes no calls of it.
    """
    stream = extractor.stream()
    for chunk in chunks:
        stream.feed(chunk)
    held = "".join(event.text for event in stream.abort() if isinstance(event, (TextDelta, ReasoningDelta)))
    assert len(held.strip()) <= extractor.options.limits.max_call_length


def calls_stand_where_they_say(text: str, extractor: Extractor) -> None:
    """A call is in the text exactly where its span says, and what is there is that call."""
    end = 0
    for call in extractor.extract(text).tool_calls:
        start, stop = call.span
        assert end <= start < stop <= len(text)
        end = stop
        written = text[start:stop]
        source = call.repaired_from or written
        if source in written:  # of a <function=NAME> tag, the arguments
            source = written
        assert written in source  # of a call in a list, the list
        assert json.loads(call.arguments_json) == call.arguments or call.changes
        alone = [[_meaning(one) for one in extractor.extract(form).tool_calls] for form in _standing(source)]
        if call.format == "code":  # what follows may tell that it is no attempt at a call
            after = extractor.extract(f"<|python_tag|>\n{text[start:]}").tool_calls
            alone.append([_meaning(one) for one in after[:1]])
        assert any(_meaning(call) in found and (source != written or len(found) == 1) for found in alone), call


def rejections_stand_in_order(text: str, extractor: Extractor) -> None:
    """Rejections are in the text, in its order, apart from each other and from bare calls."""
    extraction = extractor.extract(text)
    end = 0
    for rejection in extraction.rejections:
        start, stop = rejection.span
        assert end <= start < stop <= len(text)
        end = stop
        for call in extraction.tool_calls:
            assert call.span[1] <= start or stop <= call.span[0] or call.format not in {"json", "envelope"}


def content_holds_no_other_call(text: str, extractor: Extractor) -> None:
    """Where nothing was taken out but protocol tokens, the content holds no call that was not rejected before.

    Where a call, a thought, an envelope or the header of a turn was, the rest is another text, which may hold a call.
    """
    extraction = extractor.extract(text)
    content = extraction.content or ""
    start = max(text.find(content), 0)
    taken_out = text[:start] + text[start + len(content) :] if content in text else text
    if extraction.tools_called or _TAKEN_OUT.search(taken_out):
        return
    rejected = [text[slice(*rejection.span)] for rejection in extraction.rejections]
    for call in extractor.extract(content).tool_calls:
        written = content[slice(*call.span)]
        assert any(one in written or written in one for one in rejected), (call, rejected)


def plain_calls_are_accounted_for(text: str, extractor: Extractor) -> None:
    """Where nothing quotes, a plain call in JSON is a call, or part of one, or a rejection says why it is none."""
    extraction = extractor.extract(text)
    is_read = extractor.extract(_PLAIN).tools_called
    if not is_read or _QUOTES.search(text) or any(one.reason == "too_many" for one in extraction.rejections):
        return
    spans = [call.span for call in extraction.tool_calls] + [one.span for one in extraction.rejections]
    for start, stop in _plain_calls(text):
        assert any(first < stop and start < last for first, last in spans), text[start:stop]


def progress_is_of_calls(chunks: Sequence[str], extractor: Extractor) -> list[ToolCall]:
    """What is told of is being written until it is ready or withdrawn, and is ready with a call of its name alone.

    Returns:
        The calls that nothing was told of.
    """
    written, ended = Counter[str](), Counter[str]()
    last: dict[str, str] = {}
    untold: list[ToolCall] = []
    stream = extractor.stream()
    for chunk in [*chunks, None]:
        events = stream.flush() if chunk is None else stream.feed(chunk)
        told = [event for event in events if isinstance(event, CallProgress)]
        came = [event.tool_call for event in events if isinstance(event, ToolCallReady)]
        for event in told:
            last[event.name] = event.status
            (written if event.status == "writing" else ended)[event.name] += 1
            assert ended[event.name] <= written[event.name], event
        ready = Counter(event.name for event in told if event.status == "ready")
        assert ready <= Counter(call.name for call in came)
        for call in came:
            if ready[call.name] <= 0:
                untold.append(call)
            ready[call.name] -= 1
    assert "writing" not in last.values()
    return untold


def _plain_calls(text: str) -> Iterator[tuple[int, int]]:
    """Find what the standard library reads as an object with a name and parameters, and nothing else."""
    for brace in re.finditer("{", text):
        try:
            value, stop = json.JSONDecoder().raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        if value.keys() == {"name", "parameters"} and value["name"] and isinstance(value["parameters"], dict):
            yield brace.start(), stop


def _standing(written: str) -> Iterator[str]:
    """Yield the text of a call with what may have to be around it."""
    for before in ("", "</think>"):
        yield f"{before}{written}"
        yield f"{before}<tool>{written}</tool>"
        yield f"{before}<tool_call>{written}</tool_call>"
        yield f"{before}\n```json\n{written}\n```"
        yield f"{before}[{written}]"
        yield f"{before}<|python_tag|>\n{written}<|eom_id|>"  # the indentation of a first line is code


def _meaning(call: ToolCall) -> tuple[object, ...]:
    """Return all of a call but where it stood and what stood around it."""
    return (
        *(call.name, call.arguments, call.arguments_json, call.changes, call.problems),
        *(call.deviations, call.repaired_from),
    )
