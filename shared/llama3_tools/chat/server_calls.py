"""Calls that a server found itself, gathered from a stream's pieces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from llama3_tools.arguments.server_arguments import GrowingArguments
from llama3_tools.chat.messages import CallPiece
from llama3_tools.literals.json_object import skip_json_space
from llama3_tools.text.json_writing import write_json

_Key: TypeAlias = tuple[int | str | None, str | None]


@dataclass(slots=True, eq=False)
class UnreadCall:
    """A call of a server, as far as it has arrived."""

    number: int | str | None
    place: int
    id: str | None = None
    name: str = ""
    texts: list[str] = field(default_factory=list)
    growing: GrowingArguments = field(default_factory=GrowingArguments)

    def add(self, piece: CallPiece) -> None:
        """Add the next piece."""
        self.id = self.id or piece.id
        if piece.name != self.name:
            self.name += piece.name
        self.texts.append(piece.arguments)
        self.growing.feed(piece.arguments)

    @property
    def is_blank(self) -> bool:
        """Whether it has no arguments yet, not even an empty object."""
        return self.growing.is_blank

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The arguments; `None` if they are not an object of strict JSON."""
        return self.growing.value

    @property
    def is_whole(self) -> bool:
        """Whether its arguments have begun and ended."""
        return not self.is_blank and self.arguments is not None

    @property
    def text(self) -> str:
        """The text of the arguments; empty if it has none."""
        return "" if self.is_blank else "".join(self.texts)

    @property
    def keys(self) -> tuple[_Key, ...]:
        """What a later piece can find this by: its number or none, and its id, `None` without one, `""` for any."""
        return (self.number, self.id), (self.number, ""), (None, self.id), (None, "")


class ServerCalls:
    """Gathers the calls of one message from the pieces in which a server sends them.

    >>> calls = ServerCalls()
    >>> calls.add(CallPiece(0, "a", "now", '{"zone": '))
    >>> calls.add(CallPiece(0, None, "", '"UTC"}'))
    >>> [(call.name, call.arguments) for call in calls.gathered]
    [('now', {'zone': 'UTC'})]
    """

    def __init__(self) -> None:
        """Start before the first piece."""
        self._calls: list[UnreadCall] = []
        self._latest: dict[_Key, UnreadCall] = {}

    @property
    def gathered(self) -> list[UnreadCall]:
        """The calls so far, in the order in which they began.

        Calls with the same id, name and arguments are one. One without arguments takes those of another with its id and
        name. If the arguments differ, they are several calls: some servers count ids anew.
        """
        with_arguments: dict[tuple[str, str], UnreadCall] = {}
        for call in self._calls:
            if call.id and not call.is_blank:
                with_arguments.setdefault((call.id, call.name), call)
        gathered, seen = list[UnreadCall](), set[tuple[str, str, str]]()
        for call in self._calls:
            if not call.id:
                gathered.append(call)
                continue
            filled = with_arguments.get((call.id, call.name), call) if call.is_blank else call
            arguments = filled.text if filled.arguments is None else write_json(filled.arguments, sort_keys=True)
            if (call.id, call.name, arguments) not in seen:
                seen.add((call.id, call.name, arguments))
                gathered.append(filled)
        return gathered

    def add(self, piece: CallPiece) -> None:
        """Add the next piece."""
        call = self._call_of(piece)
        if call is None:
            call = UnreadCall(piece.number, len(self._calls))
            self._calls.append(call)
        for key in call.keys:
            if self._latest.get(key) is call:
                del self._latest[key]
        call.add(piece)
        for key in call.keys:
            if key not in self._latest or self._latest[key].place < call.place:
                self._latest[key] = call

    def _call_of(self, piece: CallPiece) -> UnreadCall | None:
        """Find the call that a piece goes on with; `None`: it begins one."""
        if piece.number is None:
            return None if piece.name else self._latest.get((None, piece.id or ""))
        keys: list[_Key] = [(piece.number, piece.id), (piece.number, None)] if piece.id else [(piece.number, "")]
        found = [self._latest[key] for key in keys if key in self._latest]
        call = max(found, key=lambda one: one.place, default=None)
        has_arguments = skip_json_space(piece.arguments, 0) < len(piece.arguments)
        if call is None and piece.id and not piece.name:  # some servers make an id for each piece
            call = self._latest.get((None, piece.id)) or self._latest.get((piece.number, ""))
            return None if call and call.is_whole and has_arguments else call
        if call and piece.name and call.is_whole and (call.name or has_arguments):
            return None  # some servers number all calls 0
        return call
