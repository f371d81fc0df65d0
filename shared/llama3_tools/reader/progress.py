"""How far a call has come that is being written, for a display (principle 8)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from llama3_tools.limits import LONGEST_NAME
from llama3_tools.reader.machine import Machine
from llama3_tools.reader.rejections import LONGEST_LOOK
from llama3_tools.reader.turn import Candidate
from llama3_tools.values import CallProgress, Event

__all__ = ["Progress"]

_KEY_OF_NAME = r"[\"'](?:name|tool_name|function_name|function|tool|action)[\"']"
_NAME_FIRST = re.compile(
    rf'\s*(?:\[\s*)?\{{\s*(?:"(?:tool_calls?|function|type|id)"\s*:\s*(?:"[^"]*"\s*,|\[?\s*\{{)\s*)*'
    rf"{_KEY_OF_NAME}\s*:\s*[\"']([^\"'\\]{{1,{LONGEST_NAME}}})[\"']"
).match


@dataclass(slots=True, eq=False)
class _Begun:
    """A candidate that events told of, and that has neither become a call nor turned out to be none."""

    name: str
    begin: int
    end: int
    """The offset up to which events told of it."""


class Progress:
    """Follows the candidate that is being written, and those that wait for the end of their wrapper."""

    __slots__ = ("_waiting", "_writing")

    def __init__(self) -> None:
        self._writing: _Begun | None = None
        self._waiting: list[_Begun] = []

    def events(self, machine: Machine) -> list[Event]:
        """Return what is new, after a chunk or at the end of the turn."""
        events: list[Event] = []
        candidate = None if machine.ended else machine.candidate
        writing = self._writing
        if writing is not None and (candidate is None or candidate.begin != writing.begin):
            self._waiting.append(writing)
            self._writing = writing = None
        self._waiting = [one for one in self._waiting if not self._has_ended(one, machine, events)]
        if candidate is not None:
            if writing is None and (name := _name(candidate, machine.text, machine.base)) is not None:
                self._writing = writing = _Begun(name, candidate.begin, candidate.begin)
            arrived = machine.base + len(machine.text)
            if writing is not None and writing.end < arrived:
                writing.end = arrived
                events.append(CallProgress(writing.name, arrived - writing.begin, "writing"))
        return events

    @staticmethod
    def _has_ended(begun: _Begun, machine: Machine, events: list[Event]) -> bool:
        """Say what became of a call that is no longer written, unless it waits."""
        content = machine.content
        if any(one.call.span[0] == begun.begin for one in content.waiting):
            return False
        called = (call.span[0] for call in reversed(content.calls))
        is_ready = any(begun.begin <= start <= begun.end for start in called)
        length = begun.end - begun.begin
        events.append(CallProgress(begun.name, length, "ready" if is_ready else "withdrawn"))
        return True


def _name(candidate: Candidate, text: str, base: int) -> str | None:
    """Return the tool that a candidate seems to call, if its name has come."""
    if candidate.name is not None:
        return candidate.name
    if base + len(text) - candidate.begin > LONGEST_LOOK:
        return None
    found = _NAME_FIRST("".join([*candidate.pieces, text[max(candidate.begin - base, 0) :]]))
    return found[1] if found else None
