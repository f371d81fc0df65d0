"""`<function=NAME>{…}</function>`: the name in the tag, the arguments inside (rule 9)."""

from __future__ import annotations

from llama3_tools.formats.base import Candidate, IsCall, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.wrappers import is_at, skip_tokens, skip_white_space
from llama3_tools.json_scan import Refusal, Scan, read_object
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
    arguments = yield from read_object(source, calls_only=bool(candidate.scope.wrappers))
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
    outcome = candidate.calls.named([(WrittenCall(name, arguments.value, arguments.json), span)], scope)
    if isinstance(outcome, Refusal):
        return IsText(source.offset, Rejection(span, *outcome))
    return IsCall(outcome)


FUNCTION_TAG = WireFormat("function", Marker.of(_OPENING, r"[\w.:/-]{1,128}", ">"), _read_function_tag)
