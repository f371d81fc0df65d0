"""Calls that a server found itself: gathered from a stream's pieces, and held to the rules of calls in text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from llama3_tools.arguments import Coercer
from llama3_tools.arguments.native_arguments import GrowingArguments, is_strict, with_escaped_halves
from llama3_tools.chat.call_order import comparable
from llama3_tools.chat.messages import CallPiece
from llama3_tools.chat.report import RefusedCall
from llama3_tools.limits import Limits, too_deep, too_long, too_many
from llama3_tools.literals.json_depth import MAX_DEPTH, depth_is_within
from llama3_tools.literals.json_object import skip_json_space
from llama3_tools.options import ReadOptions, written_id
from llama3_tools.prompts import render_tool_call
from llama3_tools.prompts.complaints import Complaints
from llama3_tools.text.json_writing import write_json, written_arguments
from llama3_tools.tools import Tool
from llama3_tools.tools.declared import not_declared
from llama3_tools.values import RejectionReason, ToolCall

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
    is_blank: bool = True
    """Whether it has no arguments yet, not even an empty object."""
    is_mixed: bool = False
    """Whether it has arguments in two ways that do not agree, so that nobody knows which are meant."""

    def add(self, piece: CallPiece) -> None:
        """Add the next piece."""
        self.id = self.id or piece.id
        if piece.name != self.name:
            self.name += piece.name
        if isinstance(piece.arguments, Mapping):
            self._add_decoded(piece.arguments)
        elif piece.arguments:
            self._add_text(piece.arguments)

    def _add_decoded(self, arguments: Mapping[str, Any]) -> None:
        if self.is_blank:
            self.decoded, self.texts, self.is_blank = arguments, [written_arguments(arguments)], False
        elif arguments and self.decoded is not None and not self.decoded:
            self.decoded, self.texts = arguments, [written_arguments(arguments)]
        elif arguments and arguments != self.arguments:
            self.texts.append(written_arguments(arguments))
            self.is_mixed = True

    def _add_text(self, text: str) -> None:
        is_blank = _is_space(text)
        if self.decoded is not None and is_blank:
            return
        if self.decoded is not None and not self.decoded:
            self.decoded, self.texts = None, []
        self.is_blank = self.is_blank and is_blank
        self.is_mixed = self.is_mixed or self.decoded is not None
        self.texts.append(text)
        self.growing.feed(text)

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The arguments; `None` if they are not an object of strict JSON."""
        if self.is_blank:
            return {}
        if self.is_mixed:
            return None
        if self.decoded is None:
            return self.growing.value
        return dict(self.decoded) if is_strict(self.decoded) else None

    @property
    def is_whole(self) -> bool:
        """Whether its arguments have begun and ended."""
        return not self.is_blank and self.arguments is not None

    @property
    def text(self) -> str:
        """The text of the arguments; empty if it has none."""
        return "" if self.is_blank else "".join(self.texts)

    @property
    def comparable_arguments(self) -> str:
        """A text that two calls share only if their arguments are the same."""
        arguments = self.arguments
        return self.text if arguments is None else comparable(arguments, self.text)

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
            contents = (call.id, call.name, filled.comparable_arguments)
            if contents not in seen:
                seen.add(contents)
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
        has_arguments = isinstance(piece.arguments, Mapping) or not _is_space(piece.arguments)
        if call is None and piece.id and not piece.name:  # some servers make an id for each piece
            call = self._latest.get((None, piece.id)) or self._latest.get((piece.number, ""))
            return None if call and call.is_whole and has_arguments else call
        if call and piece.name and call.is_whole and (call.name or has_arguments):
            return None  # some servers number all calls 0
        return call


@dataclass(frozen=True, slots=True)
class ServerCallReader:
    """Reads the calls of a server, as strictly as those in text (principles 1 and 8)."""

    tools: Mapping[str, Tool]
    """The tools that may be called, by name."""
    coercers: Mapping[str, Coercer]
    """What makes arguments fit, by name; empty if nothing does."""
    options: ReadOptions
    """How calls are read."""
    complaints: Complaints
    """Says what the model is told of a call that does not run."""

    def read(self, call: UnreadCall, name: str, ids: set[str], *, made: int, complete: bool) -> ToolCall | RefusedCall:
        """Read a call.

        Args:
            call: the call, with all its pieces.
            name: the tool's own name.
            ids: those that the message has before it; its own is added. An id that is taken is replaced.
            made: how many calls the message has before it.
            complete: whether the model ended its turn; if not, a call without any arguments is cut off (principle 6).
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
        if self.options.on_unknown_tool != "call" and name not in self.tools:
            return RejectionReason.UNKNOWN_TOOL, not_declared(name, self.tools)
        return _excess(arguments, self.options.limits, made)

    def refuse(self, call: UnreadCall, call_id: str, name: str, reason: RejectionReason, detail: str) -> RefusedCall:
        """Return a call that does not run: its text is as a model would have written it."""
        text = render_tool_call(name or "unknown", with_escaped_halves(call.text) or "{}")
        told = self.complaints.of_unread(name, reason, detail)
        return RefusedCall(call_id, name, str(reason), detail, text, None, told)


def _flaw(call: UnreadCall, name: str, *, complete: bool) -> _Flaw | None:
    """Return what is wrong with a call as it was sent, apart from arguments that are not an object."""
    if not name:
        return RejectionReason.INVALID_NAME, "it has no name of a tool"
    if call.growing.is_too_deep:
        return too_deep(MAX_DEPTH - 1)
    if not complete and (call.arguments is None or call.is_blank):
        return RejectionReason.TRUNCATED, "its arguments are cut off"
    return None


def _excess(arguments: dict[str, Any], limits: Limits, made: int) -> _Flaw | None:
    """Return the bound that a call is beyond after so many others, in the words used for calls in text."""
    if made >= limits.max_calls:
        return too_many(limits)
    try:
        written = write_json(arguments, default=str)
    except (TypeError, ValueError):  # made by hand: no server sends what JSON does not have
        return None
    if len(written) > limits.max_call_length:
        return too_long(limits)
    is_within = depth_is_within(written, 0, len(written), limits.max_depth)
    return None if is_within else too_deep(limits.max_depth)


def _is_space(text: str) -> bool:
    return skip_json_space(text, 0) == len(text)
