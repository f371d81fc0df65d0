"""How far a call has come that is being written, for a display."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from llama3_tools.calls.attempts import LONGEST_LOOK, name_so_far
from llama3_tools.stream.candidate import Candidate, Code
from llama3_tools.stream.turn import Turn, tool_named
from llama3_tools.stream.wrappers import Held, Queue
from llama3_tools.values import CallProgress, Event, ToolCall

__all__ = ["Progress"]


@dataclass(slots=True)
class _Begun:
    """A candidate that was told of, and has neither become a call nor turned out to be none."""

    candidate: Candidate | Code
    name: str
    length: int = 0
    """How many characters of it were told of."""

    @property
    def end(self) -> int:
        """The offset after all of it that was read; of code, which is kept no longer, there is none."""
        return sys.maxsize if isinstance(self.candidate, Code) else self.candidate.start + self.candidate.kept.length


class Progress:
    """Follows the candidate that is being written, and those that wait for the wrappers around them."""

    __slots__ = ("_made", "_nameless", "_queue", "_waiting", "_writing")

    def __init__(self) -> None:
        self._writing: _Begun | None = None
        self._waiting: list[_Begun] = []
        self._queue: Queue | None = None
        """The queue in which they wait: the turn begins another one when it deals this one out."""
        self._made = 0
        """How many calls there were after the last chunk."""
        self._nameless: Candidate | Code | None = None
        """The candidate that is long, and has no name where one is looked for."""

    def events(self, turn: Turn) -> list[Event]:
        """Return what is new, after a chunk or at the end of the turn."""
        candidate = _written_now(turn)
        ended: list[_Begun] = []
        if self._queue is not turn.queue:
            ended, self._waiting, self._queue = self._waiting, [], turn.queue
        if self._writing is not None and self._writing.candidate is not candidate:
            ended.append(self._writing)
            self._writing = None
        events = self._told_of_ended(turn, ended)
        if candidate is not None and self._writing is None:
            name = self._name(turn, candidate)
            self._writing = None if name is None else _Begun(candidate, name)
        writing = self._writing
        if writing is not None and writing.length != writing.candidate.kept.length:
            writing.length = writing.candidate.kept.length
            events.append(CallProgress(writing.name, writing.length, "writing"))
        return events

    def _told_of_ended(self, turn: Turn, ended: list[_Begun]) -> list[Event]:
        """Say what became of candidates that ended; those that wait for a wrapper are kept."""
        events: list[Event] = []
        calls, at = turn.content.tool_calls, self._made
        self._made = len(calls)
        for begun in ended:
            start = begun.candidate.start
            if _is_held(turn, start):
                self._waiting.append(begun)
                continue
            while at < len(calls) and calls[at].span[1] <= start:
                at += 1
            is_ready = _is_made_of(begun, calls, at) and not turn.rejections.has_any_at(start)
            events.append(CallProgress(begun.name, begun.length, "ready" if is_ready else "withdrawn"))
        return events

    def _name(self, turn: Turn, candidate: Candidate | Code) -> str | None:
        """Return the name of the tool that a candidate calls, if it is known by now."""
        if isinstance(candidate, Candidate) and candidate.is_pythonic:
            return tool_named(turn, candidate.name or "") or candidate.name
        if candidate.tool is not None or candidate is self._nameless:
            return candidate.tool
        name = name_so_far(candidate.text, lenient=turn.reader.lenient)
        if name is None and candidate.kept.length > LONGEST_LOOK:
            self._nameless = candidate
        return name


def _written_now(turn: Turn) -> Candidate | Code | None:
    """Return what is being read, or may be mended, unless it is too long for a call."""
    candidate = turn.mending[1] if turn.mending is not None else turn.candidate or turn.code
    return None if candidate is None or candidate.flows else candidate


def _is_held(turn: Turn, start: int) -> bool:
    """Return whether the call that was begun at an offset waits: one that has just ended is among the last."""
    held = (part for part in reversed(turn.queue) if isinstance(part, Held))
    return any(one.start <= start < one.end for one in held)


def _is_made_of(begun: _Begun, calls: Sequence[ToolCall], at: int) -> bool:
    """Return whether the call at an index, if there is one, was made of a candidate."""
    return at < len(calls) and calls[at].span[0] < begun.end and calls[at].name == begun.name
