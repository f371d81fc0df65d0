"""The content, the reasoning, and the events for them and for the calls (principle 2).

What touches a call is dropped with it. So white space, markup, delimiters and waiting calls are held back until
more text has come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from llama3_tools.reader.attempts import Evidence
from llama3_tools.reader.markup import (
    finditer_closing_tags,
    match_closing_markup,
    match_tokens_at_start,
    search_markup_for_calls,
    search_tokens_at_end,
)
from llama3_tools.text.growing_text import GrowingText
from llama3_tools.values import Event, ReasoningDelta, TextDelta, ToolCall, ToolCallReady

_MANY = 256
_TAIL = 256
_BETWEEN_THOUGHTS = "\n\n"
_OPENERS = {"]": "[", "}": "{", ")": "(", ">": "<"}


class Last(Enum):
    """What came last, apart from pieces that are held back."""

    NOTHING = "nothing yet"
    TEXT = "text"
    CALL = "a call that was made, or waits"
    THOUGHT = "reasoning that was split off"


# As separate names: a member of an enum takes ten times as long to look up.
NOTHING, TEXT, CALL, THOUGHT = Last


class Trace(NamedTuple):
    """The places of an output's pieces that stayed, to show them to a person."""

    kept: list[tuple[int, int]]
    quoted: list[tuple[int, int]]


@dataclass(slots=True, eq=False)
class Waiting:
    """A call that is complete, and waits for what follows (principle 5)."""

    call: ToolCall
    raw: str
    """What was written, which is text if it turns out to be no call."""
    is_sure: bool
    """Whether only the end of its wrapper is waited for."""
    evidence: Evidence
    """What is known of it, if it turns out to be no call."""


class Content:
    """The content of one model turn, as it grows.

    >>> content = Content()
    >>> content.text("Hello ", 6); content.hold("<b>"); content.text("you ", 13); content.end(13); content.take_events()
    [TextDelta(text='Hello <b>you ')]
    """

    def __init__(self, *, is_kept: bool = True) -> None:
        self.calls: list[ToolCall] = []
        self.waiting: list[Waiting] = []
        """The calls that wait; each is among the held pieces, too."""
        self.held_from = 0
        """The offset after the last text or call: everything from there on is held."""
        self._trace: Trace | None = None
        self._fresh: list[str | ToolCall | ReasoningDelta] = []
        """What has become certain since the last events."""
        self._held: list[str | Waiting] = []
        """White space, markup, delimiters and calls: what follows decides whether they are text."""
        self._opening = -1
        """The index of the first held piece that opens something: it and the rest are text, unless a call follows."""
        self._kept = GrowingText() if is_kept else None
        """The text so far, if it is kept."""
        self._thoughts: _Thoughts | None = None
        self.last = NOTHING
        self._last_settled = NOTHING
        """What came last, waiting calls aside, too."""
        self._has_text = False
        self._is_cut = False
        """Whether something was taken out: a call, an envelope, or reasoning."""
        self._tail = ""
        """The end of the text."""

    def text(self, piece: str, end: int) -> None:
        """Add text up to an offset. What is held before it becomes text, too, except what goes with a call."""
        is_segment = False
        if self._held:
            goes = self._goes()
            piece = "".join([*self._held, piece])[goes:]  # type: ignore[list-item]  # calls that wait are settled before
            self._held, self._opening = [], -1
        self.held_from = end
        if self.last is not TEXT:
            if self.last is not NOTHING:
                is_segment = self._has_text
                piece = piece.lstrip()
            if piece:
                self.last = TEXT
        body = piece.rstrip()
        if len(body) < len(piece):
            self._held.append(piece[len(body) :])
            end -= len(piece) - len(body)
        if body:
            self._emit(f" {body}" if is_segment else body, end, len(body))

    def hold(self, piece: str, *, opens: bool = False) -> None:
        """Hold white space, markup or delimiters; perhaps the beginning of something."""
        held = self._held
        if opens and self._opening < 0:
            self._opening = len(held)
        held.append(piece)
        if len(held) > _MANY + max(self._opening, 0) and all(type(part) is str for part in held[-_MANY:]):
            held[-_MANY:] = ["".join(held[-_MANY:])]  # type: ignore[arg-type]  # each costs more than its text

    def wait(self, waiting: Waiting) -> None:
        """Hold a call."""
        self._held.append(waiting)
        if not self.waiting:
            self._last_settled, self.last = self.last, CALL
        self.waiting.append(waiting)
        self.held_from = waiting.call.span[1]

    def confirm(self) -> None:
        """Mark the calls that wait as certain: what follows allows it."""
        for waiting in self.waiting:
            waiting.is_sure = True

    def settle(self, stays_text: Callable[[Waiting], bool]) -> None:
        """Make the waiting calls (at least one), except those that stay text."""
        self.last = self._last_settled
        held, opening = self._held, self._opening
        self._held, self._opening, self.waiting = [], -1, []
        for index, part in enumerate(held):
            if type(part) is not Waiting:
                self.hold(part, opens=index == opening)  # type: ignore[arg-type]
            elif stays_text(part):
                self.text(part.raw, part.call.span[1])
            else:
                self.call(part.call)

    def call(self, call: ToolCall) -> None:
        """Add a call."""
        self.take_out(call.span[1])
        self.calls.append(call)
        self._fresh.append(call)

    def take_out(self, end: int) -> None:
        """Leave out what ends at an offset, a call or an envelope, and the held pieces before it."""
        self._held, self._opening, self.held_from = [], -1, end
        self.last, self._is_cut = CALL, True

    def message(self, text: str) -> None:
        """Add the message of an envelope, as a separate segment."""
        text = text.strip()
        if text:
            self._add(f" {text}" if self._has_text else text)

    @property
    def is_bold(self) -> bool:
        """Whether the text has opened bold, and not closed it."""
        return self._tail.count("**") % 2 == 1

    def may_close(self, bracket: str) -> bool:
        """Return whether a closing bracket after a call closes nothing in the text, and so goes with the call."""
        opener = _OPENERS[bracket]
        return self._tail.count(opener) <= self._tail.count(bracket)

    def keep_trace(self, *, is_quoted: bool) -> Trace:
        """Begin to note where pieces are, in quotation at first or not; return the record of them."""
        self._trace = trace = Trace([], [(0, 0)] if is_quoted else [])
        return trace

    def begin_quotation(self, offset: int) -> None:
        """Note where a region of quotation begins."""
        if self._trace is not None:
            self._trace.quoted.append((offset, offset))

    def end_quotation(self, offset: int) -> None:
        """Note where it ends."""
        if self._trace is not None:
            self._trace.quoted[-1] = self._trace.quoted[-1][0], offset

    def begin_thought(self, offset: int) -> None:
        """Begin reasoning that is split off: with the white space around it, it is one space in the text."""
        self._is_cut = True
        self._begin_thought()
        if self._held and "".join(self._held).strip():  # type: ignore[arg-type]  # no call waits here
            self.text("", offset)
        self._held, self._opening, self.last = [], -1, THOUGHT

    def thought(self, piece: str, end: int) -> None:
        """Add the next piece of a thought."""
        self._add_thought(piece)
        if self._trace is not None and (body := piece.strip()):
            start = end - len(piece.lstrip())
            self._trace.kept.append((start, start + len(body)))

    def envelope_thought(self, text: str) -> None:
        """Add the thought of an envelope."""
        self._begin_thought()
        self._add_thought(text)

    def _begin_thought(self) -> None:
        if self._thoughts is None:
            self._thoughts = _Thoughts(is_kept=self._kept is not None)
        self._thoughts.begin()

    def _add_thought(self, piece: str) -> None:
        assert self._thoughts is not None  # noqa: S101  # one has begun
        if fresh := self._thoughts.add(piece):
            self._fresh.append(ReasoningDelta(fresh))

    def end(self, end: int) -> None:
        """End the output: drop protocol tokens, and after a call white space and closing markup."""
        held = "".join(self._held)  # type: ignore[arg-type]  # no call waits at the end
        start = self._goes(is_end=True)
        tokens = search_tokens_at_end(held, start)
        rest = held[start:] if tokens is None else held[start : tokens.start()]
        if self._is_cut:
            rest = rest.rstrip()
        self._held = []
        if rest:
            is_segment = self._has_text and self.last in (CALL, THOUGHT)
            self._emit(f" {rest}" if is_segment else rest, end - len(held) + start + len(rest), len(rest))

    def take_events(self) -> list[Event]:
        """Return the events since the last time, neighbouring text in one delta."""
        fresh = self._fresh
        if not fresh:
            return []
        self._fresh = []
        events: list[Event] = []
        texts: list[str] = []
        for one in fresh:
            if type(one) is str:
                texts.append(one)
                continue
            if texts:
                events.append(TextDelta("".join(texts)))
                texts = []
            events.append(ToolCallReady(one) if type(one) is ToolCall else one)  # type: ignore[arg-type]
        if texts:
            events.append(TextDelta("".join(texts)))
        return events

    def whole(self) -> str | None:
        """Return the content at the end; `None` if there is none or it was not kept."""
        if self._kept is None:
            return None
        text = self._kept.joined()
        return (text.lstrip() or None) if self._is_cut else text

    @property
    def reasoning(self) -> str | None:
        """The reasoning so far, or `None` if there is none."""
        return self._thoughts.text if self._thoughts else None

    def _goes(self, *, is_end: bool = False) -> int:
        """Return how many held characters to drop: those that belong to the call before them, or leading tokens."""
        held, last = self._held, self.last
        if not held or last is TEXT:
            return 0
        touching = "".join(held if self._opening < 0 else held[: self._opening])  # type: ignore[arg-type]  # calls that wait are settled before
        if last is NOTHING:
            return match_tokens_at_start(touching).end()  # type: ignore[union-attr]  # it may match nothing
        if last is CALL:
            match = match_closing_markup(f"{touching}\n" if is_end else touching)
            end = self._before_own_end(touching[: match.end()])  # type: ignore[union-attr]  # it may match nothing
        else:
            end = 0
        return len(touching) - len(touching[end:].lstrip())

    def _before_own_end(self, closing: str) -> int:
        """Return how much closing markup comes before the end of a tag that is open in the text, such as `</b>`.

        The tags of calls are left open often: `<tool_call>{bad} <tool_call>{good}</tool_call>`.
        """
        for tag in finditer_closing_tags(closing):
            is_open = self._tail.count(f"<{tag[1]}") > self._tail.count(tag[0])
            if is_open and search_markup_for_calls(f"<{tag[1]}") is None:
                return tag.start()
        return len(closing)

    def _emit(self, text: str, end: int, length: int) -> None:
        """Emit text as content. So many of its last characters are in the output, up to an offset."""
        self._add(text)
        self._tail = (self._tail + text)[-_TAIL:]
        if self._trace is not None:
            self._trace.kept.append((end - length, end))

    def _add(self, text: str) -> None:
        self._has_text = True
        self._fresh.append(text)
        if self._kept is not None:
            self._kept.add(text)


class _Thoughts:
    """The reasoning of one turn: stripped thoughts, with a blank line between two."""

    __slots__ = ("_has_text", "_kept", "_tail")

    def __init__(self, *, is_kept: bool) -> None:
        self._kept = GrowingText() if is_kept else None
        self._has_text = False
        self._tail: list[str] | None = None
        """White space since the last text of this thought; `None` before any."""

    def begin(self) -> None:
        self._tail = None

    def add(self, piece: str) -> str:
        """Add the next piece of a thought; return what is certain now: white space waits for what follows."""
        body = piece.rstrip()
        if not body:
            if self._tail is not None:
                self._tail.append(piece)
            return ""
        if self._tail is None:
            before, written = [_BETWEEN_THOUGHTS] if self._has_text else [], body.lstrip()
        else:
            before, written = self._tail, body
        fresh = "".join((*before, written))
        self._tail = [piece[len(body) :]]
        self._has_text = True
        if self._kept is not None:
            self._kept.add(fresh)
        return fresh

    @property
    def text(self) -> str | None:
        return (self._kept.joined() or None) if self._kept else None
