"""Bare JSON: an object that is a call, an array of calls, or an envelope (DESIGN rules 1, 2 and 12)."""

from __future__ import annotations

from llama3_tools.calls import Refusal, attempted_name
from llama3_tools.formats.base import Candidate, IsCall, IsText, Marker, Outcome, WireFormat
from llama3_tools.json_scan import Scan, scan_value
from llama3_tools.source import Reading, Source
from llama3_tools.values import Rejection

__all__ = ["JSON_ARRAY", "JSON_OBJECT", "rejection_of"]


def _read_json(source: Source, candidate: Candidate) -> Reading[Outcome]:
    """Read the object or array at which the source stands."""
    start, calls, scope = source.offset, candidate.calls, candidate.scope
    read = calls.read(source.json_text, source.pos, source.base, scope)
    if read is not None:
        source.pos = read.end
    else:
        scan = yield from scan_value(source, calls_only=bool(scope.wrappers))
        if scan.reason is not None or not scan.has_key:
            return IsText(scan.resume, rejection_of(source, start, scan))
        read = calls.read(source.slice(start, scan.end), 0, start, scope, checked=True)
        assert read is not None  # noqa: S101  # the scan found what there is to parse
    if read.outcome is None:
        return IsText(source.offset)
    if isinstance(read.outcome, Refusal):
        return IsText(source.offset, Rejection((start, source.offset), *read.outcome))
    return IsCall(read.outcome)


def rejection_of(source: Source, start: int, scan: Scan) -> Rejection | None:
    """Report a scan that found no call, unless what it scanned was prose with a brace in it."""
    if scan.reason is None or not scan.has_key:
        return None
    name = None if scan.hopeless else attempted_name(source.slice(start, scan.end))
    return Rejection((start, scan.end), scan.reason, scan.detail, name)


# A brace is a candidate where a key may follow, a bracket where an element may: other braces are prose.
JSON_OBJECT = WireFormat("json", "{", Marker(r"\{(?=[ \t\n\r]*(?:\"|\Z))", r"\{"), _read_json)
JSON_ARRAY = WireFormat("json", "[", Marker(r"\[(?=[ \t\n\r]*(?:[\[{\"0-9tfn-]|\Z))", r"\["), _read_json)
