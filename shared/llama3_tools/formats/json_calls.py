"""Bare JSON: an object that is a call, an array of calls, or an envelope (rules 1, 2 and 12)."""

from __future__ import annotations

from dataclasses import replace

from llama3_tools.calls.repair import read_repaired
from llama3_tools.formats.base import NO_CITATION, Candidate, Choice, IsCall, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.python_dict import read_python_dict
from llama3_tools.reading.json_scan import Refusal, refuse_too_long, scan_value
from llama3_tools.reading.source import Reading, Source
from llama3_tools.values import Rejection

__all__ = ["array_beside_pythonic", "json_array", "json_object"]


def _read_json(source: Source, candidate: Candidate) -> Reading[Outcome]:
    """Read the object or array at which the source stands."""
    start, calls, scope = source.offset, candidate.calls, candidate.scope
    is_in_tag = start == source.in_call_tag
    text, is_object = source.json_text, source.text.startswith("{", source.pos)
    read = None if text is None else calls.read(text, source.pos, source.base, scope)
    if read is not None and (is_object or source.base + read.end <= source.bound):
        source.pos = read.end
    else:
        judge = None if is_object else calls.judge(scope)
        scan = yield from scan_value(source, judge, calls_only=bool(scope.wrappers))
        repaired = yield from read_repaired(source, start, scan, calls, scope, is_after_call=candidate.is_after_call)
        if repaired is not None:
            return IsCall(repaired)
        if not scan.has_key:  # prose with a brace or a bracket in it
            may_be_dict = is_object and not scope.wrappers and not scan.is_settled
            return IsText(scan.resume, (yield from read_python_dict(source, start, calls)) if may_be_dict else None)
        if scan.refusal is not None:
            return IsText(scan.resume, Rejection((start, scan.end), *scan.refusal, is_in_tag=is_in_tag))
        read = calls.read(source.slice(start, scan.end), 0, start, scope, checked=True)
        assert read is not None  # noqa: S101  # the scan found what there is to parse
    outcome, end = read.outcome, source.offset
    if source.holds_too_much and not scope.wrappers:
        outcome, end = refuse_too_long(source, start), source.bound
    if isinstance(outcome, Refusal):
        return IsText(source.offset, Rejection((start, end), *outcome, is_in_tag=is_in_tag))
    return IsCall(outcome)


# A brace is a candidate where a key may follow, a bracket where an element may: other braces are prose.
_OBJECT = WireFormat("json", Marker(r"\{(?=[ \t\n\r]*(?:\"|'(?:[nf]|\Z)|\Z))", r"\{\Z", ("{",)), _read_json)
# With repair, a key may have other quotes or none, and a comment may stand before it.
_MALFORMED_OBJECT = replace(_OBJECT, marker=Marker(r"\{(?=[ \t\n\r]*(?:[\"'#/]|[^\W\d]|\Z))", r"\{\Z", ("{",)))
_ARRAY = WireFormat(
    "json", Marker(rf"\[{NO_CITATION}(?=[ \t\n\r]*(?:[\[{{\"0-9tfn-]|\Z))", r"\[\Z", ("[",)), _read_json
)


def json_object(choice: Choice) -> WireFormat | None:
    """Give the format of objects."""
    return _where_read(choice, _MALFORMED_OBJECT if choice.repair else _OBJECT)


def json_array(choice: Choice) -> WireFormat | None:
    """Give the format of arrays, unless pythonic lists, which begin in the same way, are read with them."""
    return None if choice.reads("pythonic") else array_beside_pythonic(choice)


def array_beside_pythonic(choice: Choice) -> WireFormat | None:
    """Give the format of arrays, whatever else begins in the same way."""
    return _where_read(choice, _ARRAY)


def _where_read(choice: Choice, format_: WireFormat) -> WireFormat | None:
    """Give a format in the tags that hold JSON whatever was asked for, and elsewhere if JSON was."""
    if choice.reads("json"):
        return format_
    return replace(format_, only_in_tags=True) if choice.is_inside else None
