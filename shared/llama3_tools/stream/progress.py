"""How far a call has come that is being written, for a display."""

from __future__ import annotations

from llama3_tools.calls.attempts import attempted_name
from llama3_tools.stream.candidate import Candidate
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

    def events(self, candidate: Candidate | None, calls: list[tuple[int, int, bool]]) -> list[Event]:
        """Return what is new.

        Args:
            candidate: what is being read, if anything is.
            calls: where calls stand: start, end, and whether each was made, rather than held back by a wrapper.
        """
        events: list[Event] = []
        if self._start >= 0 and (candidate is None or candidate.start != self._start):
            made = [is_made for start, end, is_made in calls if start <= self._start < end]
            if not made or made[0]:
                events.append(CallProgress(self._name, self._length, "ready" if made else "withdrawn"))
                self._start = -1
        if candidate is None or candidate.flows or (self._start >= 0 and self._start != candidate.start):
            return events
        length = sum(map(len, candidate.kept))
        if self._start < 0:
            name = candidate.name or attempted_name("".join(candidate.kept))
            if name is None:
                return events
            self._start, self._name = candidate.start, name
        if length != self._length or not events:
            self._length = length
            events.append(CallProgress(self._name, length, "writing"))
        return events
