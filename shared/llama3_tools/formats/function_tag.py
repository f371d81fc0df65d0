"""`<function=NAME>{…}</function>`: the name in the tag, the arguments inside (rule 9)."""

from __future__ import annotations

import re
from dataclasses import replace

from llama3_tools.calls import CallReader
from llama3_tools.formats.base import Candidate, Choice, IsCall, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.wrappers import is_at, skip_tokens, skip_white_space
from llama3_tools.json_scan import Refusal, Scan, read_object
from llama3_tools.json_text import JsonObject
from llama3_tools.repair import RepairedObject, read_repaired_object
from llama3_tools.shapes import WrittenCall, read_call
from llama3_tools.source import Reading, Source
from llama3_tools.values import Rejection, RejectionReason

__all__ = ["function_tag"]

_OPENING = "<function"
_NAME = r"[\w.:/-]{1,128}"
_TAG = re.compile(rf"{_OPENING}(?P<head>.)(?P<name>{_NAME})(?P<tail>.?)")
_CLOSING = "</function>"
_OTHER_CLOSINGS = ("<function>", ">")


def _read_function_tag(source: Source, candidate: Candidate) -> Reading[Outcome]:
    tag = _TAG.fullmatch(candidate.marker)
    assert tag is not None  # noqa: S101  # what the markers have in common
    start, name, is_lenient = source.offset, tag["name"], candidate.calls.lenient
    source.pos += len(candidate.marker)
    behind = source.offset
    yield from skip_white_space(source)
    tail = tag["tail"]
    if tail == ")" and (yield from is_at(source, ">")):
        tail += ">"
        yield from skip_white_space(source)
    if not source.text.startswith("{", source.pos):
        return IsText(behind)  # prose that mentions the tag
    arguments = yield from _read_arguments(source, candidate, name)
    if isinstance(arguments, Scan):
        refusal = arguments.refusal
        return IsText(arguments.resume, refusal and Rejection((start, arguments.end), *refusal._replace(name=name)))
    parsed, repaired_from = arguments
    yield from skip_tokens(source, candidate)
    closing = yield from _read_closing(source, (_CLOSING, *_OTHER_CLOSINGS) if is_lenient else (_CLOSING,))
    if closing is None:
        detail = f"expected {_CLOSING} at offset {source.offset}"
        return IsText(source.offset, Rejection((start, source.offset), RejectionReason.MALFORMED, detail, name))
    scope, span = candidate.scope, (start, source.offset)
    if not scope.wrappers:
        scope = scope._replace(format="function")
    deviations = _deviations(f"{_OPENING}{tag['head']}NAME{tail}", closing)
    written = _written(name, parsed, candidate.calls)
    if isinstance(written, Refusal):
        return IsText(source.offset, Rejection(span, *written))
    written = written._replace(deviations=deviations + written.deviations)
    outcome = candidate.calls.named([(written, span)], scope)
    if isinstance(outcome, Refusal):
        return IsText(source.offset, Rejection(span, *outcome))
    if repaired_from is not None:
        outcome = [replace(call, repaired_from=repaired_from) for call in outcome if not isinstance(call, str)]
    return IsCall(outcome)


def _read_arguments(source: Source, candidate: Candidate, name: str) -> Reading[RepairedObject | Scan]:
    start, calls = source.offset, candidate.calls
    read = yield from read_object(source, calls_only=bool(candidate.scope.wrappers))
    if not isinstance(read, Scan):
        return RepairedObject(read, None)
    repaired = (yield from read_repaired_object(source, start, read, calls)) if name in (calls.tools or ()) else None
    return repaired or read


def _written(name: str, parsed: JsonObject, calls: CallReader) -> WrittenCall | Refusal:
    """Tell what is called with what: a model may write a whole call into the tag of its name, instead of arguments."""
    held = read_call(parsed, calls.tools, lenient=calls.lenient)
    is_call = held.name == name and (
        isinstance(held, WrittenCall) or held.reason is not RejectionReason.MISSING_ARGUMENTS
    )
    tool, keys = (calls.tools or {}).get(name), {member.key for member in parsed.members}
    parameters = (tool.parameters.get("properties") or {}) if tool else {}
    if not is_call or not (keys - {"name", "type", "id"} or {"name"}).isdisjoint(parameters):
        return WrittenCall(name, parsed.value, parsed.json)
    detail = "a whole call stands in the tag"
    if isinstance(held, Refusal):
        return held
    if not calls.lenient:
        return Refusal(RejectionReason.INVALID_ARGUMENTS, f"{detail}, where the arguments belong", name)
    return held._replace(deviations=(detail, *held.deviations))


def _read_closing(source: Source, closings: tuple[str, ...]) -> Reading[str | None]:
    """Step over what closes the tag; the end of the output closes it, too."""
    if source.finished:
        return _CLOSING
    for closing in closings:
        if (yield from is_at(source, closing)):
            return closing
    return None


def _deviations(opening: str, closing: str) -> tuple[str, ...]:
    opens = () if opening == f"{_OPENING}=NAME>" else (f"the tag is written {opening}{{…}}",)
    return opens if closing == _CLOSING else (*opens, f"the tag is closed by {closing}")


_DOCUMENTED = WireFormat("function", Marker.of(f"{_OPENING}=", _NAME, ">"), _read_function_tag)

# <function=NAME={…}: tashfeenahmed/freellmapi pull request 291, of Llama 3.3 70B. The others stand in what servers give
# as a failed generation, and in parsers of other clients: <function=NAME{…}, <function(NAME){…}, <function(NAME)>{…},
# <function.NAME>{…}; closed by <function>, or by > alone.
_ANY_SPELLING = WireFormat(
    "function",
    Marker(
        rf"{_OPENING}(?:[=.]{_NAME}(?:[>=]|(?= ?\{{))|\({_NAME}\))",
        rf"{Marker.of(_OPENING).partial}|{_OPENING}[=.(](?:{_NAME} ?)?\Z",
        (_OPENING,),
    ),
    _read_function_tag,
)


def function_tag(choice: Choice) -> WireFormat | None:
    """Give the format of the tag: as it is documented, or with `lenient` in the spellings that models make of it."""
    if not choice.reads("function"):
        return None
    return _ANY_SPELLING if choice.lenient else _DOCUMENTED
