"""Code behind `<|python_tag|>`: a call of the tool `code_interpreter` (rule 11).

Name and parameter are Meta's: meta-llama/llama-models, prompt_format.md of llama3_1 and the chat_format.py beside it.
The code is never parsed. What ends it is a protocol token, or the end of the output, as servers cut the token off.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, partial
from json import dumps
from typing import NamedTuple, TypeVar

from llama3_tools.calls.shapes import WrittenCall
from llama3_tools.formats.base import Candidate, Choice, IsCall, IsText, Marker, Openings, Outcome, WireFormat
from llama3_tools.formats.cut_off_code import what_is_open
from llama3_tools.formats.json_calls import json_array
from llama3_tools.formats.prose import begins_as_prose, may_begin_as_prose
from llama3_tools.formats.protocol_tokens import PROTOCOL_TOKEN
from llama3_tools.formats.pythonic import pythonic_line, pythonic_list
from llama3_tools.formats.wrappers import PYTHON_START, skip_white_space
from llama3_tools.reading.json_scan import Refusal
from llama3_tools.reading.python_scalars import is_unicode
from llama3_tools.reading.source import Reading, Source
from llama3_tools.tools import Tool
from llama3_tools.values import Rejection, RejectionReason

__all__ = ["code"]

_T = TypeVar("_T")

_TOOL = "code_interpreter"
_PARAMETER = "code"
_TAG = "<|python_tag|>"
_MARKER = Marker.any_of((Marker.of(_TAG), PYTHON_START.marker))

_NEVER_CODE = ("{", "<", "`", "~", *":,;)]}/|>=")
"""What begins JSON, a tag, a token or a fence, and what no code begins with."""

_FENCE = re.compile(r"(`{3,16}|~{3,16})[ \t]{0,8}(?:python3?|py)?[ \t]{0,8}\r?\n", re.IGNORECASE)
_LONGEST_FENCE_LINE = 48
_FENCE_END = "fence_end"

_BEGINS_SEGMENT = re.compile(r"(?:\A\s*|[\r\n]|(?:\|>|</think>|[.!?:\u2026\u3002\uff01\uff1f\uff1a])\s*)\Z")
"""What stands before code that is meant: nothing, a line break, a token, a thought, or the end of a sentence."""
_IN_TAG_OR_LIST = re.compile(r"(?:<\w+>|(?:\A|[\r\n])[ \t]*[0-9]{1,4}\.)\s*\Z")
_WORD = re.compile(r"\w")


class _Body(NamedTuple):
    """The code behind a tag."""

    code: str
    start: int
    is_closed: bool
    """Whether something ended it but the end of the output."""
    is_fenced: bool


def _read_code(source: Source, candidate: Candidate, others: Openings) -> Reading[Outcome]:
    """Read what is behind a tag: code, or what is read as it is behind any protocol token."""
    start = source.offset
    source.pos += len(candidate.marker)
    behind = source.offset
    body = None
    if candidate.is_after_call or _is_place_for_code(source):
        yield from skip_white_space(source)
        fence = yield from _read_fence(source)
        if (yield from _begins_code(source, candidate, others)):
            body = yield from _read_body(source, behind, fence)
    if body is None or not _WORD.search(body.code):
        source.rewind(start)
        return (yield from (PROTOCOL_TOKEN if candidate.marker == _TAG else PYTHON_START).read(source, candidate))
    span = body.start, body.start + len(body.code)
    call = _call(body.code, (candidate.calls.tools or {}).get(_TOOL))
    outcome = _refuse(body) or candidate.calls.named([(call, span)], candidate.scope._replace(format="code"))
    if isinstance(outcome, Refusal):
        return IsText(source.offset, Rejection(span, *outcome), token_end=behind)
    return IsCall(outcome)


def _is_place_for_code(source: Source) -> bool:
    """Tell whether code is meant where the tag stands, rather than the tag itself: in a sentence, quoted, in a list."""
    return _BEGINS_SEGMENT.search(source.lead) is not None and not _IN_TAG_OR_LIST.search(source.lead)


def _read_fence(source: Source) -> Reading[str]:
    """Step over the line that opens a fence of Python, and give the fence; nothing where none stands."""
    while source.text.startswith(("`", "~"), source.pos):
        match = _FENCE.match(source.text, source.pos)
        if match:
            source.pos = match.end()
            yield from skip_white_space(source)
            return match[1]
        line = source.text[source.pos : source.pos + _LONGEST_FENCE_LINE]
        if source.ended or len(line) == _LONGEST_FENCE_LINE or "\n" in line:
            break
        yield None
    return ""


def _begins_code(source: Source, candidate: Candidate, others: Openings) -> Reading[bool]:
    """Tell whether code stands here, rather than a call in another form, an attempt at one, or prose."""
    if source.finished or source.text.startswith(_NEVER_CODE, source.pos):
        return False
    start = source.offset
    while not (match := others.match(source.text, source.pos)):
        if source.ended or not others.may_begin(source.text, source.pos):
            return not (yield from _is_prose(source))
        yield None
    other, marker = match
    calls = replace(candidate.calls, id_factory=str, coercers=None)
    outcome = yield from _held(
        source, other.read(source, candidate._replace(marker=marker, calls=calls, is_after_call=True))
    )
    source.rewind(start)
    rejection = outcome.rejection if isinstance(outcome, IsText) else None
    is_no_attempt = rejection is None or rejection.name is None or rejection.reason is RejectionReason.NOT_A_CALL
    return isinstance(outcome, IsText) and is_no_attempt


def _held(source: Source, reading: Reading[_T]) -> Reading[_T]:
    """Let a reader read, but hold back what it would release: it may be code."""
    while True:
        try:
            next(reading)
        except StopIteration as stop:
            source.held_to = None
            result: _T = stop.value
            return result
        source.held_to = None
        yield None


def _is_prose(source: Source) -> Reading[bool]:
    while not source.ended and may_begin_as_prose(source.text, source.pos):
        yield None
    return begins_as_prose(source.text, source.pos)


def _read_body(source: Source, behind: int, fence: str) -> Reading[_Body]:
    """Read code up to what ends it, and over the fence that does.

    Args:
        source: where to read, at the first character of the code that is no white space.
        behind: where the tag ends. The indentation of a first line below it belongs to the code.
        fence: what closes the code, if it stands in a fence.
    """
    space = source.slice(behind, source.offset)
    breaks = max(space.rfind("\n"), space.rfind("\r")) + 1
    start = behind + breaks if breaks else source.offset
    ends = _ends(fence or max(source.open_fences, default=""))
    while True:
        at = ends.find(source.text, source.pos)
        source.pos = at if at >= 0 else len(source.text)
        ended_by = ends.match(source.text, source.pos)
        if ended_by or (source.ended and len(source.text[source.pos :].strip()) != 1):
            break
        if source.ended:
            source.pos += 1  # a `<` at the end is an operator, where `<|` is a part of a token
        else:
            yield None
    code = source.slice(start, source.offset).rstrip()
    is_closed = ended_by is not None or bool(source.text[source.pos :].strip())
    if ended_by is None:
        source.pos = len(source.text)
    elif fence and ended_by[0].name == _FENCE_END:
        source.pos += len(ended_by[1])
    return _Body(code, start, is_closed, bool(fence))


@cache
def _ends(fence: str) -> Openings:
    """Give what ends code, which may stand in a fence."""
    ends = [PROTOCOL_TOKEN, PYTHON_START]
    if fence:
        line = r"\n[ \t]{0,8}"
        marker = Marker(f"{line}{fence}", rf"\n(?:[ \t]{{0,8}}{fence[0]}{{0,{len(fence) - 1}}})?\Z", ("\n",))
        ends.append(WireFormat(_FENCE_END, marker, PROTOCOL_TOKEN.read))
    return Openings(ends)


def _refuse(body: _Body) -> Refusal | None:
    """Refuse code that was cut off (rule 7), as far as that can be seen, or that is no Unicode (rule 8)."""
    open_ = None if body.is_closed else "an open fence" if body.is_fenced else what_is_open(body.code)
    if open_:
        return Refusal(RejectionReason.TRUNCATED, f"the output ends inside the code: {open_}", _TOOL)
    if is_unicode(body.code):
        return None
    return Refusal(RejectionReason.MALFORMED, "half a surrogate pair in the code", _TOOL)


def _call(code: str, tool: Tool | None) -> WrittenCall:
    """Give the code to the tool's parameter `code`, or else to the first that it requires, or that it has."""
    schema = tool.parameters if tool else {}
    parameters = list(schema.get("properties") or ())
    required = [name for name in schema.get("required") or () if name in parameters]
    name = _PARAMETER if _PARAMETER in parameters or not parameters else [*required, *parameters][0]
    arguments = {name: code}
    return WrittenCall(_TOOL, arguments, dumps(arguments, ensure_ascii=False))


def code(choice: Choice) -> WireFormat | None:
    """Give the format of code, where the tool for it is declared or the format was asked for by name."""
    is_meant = choice.asks_for("code") or (choice.asked_for is None and _TOOL in (choice.declared or ()))
    if choice.is_inside or not is_meant:
        return None
    others = Openings(filter(None, (PROTOCOL_TOKEN, json_array(choice), pythonic_list(choice), pythonic_line(choice))))
    return WireFormat("code", _MARKER, partial(_read_code, others=others), tool=_TOOL)
