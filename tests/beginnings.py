"""What an output gives when it is cut off, against what the whole of it gives (rules 7 and 9)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from accounts import CLOSINGS, all_is_accounted_for
from llama3_tools import Extraction, Extractor, RejectionReason, ToolCall, ToolCallReady
from llama3_tools.formats.protocol_tokens import TOKEN_PATTERN

__all__ = ["calls_come_when_they_are_complete"]

_OPENING = "|".join(map(re.escape, CLOSINGS))
_CLOSING = r"</[a-z_-]+>|<\|python_end\|>|(?<=[}\]\s])>"
_FENCE = r"(?:`{3,}(?!`)|~{3,}(?!~))(?:[ \t]*\w+)?(?:[ \t{][^\r\n]*(?=[\r\n]))?"
_ENVELOPE = r"\{[^{}<]*tool_calls?[\"']?\s*:[\s\[\],]*\}?"
_AROUND = re.compile(rf"(?:{_OPENING}|{_CLOSING}|{_FENCE}|{TOKEN_PATTERN}|{_ENVELOPE}|[\s;,\[\]])*\Z", re.IGNORECASE)
"""What stands between the text in front of a call and the call: wrappers, lists and envelopes."""
_MARK = re.compile(rf"(?P<opening>{_OPENING})|(?P<closing>{_CLOSING})", re.IGNORECASE)
_WRAPPER_MAY_GO_ON = re.compile(rf"(?:[\s;,\]}}]|{TOKEN_PATTERN}|{_CLOSING})*(?:[<{{\[`~\w]|\Z)")
_SPAN_IS_OPEN = re.compile(r"`[^\r\n]*(?:\r?\n[^\r\n]*)?\Z")  # of it, or of what is quoted before it
_SPAN_MAY_CLOSE = re.compile(r"(?:[^\r\n]*(?:\r?\n?`{0,2})|\s*)\Z")
_DICT_IS_OPEN = re.compile(r"\{\s*'[^\r\n]*\Z")
_PARENTHESIS_IS_OPEN = re.compile(r"\w\([\s\S]{0,1000}\Z")
_LINE_MAY_GO_ON = re.compile(r"(?:\s*,?\s*\])?[^\r\n]*\Z")
_OBJECT_MAY_BEGIN = re.compile(r"""\{\s*(?:["'#/]|[^\W\d])""")
_TAG_IS_OPEN = re.compile(r"<function=[\w.:/-]{1,128}>[^<{\[]{0,200}\Z")
_CODE_MAY_GO_ON = re.compile(r"[\s`~]*(?:<[^>]*)?\Z")
_HEADER_IS_OPEN = re.compile(r"<\|(?:start_header_id|header_start)\|>[^<>|]{0,32}(?:<[a-z_|]*)?\Z")
_FUNCTION_IS_CLOSED = re.compile(r"(?:</function>|<function>|[}\s]>)\Z")


def calls_come_when_they_are_complete(text: str, extractor: Extractor, places: Iterable[int] | None = None) -> None:
    """Hold what is sent at once, and what every beginning of a text calls if that is all, to the calls of the whole.

    A call is sent with its last character, and stays. A beginning has a further call only for one of these reasons:

    - The call stands in a wrapper that is still open, with nothing but calls in it (rule 9).
    - It is code up to the end, which may go on (rule 11).
    - It is pythonic, and its line may go on: as code, or as a sentence (rule 11).
    - It was repaired, and more quotes may follow, so that it ends elsewhere (rule 6).
    - Something malformed stands or begins before it, and may still be repaired as a whole that holds it (rule 6).
    - An attempt at a pythonic call, a dict of Python's, or the custom tag is open before it: its end tells what it was.
    - It stands where a header that is open may still have a role (rule 10).
    - Backticks are open before it, and may still be closed on its line or at the start of the next (rule 9).

    Args:
        text: the output.
        extractor: reads it.
        places: where the output is cut off, in order; `None` is everywhere.
    """
    whole = extractor.extract(text).tool_calls
    stream, sent, at = extractor.stream(), 0, 0
    for place in range(1, len(text) + 1) if places is None else places:
        sent += sum(isinstance(event, ToolCallReady) for event in stream.feed(text[at:place]))
        at, beginning = place, text[:place]
        extraction = extractor.extract(beginning)
        calls = extraction.tool_calls
        assert calls[:sent] == whole[:sent], beginning
        if calls[sent:] and not _may_be_repaired(
            beginning, extraction, calls[sent], extractor
        ):  # further ones wait behind it
            assert _may_wait(calls, sent, beginning), (beginning, calls[sent])
            all_is_accounted_for(beginning, extractor)


def _may_be_repaired(beginning: str, extraction: Extraction, call: ToolCall, extractor: Extractor) -> bool:
    start = call.span[0]
    is_behind_rejection = any(
        rejection.reason is RejectionReason.MALFORMED and rejection.span[0] < start
        for rejection in extraction.rejections
    )
    is_in_object = _OBJECT_MAY_BEGIN.search(beginning[:start]) is not None  # with a comment, or a key without a colon
    return extractor.__getstate__().repair and (is_behind_rejection or is_in_object)


def _may_wait(calls: Sequence[ToolCall], index: int, beginning: str) -> bool:
    """Tell whether what follows a beginning may make something else of a call, or of what stands around it."""
    call, end = calls[index], calls[-1].span[1]
    start, behind = call.span
    before = _without(beginning[:start], calls[:index])
    around = _AROUND.search(before)
    assert around is not None  # there may be nothing
    outside, space = before[: around.start()], around[0][: len(around[0]) - len(around[0].lstrip())]
    goes_on = {"pythonic": _LINE_MAY_GO_ON, "code": _CODE_MAY_GO_ON}.get(call.format)
    return bool(
        (call.format == "function" and not _FUNCTION_IS_CLOSED.search(beginning[start:behind]))
        or call.repaired_from is not None
        or (goes_on and goes_on.match(beginning, end))
        or (_is_open(around[0]) and _WRAPPER_MAY_GO_ON.match(beginning, end))
        or _HEADER_IS_OPEN.search(beginning)
        or (_DICT_IS_OPEN.search(outside) and _LINE_MAY_GO_ON.match(beginning, end))
        or _PARENTHESIS_IS_OPEN.search(outside)
        or _TAG_IS_OPEN.search(beginning)
        or (_SPAN_IS_OPEN.search(outside + space) and _SPAN_MAY_CLOSE.match(beginning, behind))
    )


def _without(text: str, calls: Sequence[ToolCall]) -> str:
    for call in reversed(calls):
        text = text[: call.span[0]] + text[call.span[1] :]
    return text


def _is_open(around: str) -> bool:
    """Tell whether a wrapper is open behind what stands around a call."""
    depth = 0
    for mark in _MARK.finditer(around):
        depth = max(0, depth + {"opening": 1, "closing": -1}.get(mark.lastgroup or "", 0))
    return depth > 0 or re.search(_FENCE, around) is not None  # which may be a rule that is followed by a fence
