"""Which calls stand well-formed in the output so far: a repair makes none of them once more (rule 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama3_tools.calls.reader import CallReader, Found
from llama3_tools.stream.wrappers import Held, Queue, written_in
from llama3_tools.text.json_writing import write_json
from llama3_tools.values import ToolCall

__all__ = ["Repeats"]


class Repeats:
    """Knows the well-formed calls of a turn by what runs: with coercion, `"1"` and `1` may be the same argument."""

    __slots__ = ("_held", "_made", "_made_until", "_queue", "_reader")

    def __init__(self, reader: CallReader) -> None:
        self._reader = reader
        self._made: set[str] = set()
        self._made_until = 0
        """How many of the calls that were made are known."""
        self._held: set[str] = set()
        self._queue: Queue | None = None
        """The queue in which those wait that are held."""

    def hold(self, held: Held, queue: Queue) -> None:
        """Take calls that wait in a queue. The turn begins another one when it deals this one out."""
        if self._queue is not queue:
            self._queue, self._held = queue, set()
        if held.repaired_from is None:
            self._held |= self._keys(held.found)

    def have(self, found: Found, made: Sequence[ToolCall], queue: Queue) -> bool:
        """Return whether one of the calls that were found was made already, or waits in the queue."""
        self._made |= {_key(call.name, call.arguments) for call in made[self._made_until :] if not call.repaired_from}
        self._made_until = len(made)
        keys = self._keys(found)
        return not keys.isdisjoint(self._made) or (self._queue is queue and not keys.isdisjoint(self._held))

    def _keys(self, found: Found) -> set[str]:
        return {_key(written.name, self._reader.arguments_of(written)) for written in written_in(found)}


def _key(name: str, arguments: Mapping[str, Any]) -> str:
    return write_json([name, arguments], sort_keys=True)
