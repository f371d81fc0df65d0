"""What becomes of text: the content (rules 3, 4, 5 and 10), the reasoning, and the events that carry both.

Text goes in as it is settled, in pieces of any size; calls go in when they are complete. What may still turn out to be
the space, the protocol tokens or the delimiters around a call is held back until the next piece tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from itertools import groupby

from llama3_tools.stream.delimiters import DELIMITER, DELIMITERS
from llama3_tools.stream.reasoning import Reasoning
from llama3_tools.text.growing_text import GrowingText
from llama3_tools.values import Event, ReasoningDelta, TextDelta, ToolCall, ToolCallReady

__all__ = ["Content", "Token"]

_MOST_DELIMITERS = 64
_MANY = 256


class _Place(Enum):
    """Where text stands."""

    START = "before any text or call: white space and protocol tokens"
    PROSE = "in a segment of text"
    CALL = "after a call, with nothing but white space and delimiters since"


# As names of their own, as `stream/states.py` says.
_START, _PROSE, _CALL = _Place


class Token(str):
    """A protocol token: prose inside prose, gone at the edges and next to a call (rule 10)."""

    __slots__ = ()


class Content:
    """The content of one model turn, as it grows.

    >>> content = Content()
    >>> content.text("Hello "); content.text(" you "); content.end(); content.take_events()
    [TextDelta(text='Hello  you ')]
    """

    __slots__ = (
        "_fresh",
        "_has_text",
        "_held",
        "_is_cut",
        "_is_stripped",
        "_pieces",
        "_place",
        "_reasoning",
        "_short",
        "tool_calls",
    )

    def __init__(self, *, is_kept: bool = True) -> None:
        self.tool_calls: list[ToolCall] = []
        self._fresh: list[str | ToolCall | ReasoningDelta] = []
        """What has become certain since the last events."""
        self._pieces = GrowingText() if is_kept else None
        """The text of the events so far, if it is kept."""
        self._held: list[str] = []
        """White space, tokens and delimiters, which what follows decides on."""
        self._reasoning: Reasoning | None = None
        self._has_text = False
        self._is_cut = False
        """Whether something was taken out: a call, an envelope, or reasoning."""
        self._is_stripped = False
        """Whether the text that comes next loses the white space at its start, as reasoning stood before it."""
        self._place = _START
        self._short = 0
        """How many pieces were held back since they were joined."""

    @property
    def is_after_call(self) -> bool:
        """Whether nothing but white space and delimiters came since the last call."""
        return self._place is _CALL

    def text(self, piece: str) -> None:
        """Take text that is no part of a call."""
        if self._is_stripped:
            piece = piece.lstrip()
            self._is_stripped = not piece
        if self._place is not _PROSE:
            piece = self._begin_segment(piece)
        body = piece.rstrip()
        if not body:
            if piece:
                self._hold(piece)
            return
        self._place = _PROSE
        self._has_text = True
        space = piece[len(body) :]
        self._fresh.append("".join([*self._held, body]) if self._held else body)
        self._held = [space] if space else []

    def token(self, token: str) -> None:
        """Take a protocol token."""
        if self._place is _START:
            return
        if self._place is _CALL and not DELIMITER.sub("", "".join(self._held), count=1):
            self._held = []
            return
        self._is_stripped = False
        self._hold(Token(token))

    def calls(self, calls: Iterable[ToolCall | str]) -> None:
        """Take calls, and messages of envelopes, each a segment of its own (rule 12).

        Space, protocol tokens and delimiters before them vanish.
        """
        self._held = []
        self._place = _CALL
        self._is_cut = True
        self._is_stripped = False
        for call in calls:
            if type(call) is ToolCall:
                self.tool_calls.append(call)
                self._fresh.append(call)
            elif message := call.strip():  # type: ignore[union-attr]  # there are no other calls
                self._emit(f" {message}" if self._has_text else message)

    def begin_thought(self) -> None:
        """Begin reasoning that is split off: with the white space around it, it is one space in the text."""
        self._is_cut = True
        self._reasoning = self._reasoning or Reasoning(is_kept=self._pieces is not None)
        self._reasoning.begin()
        if self._place is _START:
            self._held = []
        elif self._held or self._place is _PROSE:
            self._held = [*_stripped(self._held), " "]
        self._is_stripped = True

    def reasoning(self, piece: str) -> None:
        """Take the next piece of a thought."""
        assert self._reasoning is not None  # noqa: S101  # a thought has begun
        fresh = self._reasoning.add(piece)
        if fresh:
            self._fresh.append(ReasoningDelta(fresh))

    def end(self) -> None:
        """Take the end of the output: protocol tokens vanish; white space stays only if no call was made."""
        if not self._held:
            return
        rest = "".join(piece for piece in self._held if type(piece) is str)
        if not self._is_cut:
            self._emit(rest)
        elif self._place is _CALL:
            rest = DELIMITER.sub("", rest, count=1).rstrip()
            if rest:
                self._emit(f" {rest}" if self._has_text else rest)

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
                events.append(self._delta(texts))
                texts = []
            events.append(ToolCallReady(one) if type(one) is ToolCall else one)  # type: ignore[arg-type]
        if texts:
            events.append(self._delta(texts))
        return events

    def _delta(self, texts: list[str]) -> TextDelta:
        text = "".join(texts)
        if self._pieces is not None:
            self._pieces.add(text)
        return TextDelta(text)

    def whole(self) -> str | None:
        """Return the content (rules 4 and 5) at the end, and keep it no longer; `None` if it was not kept."""
        if self._pieces is None:
            return None
        text = "".join([self._pieces.joined(), *(one for one in self._fresh if type(one) is str)])
        self._pieces = None
        return (text.lstrip() or None) if self._is_cut else text

    @property
    def all_reasoning(self) -> str | None:
        """The reasoning so far, or `None` if there is none."""
        return self._reasoning.text if self._reasoning else None

    def _begin_segment(self, piece: str) -> str:
        """Take text that may be the first of a segment; return what of it is, if that is known."""
        if self._place is _START:
            return piece
        if not self._held:
            piece = piece.lstrip()
        if not piece:
            return ""
        self._held.append(piece)
        if DELIMITERS.fullmatch(piece) and self._holds_few_delimiters():
            return ""
        whole = DELIMITER.sub("", "".join(self._held), count=1)
        self._held = []
        self._place = _PROSE
        return f" {whole}" if self._has_text else whole

    def _hold(self, piece: str) -> None:
        """Hold back white space or a token: many pieces are joined, as each costs fifty bytes beside its text."""
        held = self._held
        held.append(piece)
        self._short += 1
        if self._short > _MANY:
            latest = held[-_MANY:]
            held[-_MANY:] = [kind("".join(group)) for kind, group in groupby(latest, type)]
            self._short = 0

    def _holds_few_delimiters(self) -> bool:
        """Return whether what is held back may still be delimiters: more of them are prose (rule 14)."""
        held = "".join(self._held)
        return held.count(";") + held.count(",") <= _MOST_DELIMITERS

    def _emit(self, text: str) -> None:
        if text:
            self._has_text = True
            self._fresh.append(text)


def _stripped(held: list[str]) -> list[str]:
    """Return what is held back without the white space and the protocol tokens at its end."""
    kept = list(held)
    while kept and (isinstance(kept[-1], Token) or not kept[-1].rstrip()):
        kept.pop()
    return [*kept[:-1], kept[-1].rstrip()] if kept else []
