"""Code fences: around calls they vanish, around anything else they are text (rule 9)."""

from __future__ import annotations

import re

from llama3_tools.formats.base import Candidate, IsCall, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.quotation import read_quotation
from llama3_tools.formats.wrappers import read_inside
from llama3_tools.source import Reading, Source

__all__ = ["FENCE"]

_JSON_LANGUAGES = frozenset({"json", "tool_call"})
_CODE_LANGUAGES = frozenset({"", "python"})
_LANGUAGE = re.compile(r"[\w+#.-]{0,16}")  # longer than any of them: what runs on is another language
_BACKTICKS = re.compile("`*")
_MOST_BACKTICKS = 16
_LINE_START = re.compile(r"(?:\A|\n)[ \t]*\Z")


def _read_fence(source: Source, candidate: Candidate) -> Reading[Outcome]:
    """Read a fence: around calls it vanishes; one of code that begins with anything else is a listing.

    A listing is quotation, as is a fence of another language. Any other fence is text, and so are its backticks;
    what is inside is read as if it stood bare.
    """
    ticks, is_bare = len(candidate.marker), not candidate.scope.wrappers
    behind_ticks = source.offset + ticks
    source.pos += ticks
    if ticks > _MOST_BACKTICKS:
        return (yield from _read_rule(source)) if is_bare else IsText(source.offset)
    language = yield from _read_language(source)
    if is_bare and _closes(source, ticks, language):
        source.open_fences = {open_ticks for open_ticks in source.open_fences if open_ticks > ticks}
        return IsText(behind_ticks)
    behind, closing = source.offset, "`" * ticks
    may_hold_calls = language in _JSON_LANGUAGES or language in _CODE_LANGUAGES
    if may_hold_calls:
        inside = yield from read_inside(source, candidate, "fence", closing)
        if inside.intact:
            return IsCall(inside.parts)
        begins_with_code = not inside.began_with_candidate or source.slice(behind, source.offset).lstrip()[:1].isalpha()
        is_listing = language in _CODE_LANGUAGES and begins_with_code
        if is_bare and not is_listing:
            source.open_fences.add(ticks)
            return IsText(behind)
        source.rewind(behind)
    if not is_bare or (not language and not _LINE_START.search(source.before)):
        return IsText(behind)  # three backticks in prose
    return (yield from read_quotation(source, closing))


def _closes(source: Source, ticks: int, language: str) -> bool:
    """Tell whether backticks close a fence whose inside was read as text, rather than open one."""
    if not source.open_fences or ticks < min(source.open_fences):
        return False
    opens = language in _JSON_LANGUAGES or language == "python" or source.text.startswith("\n", source.pos)
    return not (language and opens)


def _read_language(source: Source) -> Reading[str]:
    """Read the language, in lower case; the character behind it has arrived then, unless the output ended."""
    while True:
        match = _LANGUAGE.match(source.text, source.pos)
        language = match[0] if match else ""
        end = source.pos + len(language)
        if end < len(source.text) or source.ended:
            source.pos = end
            return language.lower()
        yield None


def _read_rule(source: Source) -> Reading[Outcome]:
    """Read a run of backticks that is too long for a fence."""
    while True:
        match = _BACKTICKS.match(source.text, source.pos)
        source.pos = match.end() if match else source.pos
        if not source.exhausted or source.ended:
            return IsText(source.offset)
        yield source.offset


_MARKER = Marker(f"``{{{_MOST_BACKTICKS}}}|``{{2,{_MOST_BACKTICKS - 1}}}(?!`|\\Z)", rf"``{{0,{_MOST_BACKTICKS - 1}}}\Z")

FENCE = WireFormat("fence", _MARKER, _read_fence)
