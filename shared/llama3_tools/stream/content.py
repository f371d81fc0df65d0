"""What becomes of text: the content (rules 3, 4, 5 and 10), the reasoning, and the events that carry both.

Text goes in as it is settled, in pieces of any size; calls go in when they are complete. What may still turn
out to be the space, the protocol tokens or the delimiters around a call is held back until the next piece tells.
"""

from __future__ import annotations

import re
from itertools import groupby

from llama3_tools.stream.reasoning import Reasoning
from llama3_tools.text.growing_text import GrowingText
from llama3_tools.values import Event, ReasoningDelta, TextDelta, ToolCall, ToolCallReady

__all__ = ["DELIMITERS", "Content"]

_LONGEST_TAIL = 4096

DELIMITERS = re.compile(r"[\s;,]*")


class _Token(str):
    """A protocol token: prose inside prose, gone at the edges and next to a call (rule 10)."""

    __slots__ = ()


_START, _PROSE, _CALL, _DELIMITERS = range(4)
"""Where text stands: at the start of the output, where so far there is nothing but white space and protocol tokens; in
a segment of text; right after a call, where white space and one `;` vanish (rule 3); or further on among `;`, `,` and
white space, which vanish if a call follows and are prose if text does."""


class Content:
    """The content of one model turn, as it grows.

    >>> content = Content()
    >>> content.text("Hello "); content.text(" you "); content.end(); content.take_events()
    [TextDelta(text='Hello  you ')]
    """

    __slots__ = (
        "_fresh",
        "_has_text",
        "_is_cut",
        "_is_reasoning",
        "_is_stripped",
        "_longest_tail",
        "_pieces",
        "_place",
        "_reasoning",
        "_semicolon_gone",
        "_tail",
        "tool_calls",
    )

    def __init__(self, *, is_kept: bool = True) -> None:
        self.tool_calls: list[ToolCall] = []
        self._is_cut = False
        """Whether something was taken out: a call, an envelope that could have held one, or reasoning."""
        self._fresh: list[str | ToolCall | ReasoningDelta] = []
        """What has become certain since the last events: text, and what else there is in between."""
        self._pieces = GrowingText() if is_kept else None
        """The text so far, where it is kept: the events have it too."""
        self._has_text = False
        self._reasoning = Reasoning(is_kept=is_kept)
        self._is_reasoning = False
        self._is_stripped = False
        """Whether the text that comes next loses the white space at its start, as reasoning stood before it."""
        self._tail: list[str] = []
        self._longest_tail = _LONGEST_TAIL
        self._place = _START
        self._semicolon_gone = False

    def text(self, piece: str) -> None:
        """Take text that is no part of a call."""
        if self._place != _PROSE or self._is_stripped:
            piece = self._begin_segment(piece)
            if not piece:
                return
        body = piece.rstrip()
        if not body:
            if piece:
                self._hold(piece)
            return
        if self._tail:
            self._tail.append(body)
            self._emit("".join(self._tail))
            self._tail = []
        else:
            self._emit(body)
        if len(body) < len(piece):
            self._tail = [piece[len(body) :]]

    def token(self, token: str) -> None:
        """Take a protocol token."""
        if self._place == _CALL:
            return
        self._is_stripped = False
        if self._place != _START:  # where it vanishes, whatever follows
            self._hold(_Token(token))

    def call(self, call: ToolCall) -> None:
        """Take a call: space, protocol tokens and delimiters before it vanish."""
        self.begin_call()
        self.tool_calls.append(call)
        self._fresh.append(call)

    def message(self, message: str) -> None:
        """Take the message of an envelope, a segment of its own (rule 12)."""
        self.begin_call()
        message = message.strip()
        if message:
            self._emit(f" {message}" if self._has_text else message)

    def begin_call(self) -> None:
        """End the segment before a call, or before an envelope."""
        self._tail = []
        self._place = _CALL
        self._semicolon_gone = False
        self._is_cut = True

    def reasoning(self, piece: str) -> None:
        """Take reasoning that is split off: the next piece of a thought, or the first."""
        if not self._is_reasoning:
            self._begin_reasoning()
        fresh = self._reasoning.add(piece)
        if fresh:
            self._fresh.append(ReasoningDelta(fresh))

    def end_reasoning(self) -> None:
        """End the thought."""
        self._is_reasoning = False

    def end(self) -> None:
        """Take the end of the output: protocol tokens vanish; white space stays only where no call was."""
        tail = self._tail
        if not self._is_cut:
            self._emit("".join(held for held in tail if not isinstance(held, _Token)))
        elif self._place == _DELIMITERS:
            self._emit((" " if self._has_text else "") + "".join(_stripped(tail)))

    def take_events(self) -> list[Event]:
        """Give the events since the last time, neighbouring text in one delta."""
        fresh = self._fresh
        if not fresh:
            return []
        self._fresh = []
        events: list[Event] = []
        texts: list[str] = []
        for one in fresh:
            if isinstance(one, str):
                texts.append(one)
                continue
            if texts:
                events.append(TextDelta("".join(texts)))
                texts = []
            events.append(ToolCallReady(one) if isinstance(one, ToolCall) else one)
        if texts:
            events.append(TextDelta("".join(texts)))
        return events

    @property
    def content(self) -> str | None:
        """The content so far (rules 4 and 5), or `None` where it is not kept."""
        if self._pieces is None:
            return None
        text = self._pieces.joined()
        self._pieces = GrowingText(text)  # so that there is one copy
        return (text.lstrip() or None) if self._is_cut else text

    @property
    def all_reasoning(self) -> str | None:
        """The reasoning so far, or `None` where there is none."""
        return self._reasoning.text

    @property
    def is_after_call(self) -> bool:
        """Whether nothing but delimiters came since the last call."""
        return self._place in (_CALL, _DELIMITERS)

    def _begin_reasoning(self) -> None:
        """Begin a thought. With the white space around it, it is one space; none where there is no text before."""
        self._is_reasoning = self._is_cut = True
        self._reasoning.begin()
        if self._place == _START:
            self._tail = []
        elif self._place != _CALL:
            self._tail = [*_stripped(self._tail), " "]
        self._is_stripped = True

    def _begin_segment(self, piece: str) -> str:
        """Take text that may be the first of a segment; give what of it is, or nothing as long as that is open."""
        if self._place == _CALL:
            piece = self._without_delimiter(piece)
        elif self._is_stripped:
            piece = piece.lstrip()
        if not piece:
            return ""
        self._is_stripped = False
        if self._place == _CALL:
            self._place = _DELIMITERS
        if DELIMITERS.fullmatch(piece) if self._place == _DELIMITERS else piece.isspace():
            self._hold(piece)
            return ""
        if self._place == _DELIMITERS and self._has_text:
            self._tail.insert(0, " ")
        self._place = _PROSE
        return piece

    def _without_delimiter(self, piece: str) -> str:
        piece = piece.lstrip()
        if piece.startswith(";") and not self._semicolon_gone:
            self._semicolon_gone = True
            piece = piece[1:].lstrip()
        return piece

    def _hold(self, piece: str) -> None:
        """Hold back white space, delimiters or a token: many joined, as each costs fifty bytes beside its text."""
        self._tail.append(piece)
        if len(self._tail) > self._longest_tail:
            latest = self._tail[-_LONGEST_TAIL:]
            self._tail[-_LONGEST_TAIL:] = [kind("".join(held)) for kind, held in groupby(latest, type)]
            self._longest_tail = len(self._tail) + _LONGEST_TAIL

    def _emit(self, text: str) -> None:
        if text:
            self._has_text = True
            self._fresh.append(text)
            if self._pieces is not None:
                self._pieces.add(text)


def _stripped(tail: list[str]) -> list[str]:
    """Give what is held back without the white space and the protocol tokens at its end."""
    kept = list(tail)
    while kept and (isinstance(kept[-1], _Token) or not kept[-1].rstrip()):
        kept.pop()
    return [*kept[:-1], kept[-1].rstrip()] if kept else []
