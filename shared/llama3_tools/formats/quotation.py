"""Quotation: what is shown, not called (rule 9). It flows on as text and is never scanned."""

from __future__ import annotations

from llama3_tools.formats.base import Candidate, IsText, Marker, Outcome, WireFormat
from llama3_tools.source import Reading, Source

__all__ = ["THINK", "read_quotation"]

_CLOSING = "</think>"


def read_quotation(source: Source, closing: str) -> Reading[Outcome]:
    """Read text up to and with its closing, or to the end of the output."""
    while True:
        found = source.text.find(closing, source.pos)
        if found >= 0:
            source.pos = found + len(closing)
            return IsText(source.offset)
        if source.ended:
            source.pos = len(source.text)
            return IsText(source.offset)
        source.pos = max(source.pos, len(source.text) - len(closing) + 1)
        yield source.base + len(source.text)  # text in any case, be it the beginning of the closing or not


def _read_think(source: Source, candidate: Candidate) -> Reading[Outcome]:
    source.pos += len(candidate.marker)
    if source.before.endswith("`"):  # the tag itself is quoted: prose about it
        return IsText(source.offset)
    return (yield from read_quotation(source, _CLOSING))


THINK = WireFormat("think", Marker.of("<think>"), _read_think, may_be_inside=False)
