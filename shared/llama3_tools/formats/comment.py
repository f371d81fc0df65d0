"""Comments of HTML: hidden text, so what stands in one is not called (rule 9)."""

from __future__ import annotations

from llama3_tools.formats.base import Candidate, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.quotation import read_quotation
from llama3_tools.source import Reading, Source

__all__ = ["COMMENT"]

_OPENING, _CLOSING = "<!--", "-->"


def _read_comment(source: Source, _: Candidate) -> Reading[Outcome]:
    if source.before.endswith("`"):  # quoted itself: prose about comments
        return IsText(source.offset + len(_OPENING))
    source.pos += len("<!")  # `<!-->` is a whole comment
    return (yield from read_quotation(source, _CLOSING))


COMMENT = WireFormat("comment", Marker.of(_OPENING), _read_comment, may_be_inside=False)
