"""How far a call has come that is being written, for a display."""

from __future__ import annotations

from llama3_tools.calls.attempts import attempted_name
from llama3_tools.stream.turn import Turn
from llama3_tools.stream.wrappers import Held
from llama3_tools.values import CallProgress, Event

__all__ = ["Progress"]


class Progress:
    """Follows one candidate after the other."""

    __slots__ = ("_length", "_name", "_start")

    def __init__(self) -> None:
        self._start = -1
        """The offset of the call that is followed; -1 if none is."""
        self._name = ""
        self._length = 0

    def events(self, turn: Turn) -> list[Event]:
        """Return what is new, after a chunk or at the end of the turn."""
        events: list[Event] = []
        candidate = turn.candidate
        if self._start >= 0 and (candidate is None or candidate.start != self._start):
            is_ready = _is_made(turn, self._start)
            if is_ready or not _is_held(turn, self._start):
                events.append(CallProgress(self._name, self._length, "ready" if is_ready else "withdrawn"))
                self._start = -1
        if candidate is None or candidate.flows or (self._start >= 0 and self._start != candidate.start):
            return events
        length = candidate.kept.length
        if self._start < 0:
            name = candidate.name or candidate.tag or attempted_name(candidate.text)
            if name is None:
                return events
            self._start, self._name = candidate.start, name
        if length != self._length or not events:
            self._length = length
            events.append(CallProgress(self._name, length, "writing"))
        return events


def _is_made(turn: Turn, start: int) -> bool:
    """Return whether a call was made of what was begun at an offset: the next one, if it was not rejected itself."""
    calls = turn.content.tool_calls
    return bool(calls) and calls[-1].span[1] > start and not turn.rejections.has_any_at(start)


def _is_held(turn: Turn, start: int) -> bool:
    held = (part.what for part in turn.queue if isinstance(part.what, Held))
    return any(one.start <= start < one.end for one in held)
