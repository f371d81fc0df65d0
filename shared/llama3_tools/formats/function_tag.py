"""`<function=NAME>{…}</function>`: the name in the tag, the arguments inside (rule 9)."""

from __future__ import annotations

from llama3_tools.formats.base import Candidate, IsCall, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.wrappers import is_at, skip_tokens, skip_white_space
from llama3_tools.json_scan import Refusal, Scan, scan_value
from llama3_tools.json_text import JsonObject, parse_object
from llama3_tools.shapes import WrittenCall
from llama3_tools.source import Reading, Source
from llama3_tools.values import Rejection, RejectionReason

__all__ = ["FUNCTION_TAG"]

_OPENING = "<function="
_CLOSING = "</function>"


def _read_function_tag(source: Source, candidate: Candidate) -> Reading[Outcome]:
    start, name = source.offset, candidate.marker[len(_OPENING) : -1]
    source.pos += len(candidate.marker)
    behind = source.offset
    yield from skip_white_space(source)
    if not source.text.startswith("{", source.pos):
        return IsText(behind)  # prose that mentions the tag
    arguments = yield from _read_object(source, candidate)
    if isinstance(arguments, Scan):
        refusal = arguments.refusal
        return IsText(arguments.resume, refusal and Rejection((start, arguments.end), *refusal._replace(name=name)))
    yield from skip_tokens(source, candidate)
    if not source.finished and not (yield from is_at(source, _CLOSING)):
        detail = f"expected {_CLOSING} at offset {source.offset}"
        return IsText(source.offset, Rejection((start, source.offset), RejectionReason.MALFORMED, detail, name))
    scope, span = candidate.scope, (start, source.offset)
    if not scope.wrappers:
        scope = scope._replace(format="function")
    outcome = candidate.calls.named(WrittenCall(name, arguments.value, arguments.json), span, scope)
    if isinstance(outcome, Refusal):
        return IsText(source.offset, Rejection(span, *outcome))
    return IsCall(outcome)


def _read_object(source: Source, candidate: Candidate) -> Reading[JsonObject | Scan]:
    text = source.json_text
    parsed = None if text is None else parse_object(text, source.pos)
    if parsed is not None:
        source.pos = parsed.end
        return parsed
    start = source.offset
    scan = yield from scan_value(source, calls_only=bool(candidate.scope.wrappers))
    if scan.refusal is not None:
        return scan
    parsed = parse_object(source.slice(start, scan.end), 0, checked=True)
    assert parsed is not None  # noqa: S101  # the scan found a strict JSON object
    return parsed


FUNCTION_TAG = WireFormat("function", "<", Marker.of(_OPENING, r"[\w.:/-]{1,128}", ">"), _read_function_tag)
