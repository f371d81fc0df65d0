"""`<function=NAME>{…}</function>`: the name in the tag, the arguments inside (rule 9)."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from llama3_tools.calls.reader import CallReader
from llama3_tools.calls.repair import RepairedObject, read_repaired_object
from llama3_tools.calls.shapes import WrittenCall, read_call, refuse_empty
from llama3_tools.formats.base import Candidate, Choice, IsCall, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.wrappers import is_at, skip_tokens, skip_white_space
from llama3_tools.reading.json_parse import JsonObject
from llama3_tools.reading.json_scan import Refusal, Scan, read_object
from llama3_tools.reading.source import Reading, Source
from llama3_tools.values import Rejection, RejectionReason, shortened

__all__ = ["function_tag"]

_OPENING = "<function"
_NAME = r"[\w.:/-]{1,128}"
_TAG = re.compile(rf"{_OPENING}(?P<head>.)(?P<name>{_NAME})(?P<tail>.?)")
_SPACE = r"[ \t\n\r]{0,16}"
_CLOSING = "</function>"
_OTHER_CLOSINGS = ("<function>", ">")
_LONGEST_ATTEMPT = 200
_NO_CALL = re.compile(rf"[^<{{\[]{{0,{_LONGEST_ATTEMPT}}}")


class _Tag(NamedTuple):
    """The opening of a tag, as it was read. Offsets count from the start of the output."""

    name: str
    start: int
    inside: int
    """Where what it holds begins."""
    spelling: str

    @property
    def deviations(self) -> tuple[str, ...]:
        """How it differs from the documented form."""
        return () if self.spelling == f"{_OPENING}=NAME>" else (f"the tag is written {self.spelling}{{…}}",)


def _read_function_tag(source: Source, candidate: Candidate) -> Reading[Outcome]:
    marker = _TAG.fullmatch(candidate.marker)
    assert marker is not None  # noqa: S101  # what the markers have in common
    start, tail = source.offset, marker["tail"]
    source.pos += len(candidate.marker)
    yield from skip_white_space(source)
    if tail == ")" and (yield from is_at(source, ">")):
        tail += ">"
        yield from skip_white_space(source)
    tag = _Tag(marker["name"], start, source.offset, f"{_OPENING}{marker['head']}NAME{tail}")
    if source.text.startswith("{", source.pos):
        return (yield from _read_call(source, candidate, tag))
    return (yield from _read_other(source, candidate, tag))


def _read_call(source: Source, candidate: Candidate, tag: _Tag) -> Reading[Outcome]:
    """Read the object in a tag, and the closing."""
    calls, scope, name = candidate.calls, candidate.scope, tag.name
    arguments = yield from _read_arguments(source, candidate, name)
    if isinstance(arguments, Scan):
        refusal = arguments.refusal
        return IsText(arguments.resume, refusal and Rejection((tag.start, arguments.end), *refusal._replace(name=name)))
    parsed, repaired_from = arguments
    held = read_call(parsed, calls.tools, lenient=False) if tag.deviations else None
    is_call = isinstance(held, WrittenCall)  # which stands bare where no variants are read
    if isinstance(held, WrittenCall) and held.name != name:
        return IsText(tag.inside)
    yield from skip_tokens(source, candidate)
    closing = yield from _read_closing(source, (_CLOSING, *_OTHER_CLOSINGS) if calls.lenient else (_CLOSING,))
    span = tag.start, source.offset
    if closing is None:
        detail = f"expected {_CLOSING} at offset {source.offset}"
        rejection = Rejection(span, RejectionReason.MALFORMED, detail, name)
        return IsText(tag.inside) if is_call else IsText(source.offset, rejection)
    if not scope.wrappers:
        scope = scope._replace(format="function")
    written = _written(name, parsed, calls)
    if isinstance(written, Refusal):
        return IsText(source.offset, Rejection(span, *written))
    closed = () if closing == _CLOSING else (f"the tag is closed by {closing}",)
    written = written._replace(deviations=(*tag.deviations, *closed, *written.deviations))
    outcome = calls.named([(written, span)], scope)
    if isinstance(outcome, Refusal):
        return IsText(source.offset, Rejection(span, *outcome))
    if repaired_from is not None:
        outcome = [replace(call, repaired_from=repaired_from) for call in outcome if not isinstance(call, str)]
    return IsCall(outcome, partial(is_at, literal=_CLOSING) if closing == ">" else None)


def _read_other(source: Source, candidate: Candidate, tag: _Tag) -> Reading[Outcome]:
    """Read a tag without an object: prose that mentions it, unless it is closed and names a declared tool."""
    tools, scope = candidate.calls.tools or {}, candidate.scope
    if tag.deviations or tag.name not in tools:
        return IsText(tag.inside)
    while True:
        text = _NO_CALL.match(source.text, source.pos)
        assert text is not None  # noqa: S101  # it takes nothing, too
        if text.end() < len(source.text) or len(text[0]) == _LONGEST_ATTEMPT or source.ended:
            break
        yield None
    source.pos = text.end()
    if not (yield from is_at(source, _CLOSING)):
        return IsText(tag.inside)
    span = tag.start, source.offset
    if not text[0] and refuse_empty(tag.name, tools) is None:
        scope = scope if scope.wrappers else scope._replace(format="function")
        empty = candidate.calls.named([(WrittenCall(tag.name, {}, "{}"), span)], scope)
        assert not isinstance(empty, Refusal)  # noqa: S101  # the tool is declared
        return IsCall(empty)
    detail = f"expected an object at offset {tag.inside}, found {shortened(text[0] or _CLOSING)!r}"
    return IsText(tag.inside, Rejection(span, RejectionReason.MALFORMED, detail, tag.name))


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


_DOCUMENTED = WireFormat("function", Marker.of(f"{_OPENING}=", _NAME, ">"), _read_function_tag)

# Where each spelling stands, from Llama 3.1 and 3.3, most of them as what Groq calls a failed generation:
# <function=NAME={…}</function>    tashfeenahmed/freellmapi, pull request 291
# <function=NAME {…} </function>   kagent-dev/kagent, issue 1532
# <function=NAME{…}</function>     Trivedi-Kartik/voice-assistant, server/src/groqErrors.ts
# <function=NAME{…}></function>    RightNow-AI/openfang, crates/openfang-runtime/src/drivers/openai.rs; so with a blank
# <function.NAME{…}></function>    Artag-Chris/atiende, src/modules/llm/raw-function-calls.ts
# <function.NAME>{…}</function>    thechekh/ai-workspace-assistant, src/assistant/llm/client.py
# <function(NAME){…}               the same
# <function(NAME){…}>              JGalego/HyperLab, apps/desktop/demo/README.md
# <function=NAME>{…}<function>     alexberardi/jarvis-command-center, tests/test_llama31_medium_untrained.py
_ANY_SPELLING = WireFormat(
    "function",
    Marker(
        rf"{_OPENING}(?:[=.]{_NAME}(?:[>=]|(?={_SPACE}\{{))|\({_NAME}\))",
        rf"{Marker.of(_OPENING).partial}|{_OPENING}[=.(](?:{_NAME}{_SPACE})?\Z",
        (_OPENING,),
    ),
    _read_function_tag,
)


def function_tag(choice: Choice) -> WireFormat | None:
    """Give the format of the tag: as it is documented, or with `lenient` in the spellings that models make of it."""
    if not choice.reads("function"):
        return None
    return _ANY_SPELLING if choice.lenient else _DOCUMENTED
