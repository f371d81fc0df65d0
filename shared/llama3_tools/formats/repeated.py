"""What is hidden, shown or repeated is not called: comments and code of HTML, and the results of tools (rule 9)."""

from __future__ import annotations

import re

from llama3_tools.formats.base import Candidate, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.quotation import stands_alone
from llama3_tools.reading.source import Reading, Source

__all__ = ["COMMENT", "HTML_CODE", "HTML_PRE", "TOOL_RESPONSE"]


_ATTRIBUTES = r"(?:\s[^<>]{0,2000})?"
_LONGEST_CLOSING = 32


def _quotation(name: str, opening: Marker, closing: str, *, shared: int = 0) -> WireFormat:
    """Make the format of quotation between two tags, which may have so many characters in common.

    Args:
        name: its name.
        opening: how it begins.
        closing: the pattern of what closes it, of at most `_LONGEST_CLOSING` characters.
        shared: how many characters of the opening may be the first of the closing.
    """
    end = re.compile(closing)

    def read(source: Source, candidate: Candidate) -> Reading[Outcome]:
        source.pos += len(candidate.marker)
        if (yield from stands_alone(source)):
            return IsText(source.offset)
        source.rewind(source.offset - shared)
        source.let_go()
        while True:
            closed = end.search(source.text, source.pos)
            if closed or source.ended:
                source.pos = closed.end() if closed else len(source.text)
                return IsText(source.offset)
            source.pos = max(source.pos, len(source.text) - _LONGEST_CLOSING + 1)
            yield source.base + len(source.text)  # text in any case, be it the beginning of the closing or not

    return WireFormat(name, opening, read, may_be_inside=False)


def _element(name: str, tag: str) -> WireFormat:
    """Make the format of quotation in an HTML element, whose tags know no case."""
    partial = rf"<(?i:{Marker.of(tag).partial}|{tag}{_ATTRIBUTES})?\Z"
    return _quotation(name, Marker(rf"<(?i:{tag}){_ATTRIBUTES}>", partial, ("<",)), rf"</(?i:{tag})\s{{0,8}}>")


COMMENT = _quotation("comment", Marker.of("<!--"), "-->", shared=2)  # `<!-->` is a whole one
HTML_CODE = _element("html_code", "code")
HTML_PRE = _element("html_pre", "pre")

# Hermes's models are given results between these tags, and a result is written by strangers: it may hold a call.
TOOL_RESPONSE = _element("tool_response", "tool_response")
