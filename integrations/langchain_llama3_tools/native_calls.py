"""A call that a server has found itself, read from its parts: made fit to be run, or malformed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from langchain_core.messages import InvalidToolCall, ToolCallChunk
from langchain_core.messages import ToolCall as LangChainToolCall
from langchain_core.messages.tool import invalid_tool_call, tool_call_chunk

from langchain_llama3_tools.calls import to_chunk
from langchain_llama3_tools.invalid import RejectedToolCall, collected_text, to_invalid_call
from llama3_tools import Limits, RejectionReason, ToolCall, render_tool_call
from llama3_tools.arguments import Coercer
from llama3_tools.arguments.native_arguments import is_strict, with_escaped_halves
from llama3_tools.limits import DEFAULT_LIMITS, excess, too_deep
from llama3_tools.options import written_id
from llama3_tools.text.json_writing import written_arguments

__all__ = ["NativeArguments", "NativeCall", "NativeCalls", "UnusableCall", "to_native_chunk"]


class UnusableCall(NamedTuple):
    """A call that cannot be run."""

    listed: InvalidToolCall
    """The call for a message's `invalid_tool_calls`."""
    rejected: RejectedToolCall | None = None
    """What is told of it, where it is beyond a limit."""


NativeCall: TypeAlias = ToolCall | UnusableCall
"""A call that can be run, or one that cannot."""


class NativeArguments(NamedTuple):
    """The arguments of a call, as far as they could be read."""

    value: dict[str, Any] | None
    """The object; `None` where it is none of strict JSON."""
    text: str
    """Their text; nothing where a tool that takes none is called without any."""
    is_too_deep: bool = False
    """Whether there is no object as it would be deeper than anything that is read."""


@dataclass(frozen=True, slots=True)
class NativeCalls:
    """Makes the calls of a server fit to be run: each gets an id, and arguments that fit where that is wanted."""

    id_factory: Callable[[], str]
    """Makes the ids that are missing."""
    coercers: Mapping[str, Coercer] = field(default_factory=dict)
    """What makes arguments fit, by the names of the tools."""
    limits: Limits | None = DEFAULT_LIMITS
    """How deep, how long and how many they may be (rule 14); `None`: whatever is read at all."""

    def as_written(self) -> NativeCalls:
        """Return the same, without a change to arguments and without limits: for calls that are settled later."""
        return NativeCalls(self.id_factory, limits=None)

    def read(self, name: str, arguments: NativeArguments, call_id: str | None, *, made: int) -> NativeCall:
        """Read a call from its parts.

        Args:
            name: the tool's name.
            arguments: the arguments.
            call_id: the id, if there is one.
            made: how many calls the message has before it.
        """
        value, text, is_too_deep = arguments
        if not name or (value is None and not is_too_deep):
            return self._malformed(name, text, call_id)
        limits = self.limits or DEFAULT_LIMITS
        call = ToolCall(name, value or {}, text or "{}", call_id or written_id(self.id_factory), (0, 0), "native")
        if value is None:
            return _rejected(call, *too_deep(limits.max_depth))
        beyond = self.limits and excess(value, self.limits, made)
        if beyond:
            return _rejected(call, *beyond)
        if name not in self.coercers:
            return call
        fit = self.coercers[name].coerce(value, depth=limits.max_depth)
        return replace(call, arguments=fit.arguments, changes=fit.changes, problems=fit.problems)

    def read_whole(self, call: LangChainToolCall, *, made: int) -> NativeCall:
        """Read one whose arguments the client has decoded, with `made` calls before it."""
        value = call["args"] if is_strict(call["args"]) else None
        return self.read(call["name"], NativeArguments(value, written_arguments(call["args"])), call["id"], made=made)

    def read_invalid(self, call: InvalidToolCall) -> UnusableCall:
        """Read one that the client could not decode."""
        arguments = call["args"] or ""
        if call["id"] and collected_text(arguments) is not None:
            return UnusableCall(call)
        return self._malformed(call["name"] or "", arguments, call["id"])

    def with_own_ids(self, calls: Iterable[NativeCall], taken: set[str]) -> list[NativeCall]:
        """Return calls with another id in place of one that a server gave before: LangChain answers each id once.

        Args:
            calls: some calls of a message. Those that can be run are the first to keep theirs.
            taken: the ids that the message has before them; those of the calls are added.
        """
        own = list(calls)
        for place in sorted(range(len(own)), key=lambda place: isinstance(own[place], UnusableCall)):
            if _id(own[place]) in taken:
                own[place] = _with_id(own[place], written_id(self.id_factory))
            taken.add(_id(own[place]))
        return own

    def _malformed(self, name: str, arguments: str, call_id: str | None) -> UnusableCall:
        text = render_tool_call(name or "unknown", with_escaped_halves(arguments))
        args = json.dumps(text, ensure_ascii=False)  # which cannot be repaired: see `to_invalid_call`
        return UnusableCall(
            invalid_tool_call(name=name, args=args, id=call_id or written_id(self.id_factory), error=None)
        )


def to_native_chunk(call: NativeCall, index: int) -> ToolCallChunk:
    """Return a call for a chunk's `tool_call_chunks`: no sum completes it."""
    if isinstance(call, ToolCall):
        return to_chunk(call, index)
    listed = call.listed
    return tool_call_chunk(name=listed["name"], args=listed["args"], id=listed["id"], index=index)


def _id(call: NativeCall) -> str:
    return call.id if isinstance(call, ToolCall) else str(call.listed["id"])


def _with_id(call: NativeCall, call_id: str) -> NativeCall:
    if isinstance(call, ToolCall):
        return replace(call, id=call_id)
    listed, rejected = call
    return UnusableCall({**listed, "id": call_id}, rejected and {**rejected, "id": call_id})


def _rejected(call: ToolCall, reason: RejectionReason, detail: str) -> UnusableCall:
    text = render_tool_call(call.name, call.arguments_json)
    rejected = RejectedToolCall(
        id=call.id, name=call.name, reason=str(reason), detail=detail, text=text, start=0, end=0
    )
    return UnusableCall(to_invalid_call(rejected), rejected)
