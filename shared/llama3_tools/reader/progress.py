"""How much of a call has been written, for a display (principle 8)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from llama3_tools.limits import LONGEST_NAME
from llama3_tools.reader.candidates import Candidate
from llama3_tools.reader.json_calls import LONGEST_LOOK
from llama3_tools.reader.turn import Turn
from llama3_tools.reader.window import Window
from llama3_tools.values import CallProgress, Event

_KEY_OF_NAME = r"[\"'](?:name|tool_name|function_name|function|tool|action)[\"']"
_NAME_FIRST = re.compile(
    rf'\s*(?:\[\s*)?\{{\s*(?:"(?:tool_calls?|function|type|id)"\s*:\s*(?:"[^"]*"\s*,|\[?\s*\{{)\s*)*'
    rf"{_KEY_OF_NAME}\s*:\s*[\"']([^\"'\\]{{1,{LONGEST_NAME}}})[\"']"
).match


@dataclass(slots=True, eq=False)
class _Begun:
    """A candidate that events reported, and that is not decided yet."""

    name: str
    begin: int
    end: int
    """The offset up to which events reported it."""


class Progress:
    """Follows the candidate that is being written, and those that wait for the end of their wrapper."""

    __slots__ = ("_waiting", "_writing")

    def __init__(self) -> None:
        self._writing: _Begun | None = None
        self._waiting: list[_Begun] = []

    def events(self, turn: Turn) -> list[Event]:
        """Return what is new, after a chunk or at the end of the turn."""
        events: list[Event] = []
        window = turn.window
        candidate = None if window.ended else turn.candidate
        writing = self._writing
        if writing is not None and (candidate is None or candidate.begin != writing.begin):
            self._waiting.append(writing)
            self._writing = writing = None
        self._waiting = [one for one in self._waiting if not self._has_ended(one, turn, events)]
        if candidate is not None:
            if writing is None and (name := _name(candidate, window)) is not None:
                self._writing = writing = _Begun(name, candidate.begin, candidate.begin)
            arrived = window.base + len(window.text)
            if writing is not None and writing.end < arrived:
                writing.end = arrived
                events.append(CallProgress(writing.name, arrived - writing.begin, "writing"))
        return events

    @staticmethod
    def _has_ended(begun: _Begun, turn: Turn, events: list[Event]) -> bool:
        """Report that a call came or was withdrawn, and return `True`; `False` if it waits."""
        content = turn.content
        if any(one.call.span[0] == begun.begin for one in content.waiting):
            return False
        called = (call.span[0] for call in reversed(content.calls))
        is_ready = any(begun.begin <= start <= begun.end for start in called)
        length = begun.end - begun.begin
        events.append(CallProgress(begun.name, length, "ready" if is_ready else "withdrawn"))
        return True


def _name(candidate: Candidate, window: Window) -> str | None:
    """Return the tool that a candidate seems to call, if its name has come."""
    if candidate.name is not None:
        return candidate.name
    arrived = window.base + len(window.text)
    if arrived - candidate.begin > LONGEST_LOOK:
        return None
    found = _NAME_FIRST(window.written(candidate.begin, arrived))
    return found[1] if found else None
