"""What is hidden, shown or repeated is not called: comments and code of HTML, and the results of tools (rule 9)."""

from __future__ import annotations

from llama3_tools.formats.base import Candidate, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.quotation import read_quotation, stands_alone
from llama3_tools.source import Reading, Source

__all__ = ["COMMENT", "HTML_CODE", "HTML_PRE", "TOOL_RESPONSE"]


_ATTRIBUTES = r"(?:[ \t\n][^<>]{0,200})?"


def _quotation(name: str, opening: Marker, closing: str, *, shared: int = 0) -> WireFormat:
    """Make the format of quotation between two tags, which may have so many characters in common."""

    def read(source: Source, candidate: Candidate) -> Reading[Outcome]:
        source.pos += len(candidate.marker)
        if (yield from stands_alone(source)):
            return IsText(source.offset)
        source.rewind(source.offset - shared)
        return (yield from read_quotation(source, closing))

    return WireFormat(name, opening, read, may_be_inside=False)


COMMENT = _quotation("comment", Marker.of("<!--"), "-->", shared=2)  # `<!-->` is a whole one
HTML_CODE = _quotation("html_code", Marker.of("<code", _ATTRIBUTES, ">"), "</code>")
HTML_PRE = _quotation("html_pre", Marker.of("<pre", _ATTRIBUTES, ">"), "</pre>")

# Hermes's models are given results between these tags, and a result is written by strangers: it may hold a call.
TOOL_RESPONSE = _quotation("tool_response", Marker.of("<tool_response>"), "</tool_response>")
