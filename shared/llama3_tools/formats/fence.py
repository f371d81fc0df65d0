"""Code fences: around calls they vanish, around anything else they are text (DESIGN rule 9)."""

from __future__ import annotations

import re

from llama3_tools.formats.base import Candidate, IsCall, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.quotation import read_quotation
from llama3_tools.formats.wrappers import read_inside
from llama3_tools.source import Reading, Source

__all__ = ["FENCE"]

_CALL_LANGUAGES = frozenset({"", "json", "tool_call", "python"})
_LANGUAGE = re.compile(r"[\w+#.-]{0,16}")  # longer than any of them: what runs on is another language
_BACKTICKS = re.compile("`*")
_MOST_BACKTICKS = 16


def _read_fence(source: Source, candidate: Candidate) -> Reading[Outcome]:
    """Read a fence. One that begins with anything but a candidate is a listing, and so is another language's."""
    ticks, is_bare = len(candidate.marker), not candidate.scope.wrappers
    source.pos += ticks
    if ticks > _MOST_BACKTICKS:
        return (yield from _read_rule(source)) if is_bare else IsText(source.offset)
    language = yield from _read_language(source)
    behind, closing = source.offset, "`" * ticks
    if is_bare and not language and 0 < source.open_fence <= ticks:
        source.open_fence = 0
        return IsText(behind)
    if language.lower() in _CALL_LANGUAGES:
        inside = yield from read_inside(source, candidate, "fence", closing)
        if inside.intact:
            return IsCall(inside.parts)
        if inside.began_with_candidate and is_bare:
            source.open_fence = ticks
            return IsText(behind)
        source.rewind(behind)
    if is_bare:
        return (yield from read_quotation(source, closing))
    return IsText(behind)


def _read_language(source: Source) -> Reading[str]:
    while True:
        match = _LANGUAGE.match(source.text, source.pos)
        language = match[0] if match else ""
        end = source.pos + len(language)
        if end < len(source.text) or source.ended:
            source.pos = end
            return language
        yield None


def _read_rule(source: Source) -> Reading[Outcome]:
    """Read a run of backticks that is too long for a fence."""
    while True:
        match = _BACKTICKS.match(source.text, source.pos)
        source.pos = match.end() if match else source.pos
        if not source.exhausted or source.ended:
            return IsText(source.offset)
        yield source.offset


_MARKER = Marker(f"`{{{_MOST_BACKTICKS + 1}}}|`{{3,{_MOST_BACKTICKS}}}(?!`|\\Z)", f"`{{1,{_MOST_BACKTICKS}}}")

FENCE = WireFormat("fence", "`", _MARKER, _read_fence)
