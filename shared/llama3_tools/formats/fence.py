"""Code fences: around calls they vanish, around anything else they are text (rule 9)."""

from __future__ import annotations

import re
from functools import partial

from llama3_tools.formats.base import Candidate, IsCall, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.info_string import CODE_LANGUAGES, JSON_LANGUAGES, InfoString, read_info_string
from llama3_tools.formats.listing import read_listing
from llama3_tools.formats.quotation import read_quotation
from llama3_tools.formats.wrappers import read_inside
from llama3_tools.reading.source import Reading, Source

__all__ = ["FENCE"]

_SHORTEST, _LONGEST = 3, 16
_LINE_START = re.compile(r"(?:\A|[\r\n]|\|>(?:assistant)?)([ \t>]*(?:(?:[-*+]|\d{1,4}[.)])[ \t]+)?)\Z")
_MARKDOWN = frozenset({"markdown", "md"})
_EMPTY_LINE = re.compile(r"\r?\n[ \t]*\r?\n")


def _read_fence(source: Source, candidate: Candidate) -> Reading[Outcome]:
    """Read a fence: around calls it vanishes; one of code that begins with anything else is a listing.

    A listing is quotation, as is a fence of another language. Any other fence is text, and so is what it is made of;
    what is inside is read as if it stood bare.
    """
    fence, is_bare = candidate.marker, not candidate.scope.wrappers
    source.pos += len(fence)
    behind = source.offset
    indent = _LINE_START.search(source.before)
    begins_line = not is_bare or candidate.is_after_call or indent is not None
    if len(fence) > _LONGEST or (fence[0] == "~" and not begins_line and not source.open_fences):
        return (yield from _read_rule(source, fence[0])) if is_bare else IsText(behind)
    info = yield from read_info_string(source, fence, begins_line=begins_line)
    if is_bare and _closes(source, fence, info):
        source.open_fences = frozenset(one for one in source.open_fences if not _is_as_long(fence, one))
        return IsText(behind)
    outcome = (yield from _read_calls(source, candidate, info)) if begins_line or fence[0] != "~" else None
    if outcome is not None:
        return outcome
    if not is_bare or _is_prose(source, fence, info, begins_line=begins_line):
        return IsText(source.offset)
    if info.ends_line:
        column = len(indent[1]) if indent else 0
        return (yield from read_listing(source, fence, column, nests=info.language in _MARKDOWN))
    return (yield from read_quotation(source, fence))


def _read_calls(source: Source, candidate: Candidate, info: InfoString) -> Reading[Outcome | None]:
    """Read what may be calls; `None`, behind the opening fence, for code or prose."""
    may_be_code = info.language in CODE_LANGUAGES
    if info.language not in JSON_LANGUAGES and (info.has_attributes or not may_be_code):
        return None
    behind, fence, is_bare = source.offset, candidate.marker, not candidate.scope.wrappers
    inside = yield from read_inside(source, candidate, "fence", fence)
    if inside.intact:
        return IsCall(inside.parts, partial(_skip_surplus, fence=fence))
    begins_with_code = not inside.began_with_candidate or source.slice(behind, source.offset).lstrip()[:1].isalpha()
    if is_bare and not (may_be_code and begins_with_code):
        source.open_fences |= {fence}
        return IsText(behind)
    source.rewind(behind)
    return None


def _is_as_long(fence: str, opening: str) -> bool:
    """Tell whether a fence can close the one that an opening fence opens."""
    return fence[0] == opening[0] and len(fence) >= len(opening)


def _closes(source: Source, fence: str, info: InfoString) -> bool:
    """Tell whether a fence closes one whose inside was read as text, rather than opens one."""
    if not any(_is_as_long(fence, opening) for opening in source.open_fences):
        return False
    is_known = info.language in JSON_LANGUAGES or info.language in CODE_LANGUAGES
    return not info.language or not (is_known or (info.ends_line and not info.is_apart))


def _is_prose(source: Source, fence: str, info: InfoString, *, begins_line: bool) -> bool:
    """Tell whether a fence that holds no calls is none: within a line, or a rule or a flourish of tildes."""
    if fence[0] == "~" and not (begins_line and info.ends_line):
        return True
    is_rule = fence[0] == "~" and _EMPTY_LINE.match(source.text, source.pos) is not None
    return not info.language and not info.has_attributes and (is_rule or not begins_line)


def _skip_surplus(source: Source, fence: str) -> Reading[None]:
    """Step over what a closing fence has more than the opening one, unless that opens the next."""
    run = re.compile(f"{fence[0]}{{0,{_LONGEST + 1}}}")
    while True:
        match = run.match(source.text, source.pos)
        assert match is not None  # noqa: S101  # there may be none
        if match.end() < len(source.text) or source.ended:
            break
        yield None
    behind = source.text[match.end() : match.end() + 1]
    if len(match[0]) < _SHORTEST or not behind.strip():
        source.pos = match.end()


def _read_rule(source: Source, char: str) -> Reading[Outcome]:
    """Read a run that is no fence, such as one that is too long."""
    run = re.compile(f"{char}*")
    source.let_go()
    while True:
        match = run.match(source.text, source.pos)
        source.pos = match.end() if match else source.pos
        if not source.exhausted or source.ended:
            return IsText(source.offset)
        yield source.offset


def _marker(char: str) -> Marker:
    whole = rf"{char}{char}{{{_LONGEST}}}|{char}{char}{{{_SHORTEST - 1},{_LONGEST - 1}}}(?!{char}|\Z)"
    return Marker(whole, rf"{char}{char}{{0,{_LONGEST - 1}}}\Z", (char,))


FENCE = WireFormat("fence", Marker.any_of(map(_marker, "`~")), _read_fence)
