"""Quotation: what is shown, not called (rule 9). It flows on and is never scanned, as text or as reasoning."""

from __future__ import annotations

from llama3_tools.formats.base import Candidate, Choice, IsReasoning, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.wrappers import is_at, skip_white_space
from llama3_tools.reading.source import Reading, Source

__all__ = ["opened_thought", "read_quotation", "stands_alone", "think"]

_OPENING = "<think>"
_CLOSING = "</think>"


def read_quotation(source: Source, closing: str) -> Reading[Outcome]:
    """Read text up to and with its closing, or to the end of the output."""
    source.let_go()
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


def stands_alone(source: Source) -> Reading[bool]:
    """Tell whether a code span holds nothing but the tag behind which the source stands: prose about it."""
    if not source.before.endswith("`"):
        return False
    while source.exhausted and not source.ended:
        yield None
    return source.text.startswith("`", source.pos)


def _read_thought(source: Source, candidate: Candidate) -> Reading[Outcome]:
    source.pos += len(candidate.marker)
    if (yield from stands_alone(source)):
        return IsText(source.offset)
    return (yield from read_quotation(source, _CLOSING))


def _split_thought(source: Source, candidate: Candidate) -> Reading[Outcome]:
    source.pos += len(candidate.marker)
    if (yield from stands_alone(source)):
        return IsText(source.offset)
    return (yield from _split(source))


def _read_opened(source: Source, _: Candidate) -> Reading[Outcome]:
    return read_quotation(source, _CLOSING)


def _split_opened(source: Source, _: Candidate) -> Reading[Outcome]:
    source.let_go()
    yield from skip_white_space(source)
    yield from is_at(source, _OPENING)  # a model may write it once more
    return (yield from _split(source))


def _split(source: Source) -> Reading[Outcome]:
    """Read a thought behind its tag, and hold back what may be the beginning of the closing one."""
    source.drop(source.offset)
    source.let_go()
    while True:
        text = source.text
        found = text.find(_CLOSING, source.pos)
        if found >= 0:
            source.pos = found + len(_CLOSING)
            return IsReasoning(source.base + found)
        closing = text.rfind("<", max(source.pos, len(text) - len(_CLOSING) + 1))
        source.pos = closing if closing >= 0 and _CLOSING.startswith(text[closing:]) else len(text)
        end = source.offset
        if source.ended:
            source.pos = len(text)
            return IsReasoning(end)
        yield end


_MARKER = Marker.of(_OPENING)
_THOUGHT = WireFormat("think", _MARKER, _read_thought, may_be_inside=False)
_THOUGHT_APART = WireFormat("think", _MARKER, _split_thought, may_be_inside=False, is_reasoning=True)
_OPENED = WireFormat("think", _MARKER, _read_opened)
_OPENED_APART = WireFormat("think", _MARKER, _split_opened, is_reasoning=True)


def think(choice: Choice) -> WireFormat:
    """Give the format of reasoning, which is kept in the content or split off."""
    return _THOUGHT_APART if choice.split_reasoning else _THOUGHT


def opened_thought(choice: Choice) -> WireFormat:
    """Give the format of an output that begins inside reasoning, as the prompt ended with the tag."""
    return _OPENED_APART if choice.split_reasoning else _OPENED
