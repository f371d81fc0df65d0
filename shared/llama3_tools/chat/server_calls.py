"""Calls that a server found itself: gathered from a stream's pieces, and held to the rules of calls in text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from llama3_tools.arguments import Coercer
from llama3_tools.arguments.native_arguments import GrowingArguments, is_strict, with_escaped_halves
from llama3_tools.chat.messages import CallPiece
from llama3_tools.chat.report import RefusedCall
from llama3_tools.limits import excess, too_deep
from llama3_tools.options import ReadOptions, written_id
from llama3_tools.prompts import PromptFormat, render_tool_call
from llama3_tools.prompts.complaints import complaint
from llama3_tools.reading.json_depth import MAX_DEPTH
from llama3_tools.text.json_writing import written_arguments
from llama3_tools.tools import Tool
from llama3_tools.tools.declared import not_declared
from llama3_tools.values import RejectionReason, ToolCall

__all__ = ["NATIVE", "ServerCallReader", "ServerCalls", "UnreadCall"]

_Flaw: TypeAlias = tuple[RejectionReason, str]
_MALFORMED: _Flaw = (RejectionReason.MALFORMED, "its arguments are no JSON object")
_Key: TypeAlias = tuple[int | str | None, str | None]
NATIVE = "native"
"""The `format` of such calls."""


@dataclass(slots=True, eq=False)
class UnreadCall:
    """A call of a server, as far as it has arrived."""

    number: int | str | None
    place: int
    id: str | None = None
    name: str = ""
    texts: list[str] = field(default_factory=list)
    decoded: Mapping[str, Any] | None = None
    """The arguments, if the client has decoded them."""
    growing: GrowingArguments = field(default_factory=GrowingArguments)

    def add(self, piece: CallPiece) -> None:
        """Take the next piece."""
        self.id = self.id or piece.id
        if piece.name != self.name:
            self.name += piece.name
        arguments = piece.arguments
        if isinstance(arguments, Mapping):
            self.decoded = arguments
            self.texts.append(written_arguments(arguments))
        elif arguments:
            self.texts.append(arguments)
            self.growing.feed(arguments)

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The arguments; `None` if they are no object of strict JSON."""
        if self.decoded is None:
            return self.growing.value
        return dict(self.decoded) if is_strict(self.decoded) else None

    @property
    def text(self) -> str:
        """The text of the arguments."""
        return "".join(self.texts)

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
        self.gathered: list[UnreadCall] = []
        """The calls so far, in the order in which they began."""
        self._latest: dict[_Key, UnreadCall] = {}

    def add(self, piece: CallPiece) -> None:
        """Take the next piece."""
        call = self._call_of(piece)
        if call is None:
            call = UnreadCall(piece.number, len(self.gathered))
            self.gathered.append(call)
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
        if call and piece.name and call.texts and call.arguments is not None:
            return None  # some servers number all calls 0
        return call


@dataclass(frozen=True, slots=True)
class ServerCallReader:
    """Reads the calls of a server, as strictly as those in text (rules 8, 11, 13 and 14)."""

    tools: Mapping[str, Tool]
    """The tools that may be called, by name."""
    coercers: Mapping[str, Coercer]
    """What makes arguments fit, by name; empty if nothing does."""
    options: ReadOptions
    """How calls are read."""
    prompt_format: PromptFormat
    """The form in which the model is told to write a call again."""

    def read(self, call: UnreadCall, name: str, ids: set[str], *, made: int, complete: bool) -> ToolCall | RefusedCall:
        """Read a call.

        Args:
            call: the call, with all its pieces.
            name: the tool's own name.
            ids: those that the message has before it; its own is added. An id that is taken is replaced.
            made: how many calls the message has before it.
            complete: whether the model ended its turn; if not, a call without any arguments is cut off (rule 7).
        """
        call_id = call.id if call.id and call.id not in ids else written_id(self.options.id_factory)
        ids.add(call_id)
        arguments = call.arguments
        flaw = _flaw(call, name, complete=complete)
        if flaw is None and arguments is not None:
            flaw = self._beyond(arguments, name, made)
        if flaw is not None or arguments is None:
            return self.refuse(call, call_id, name, *(flaw or _MALFORMED))
        written = call.text or "{}"
        if name not in self.coercers:
            return ToolCall(name, arguments, written, call_id, (0, 0), NATIVE)
        fit = self.coercers[name].coerce(arguments, depth=self.options.limits.max_depth)
        return ToolCall(name, fit.arguments, written, call_id, (0, 0), NATIVE, fit.changes, fit.problems)

    def _beyond(self, arguments: dict[str, Any], name: str, made: int) -> _Flaw | None:
        """Return why a call that could be read does not run."""
        if self.options.on_unknown_tool == "text" and name not in self.tools:
            return RejectionReason.UNKNOWN_TOOL, not_declared(name, self.tools)
        return excess(arguments, self.options.limits, made)

    def refuse(self, call: UnreadCall, call_id: str, name: str, reason: RejectionReason, detail: str) -> RefusedCall:
        """Return a call that does not run: its text is as a model would have written it."""
        text = render_tool_call(name or "unknown", with_escaped_halves(call.text) or "{}")
        told = complaint(name, reason, detail, prompt_format=self.prompt_format)
        return RefusedCall(call_id, name, str(reason), detail, text, None, told)


def _flaw(call: UnreadCall, name: str, *, complete: bool) -> _Flaw | None:
    """Return what is wrong with a call as it was sent, apart from arguments that are no object."""
    if not name:
        return RejectionReason.INVALID_NAME, "it has no name of a tool"
    if call.growing.is_too_deep:
        return too_deep(MAX_DEPTH - 1)
    if not complete and (call.arguments is None or not call.texts):
        return RejectionReason.TRUNCATED, "its arguments are cut off"
    return None
