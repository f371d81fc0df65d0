"""Accounts for every character of an output (principle 2): the text out is the text in, without calls and markup.

Calls cut an output into gaps. Of each gap one stretch is kept as it is, and what stands before and after that may
vanish there: markup, delimiters and white space next to a call, protocol tokens there and at the edges of the output.
This is told here from what came out, without the code that put it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkings import flow_of
from llama3_tools import Event, Extractor, ReasoningDelta, ToolCall

__all__ = ["all_is_accounted_for"]

_TOKEN = (
    r"<[|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c]>"
    r"(?:[^<>|]{0,32}<\|(?:end_header_id|header_end)\|>|(?i:(?:assistant|user|system|tool|ipython|function)(?![a-z])))?"
)
_TAG = r"</?[A-Za-z][^<>{\n]{0,62}>|<\?[^<>{\n]{0,60}>|<!--|--!?>"
_FENCE = r"[`~]{1,16}[^\n`]{0,64}"
_MARKUP = rf"{_TOKEN}|{_TAG}|\[/?[A-Z_]{{1,30}}\]|{_FENCE}|\*\*|[\[\]]|functools"
_EDGE = rf"(?:\s|{_TOKEN})*"
_NAME = r"(?:>>>\s*)?[\w.:/-]+[\s=:,(]*"
_BEFORE_CALL = re.compile(rf"(?:\s|[;,]|{_MARKUP})*(?:<[\w|]*\W?)?(?:{_NAME})?(?:\s|{_MARKUP})*")
_AFTER_CALL = re.compile(rf"(?:\s|[;,)}}>\]]|{_MARKUP})*")
_AFTER_LAST_CALL = re.compile(rf"{_AFTER_CALL.pattern}(?:<[/|]?[\w|-]*>?)?\s*")  # what closes it may be cut off
_BETWEEN_CALLS = re.compile(_AFTER_CALL.pattern + _BEFORE_CALL.pattern)
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
        if not kept.strip():
            return self._may_vanish().fullmatch(text) is not None
        before = _AT_EDGE if self.before is None else _AFTER_CALL
        after = _AT_EDGE if self.after is None else _BEFORE_CALL
        at = text.find(kept)
        while at >= 0:
            if before.fullmatch(text, 0, at) and after.fullmatch(text, at + len(kept)):
                return True
            at = text.find(kept, at + 1)
        return False

    def _may_vanish(self) -> re.Pattern[str]:
        if self.before is None:
            return _AT_EDGE if self.after is None else _BEFORE_CALL
        return _AFTER_LAST_CALL if self.after is None else _BETWEEN_CALLS


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


def _is_subsequence(kept: str, text: str) -> bool:
    characters = iter(text)
    return all(character in characters for character in "".join(kept.split()).replace("\\", ""))
