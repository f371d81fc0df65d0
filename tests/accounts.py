"""Accounts for every character of an output (rules 3, 4, 9, 10 and 12): the text out is the text in, without the calls.

Calls cut an output into gaps. Of each gap one stretch is kept as it is, and what stands before and after that may
vanish there: wrappers, delimiters and white space next to a call, protocol tokens there and at the edges of the output.
This is told here from what came out, without the code that put it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chunkings import flow_of
from llama3_tools import Event, Extractor, ReasoningDelta, ToolCall
from llama3_tools.formats.tags import TAGS

__all__ = ["all_is_accounted_for"]

_TOKEN = (
    r"<\|(?:python_tag|python_start|python_end|eom_id|eot_id|begin_of_text|end_of_text|finetune_right_pad_id|eot|eom"
    r"|im_end|endoftext|end_header_id)\|>"
    r"|<\|(?:start_header_id|header_start)\|>[^<>|]{0,32}<\|(?:end_header_id|header_end)\|>"
    r"|<\|im_start\|>(?:(?:assistant|user|system|tool|ipython|function)(?![a-z])[ \t]*)?(?:\r?\n)?"
)
_OPENINGS = {opening for tag in TAGS for opening in tag.closings}
_CLOSINGS = {text for tag in TAGS for pair in tag.closings.items() for text in pair if not text[-1].isspace()} - {">"}


def _any_of(texts: Iterable[str]) -> str:
    """Return the pattern of any of the texts, the longest first; white space at the end of one may have gone."""
    patterns = (re.escape(text.rstrip()) + r"\b" * text[-1].isspace() for text in texts)
    return "|".join(sorted(patterns, key=len, reverse=True))


_WORDS = r"(?:jsonl?|python3?|py|tool_calls?|tool_code|tools?|functions?|function_calls?)?"
_OPENING = (
    rf"{_any_of(_OPENINGS)}|<function[=. (][^<>{{\[]*[>=]?|\[|\*\*|(?:functools|\[TOOL_CALLS\])(?=\s*\[)"
    rf"|`{{3,16}}[ \t]*(?i:{_WORDS})(?:[^\w\n`][^\n`]*(?=\n))?|`{{1,2}}(?!`)"
)
_CLOSING = rf"{_any_of(_CLOSINGS)}|\]|\*\*|`{{1,16}}"
_EDGE = rf"(?:\s|{_TOKEN})*"
_BEFORE_CALL = re.compile(rf"(?:\s|{_TOKEN}|{_OPENING})*")
_CLOSED = rf"(?:\s|{_TOKEN}|{_CLOSING})*"
_AFTER_CALL = re.compile(rf"{_CLOSED}(?:[;,}}>]{_CLOSED}){{0,2}}")
_AFTER_LAST_CALL = re.compile(rf"{_AFTER_CALL.pattern}(?:<[/|]?[\w|-]*>?)?{_CLOSED}")  # what closes it may be cut off
_BETWEEN_CALLS = re.compile(rf"(?:\s|[;,}}>]|{_TOKEN}|{_OPENING}|{_CLOSING})*")
_AT_EDGE = re.compile(_EDGE)
_AROUND_THOUGHTS = re.compile(rf"\s|{_TOKEN}|</?(?:think|thinking|reasoning|scratch_pad)>", re.IGNORECASE)
_CUT_OFF_TAG = re.compile(r"</?[a-z_]{0,11}\Z", re.IGNORECASE)
_ENVELOPE = re.compile(r"[\"']tool_calls?[\"']\s*:")


def all_is_accounted_for(text: str, extractor: Extractor) -> None:
    """Fail if what a stream returns of a text is not all of it, or more."""
    stream = extractor.stream()
    splits = extractor.options.split_reasoning
    for gap in _gaps(text, stream.feed(text) + stream.flush(), splits=splits):
        if not gap.is_accounted_for():
            raise AssertionError(f"nothing accounts for {gap.text!r}, of which {gap.kept!r} was kept")


class _Gap:
    """The text between two calls, and what was kept of it."""

    def __init__(self, text: str, kept: str, *, before: ToolCall | None, after: ToolCall | None, splits: bool) -> None:
        self.text = text
        self.kept = kept.strip() if before or after else kept
        self.before = before
        self.after = after
        self.splits = splits

    def is_accounted_for(self) -> bool:
        """Return whether what was kept stands in the gap, and all around it may vanish."""
        text, kept = self.text, self.kept
        if _ENVELOPE.search(text) or "envelope" in (call.format for call in (self.before, self.after) if call):
            return kept == text or _is_subsequence(
                kept, text.replace("\\n", "\n")
            )  # the message stands in a string of JSON
        if self.splits:
            text, kept = (_AROUND_THOUGHTS.sub("", one) for one in (text, kept))
            if self.after is None:
                text, kept = (_CUT_OFF_TAG.sub("", one) for one in (text, kept))
        elif self.before is self.after is None:
            return _without_tokens_at_edges(text, kept.strip()) == kept
        if not kept.strip():
            return self._may_vanish().fullmatch(text) is not None
        before = _AT_EDGE if self.before is None else _AFTER_CALL
        after = _AT_EDGE if self.after is None else self._opening()
        at = text.find(kept)
        while at >= 0:
            if before.fullmatch(text, 0, at) and after.fullmatch(text, at + len(kept)):
                return True
            at = text.find(kept, at + 1)
        return False

    def _may_vanish(self) -> re.Pattern[str]:
        if self.before is None:
            return _AT_EDGE if self.after is None else self._opening()
        if self.after is not None and self.after.format == "functionary":
            return re.compile(_BETWEEN_CALLS.pattern + self._opening().pattern)
        return _AFTER_LAST_CALL if self.after is None else _BETWEEN_CALLS

    def _opening(self) -> re.Pattern[str]:
        if self.after is not None and self.after.format == "functionary":
            return re.compile(rf"{_EDGE}(?:>>>)?{re.escape(self.after.name)}\s*")
        return _BEFORE_CALL


def _gaps(text: str, events: list[Event], *, splits: bool) -> Iterator[_Gap]:
    """Yield what stands between calls, thoughts that are split off with the rest."""
    kept, start, before = "", 0, None
    for item in [*flow_of(events), None]:
        if isinstance(item, str | ReasoningDelta):
            kept += item if isinstance(item, str) else item.text
            continue
        end = item.span[0] if item else len(text)
        yield _Gap(text[start:end], kept, before=before, after=item, splits=splits)
        if item is not None:
            kept, start, before = "", item.span[1], item


def _without_tokens_at_edges(text: str, kept: str) -> str:
    """Return an output without calls as rule 5 has it, of which a stretch is known to be kept."""
    at = text.find(kept)
    end = at + len(kept)
    while kept and at >= 0 and not (_AT_EDGE.fullmatch(text, 0, at) and _AT_EDGE.fullmatch(text, end)):
        at = text.find(kept, at + 1)
        end = at + len(kept)
    return re.sub(_TOKEN, "", text[:at]) + kept + re.sub(_TOKEN, "", text[end:])


def _is_subsequence(kept: str, text: str) -> bool:
    characters = iter(text)
    return all(character in characters for character in "".join(kept.split()).replace("\\", ""))
