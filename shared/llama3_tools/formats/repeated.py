"""What is hidden or repeated is not called: comments of HTML, and the results of tools (rule 9)."""

from __future__ import annotations

from llama3_tools.formats.base import Candidate, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.quotation import read_quotation
from llama3_tools.source import Reading, Source

__all__ = ["COMMENT", "TOOL_RESPONSE"]


def _quotation(name: str, opening: str, closing: str, *, shared: int = 0) -> WireFormat:
    """Make the format of quotation between two tags, which may have so many characters in common."""

    def read(source: Source, _: Candidate) -> Reading[Outcome]:
        if source.before.endswith("`"):  # quoted itself: prose about the tag
            return IsText(source.offset + len(opening))
        source.pos += len(opening) - shared
        return (yield from read_quotation(source, closing))

    return WireFormat(name, Marker.of(opening), read, may_be_inside=False)


COMMENT = _quotation("comment", "<!--", "-->", shared=2)  # `<!-->` is a whole one

# Hermes's models are given results between these tags, and a result is written by strangers: it may hold a call.
TOOL_RESPONSE = _quotation("tool_response", "<tool_response>", "</tool_response>")
