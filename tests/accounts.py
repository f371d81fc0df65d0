"""Accounts for every character of an output (principle 2): the text out is the text in, without calls and markup.

Calls cut an output into gaps. Of each gap one stretch is kept as it is, and what is before and after that may
vanish there: markup, delimiters and white space next to a call, protocol tokens there and at the edges of the output.
This is told here from what came out, without the code that put it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkings import flow_of
from llama3_tools import Event, Extractor, ReasoningDelta, ToolCall

_HEADER = r"<\|(?:start_header_id|header_start)\|>(?:[^<>|]{0,32}<\|(?:end_header_id|header_end)\|>)?"
_IM = r"<\|im_start\|>(?:assistant(?![A-Za-z])[ \t]{0,4})?(?:\r?\n)?"
_TOKEN = rf"{_HEADER}|{_IM}|<[|｜][^<>|｜\n]{{1,40}}[|｜]>"  # noqa: RUF001 - DeepSeek's bar
_OPENING = (
    r"<[A-Za-z][^<>{\n]{0,62}>|<[a-z_]{4,24}[ \n]{0,4}|<!--|<\?[^<>\n{]{0,60}>|\[/?[A-Z][A-Z_]{1,30}\]|\[|\*\*|>>>"
    r"|functools(?=\[)|[`~]{3,16}[^\n`{\[<]*"
)
_CLOSING = r"</[A-Za-z][^<>{\n]{0,60}>|--!?>|<\?[^<>\n{]{0,60}>|\[/?[A-Z_]{1,30}\]|\*\*|[`~]{3,16}[ \t]*|[;,\])}>]"
_EDGE = re.compile(rf"(?:\s|{_TOKEN})*")
_BEFORE_CALL = re.compile(rf"(?:[\s;,]|{_TOKEN}|{_OPENING}|{_CLOSING})*")
_AFTER_CALL = re.compile(rf"(?:\s|{_TOKEN}|{_CLOSING})*")
_AROUND_THOUGHTS = re.compile(rf"\s|{_TOKEN}|</?(?:think|thinking|reasoning|scratch_pad)>", re.IGNORECASE)
_CUT_OFF_TAG = re.compile(r"</?[a-z_]{0,11}\Z", re.IGNORECASE)
_ENVELOPE = re.compile(r"[\"']tool_calls?[\"']\s*:")


def all_is_accounted_for(text: str, extractor: Extractor) -> None:
    """Fail if what a stream returns of a text is not all of it, or more."""
    stream = extractor.stream()
    splits = extractor.options.split_reasoning
    for gap in _gaps(text, stream.feed(text) + stream.flush(), splits=splits):
        if not gap.is_accounted_for(text):
            raise AssertionError(f"nothing accounts for {gap.text!r}, of which {gap.kept!r} was kept")


class _Gap:
    """The text between two calls, and what was kept of it."""

    def __init__(self, text: str, kept: str, *, before: ToolCall | None, after: ToolCall | None, splits: bool) -> None:
        self.text = text
        self.kept = kept.strip() if before or after else kept
        self.before = before
        self.after = after
        self.splits = splits

    def is_accounted_for(self, whole: str) -> bool:
        """Return whether what was kept is in the gap, and all around it may vanish."""
        text, kept = self.text, self.kept
        if _ENVELOPE.search(text) or "envelope" in (call.format for call in (self.before, self.after) if call):
            return kept == text or _is_subsequence(kept, whole.replace("\\n", "\n"))  # a message comes after its calls
        if self.splits:
            text, kept = (_AROUND_THOUGHTS.sub("", one) for one in (text, kept))
            if self.after is None:
                text, kept = (_CUT_OFF_TAG.sub("", one) for one in (text, kept))
        before = _EDGE if self.before is None else _AFTER_CALL
        after = _EDGE if self.after is None else _BEFORE_CALL
        if not kept.strip():
            return re.compile(before.pattern + after.pattern).fullmatch(text) is not None
        at = text.find(kept)
        while at >= 0:
            if before.fullmatch(text, 0, at) and after.fullmatch(text, at + len(kept)):
                return True
            at = text.find(kept, at + 1)
        return False


def _gaps(text: str, events: list[Event], *, splits: bool) -> Iterator[_Gap]:
    """Yield what is between calls, thoughts that are split off with the rest."""
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
