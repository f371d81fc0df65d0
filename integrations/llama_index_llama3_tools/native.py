"""Calls that a server has found itself: in the shapes that LlamaIndex's integrations give them, made fit to be run."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms import ChatMessage

from llama3_tools import Limits, ToolCall, new_call_id, render_tool_call
from llama3_tools.arguments import Coercion
from llama3_tools.arguments.call_report import COERCED_ARGUMENTS, CoercedArguments, coerced_arguments
from llama3_tools.limits import DEFAULT_LIMITS, excess
from llama_index_llama3_tools.arguments import ToolSchemas
from llama_index_llama3_tools.messages import assistant_message
from llama_index_llama3_tools.native_arguments import RepeatedArguments, write_arguments

__all__ = ["NativeCall", "NativeCalls", "native_calls", "without_native_calls"]


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A call in a message."""

    id: str
    """Its id; empty where the server gave none."""
    name: str
    """The tool's name; empty at the start of some streams."""
    arguments: dict[str, Any] | str
    """The arguments; the text of them where it is no object of strict JSON."""


def native_calls(message: ChatMessage) -> list[NativeCall]:
    """Read the calls of a message: its blocks, or (older integrations) its additional arguments."""
    return [NativeCall(call.id, call.name, RepeatedArguments().read(call.arguments)) for call in _sent_calls(message)]


def without_native_calls(message: ChatMessage) -> ChatMessage:
    """Return a message without its calls."""
    blocks = [block for block in message.blocks if not isinstance(block, ToolCallBlock)]
    about_calls = {"tool_calls", COERCED_ARGUMENTS}
    kwargs = {key: value for key, value in message.additional_kwargs.items() if key not in about_calls}
    return message.model_copy(update={"blocks": blocks, "additional_kwargs": kwargs})


class _SentCall(NamedTuple):
    """A call as it was sent."""

    id: str
    name: str
    arguments: object


class _FitCall(NamedTuple):
    """A call that is fit to be run, as the parts of a message."""

    block: ToolCallBlock
    in_openai: dict[str, object]
    told: list[CoercedArguments]


class _Place:
    """One call of a turn, and what was made of it last: the messages of a stream repeat the same parts."""

    def __init__(self) -> None:
        self._new_id = new_call_id()
        self._arguments = RepeatedArguments()
        self._call: NativeCall | None = None
        self._fit: _FitCall | None = None

    def read(self, sent: _SentCall) -> NativeCall:
        """Read the call; the same arguments for the same text."""
        return NativeCall(sent.id or self._new_id, sent.name, self._arguments.read(sent.arguments))

    def fit(self, call: NativeCall, make: Callable[[NativeCall], _FitCall | None]) -> _FitCall | None:
        """Return what is made of the call, once."""
        last = self._call
        if last is None or last.arguments is not call.arguments or (last.id, last.name) != (call.id, call.name):
            self._call, self._fit = call, make(call)
        return self._fit


@final
class NativeCalls:
    """The calls of one turn, streamed or not. Each that lacks an id gets one, and keeps it for the turn.

    Args:
        only_first: whether all calls but the first are dropped.
        names: the names that may be called; `None` for any.
        limits: how deep, how long and how many they may be.
        schemas: what arguments are made to fit; `None` leaves them as they are.
    """

    def __init__(
        self,
        *,
        only_first: bool,
        names: Container[str] | None,
        limits: Limits = DEFAULT_LIMITS,
        schemas: ToolSchemas | None = None,
    ) -> None:
        self._only_first = only_first
        self._names = names
        self._limits = limits
        self._schemas = schemas
        self._places: list[_Place] = []

    def settle(self, message: ChatMessage, *, is_last: bool) -> ChatMessage:
        """Return a message whose calls are fit to be run: an id, a name, an object of arguments.

        Args:
            message: the message; without a call it stays as it is.
            is_last: whether all of the message has arrived. What is no call by then is text, so that it is not lost.
        """
        calls = _sent_calls(message)
        if not calls:
            return message
        self._places += [_Place() for _ in calls[len(self._places) :]]
        fits: list[_FitCall] = []
        texts = [message.content] if message.content else []
        for place, sent in list(zip(self._places, calls, strict=False))[: 1 if self._only_first else None]:
            call = place.read(sent)
            # In a stream, no arguments are those that have not come yet.
            may_fit = (call.arguments or is_last) and len(fits) < self._limits.max_calls
            if may_fit and (fit := place.fit(call, self._fit)):
                fits.append(fit)
            elif is_last:
                texts.append(render_tool_call(call.name or "unknown", call.arguments))
        settled = assistant_message(" ".join(texts) or None, (), like=without_native_calls(message))
        if not fits:
            return settled
        kept = settled.blocks if texts else [block for block in settled.blocks if block.block_type != "text"]
        blocks = [*kept, *(fit.block for fit in fits)]
        additional_kwargs = {**settled.additional_kwargs, "tool_calls": [fit.in_openai for fit in fits]}
        if told := [one for fit in fits for one in fit.told]:
            additional_kwargs[COERCED_ARGUMENTS] = told
        return settled.model_copy(update={"blocks": blocks, "additional_kwargs": additional_kwargs})

    def _fit(self, call: NativeCall) -> _FitCall | None:
        """Make a call fit to be run; `None` where it may not be."""
        arguments = call.arguments
        is_known = bool(call.name) and (self._names is None or call.name in self._names)
        if not isinstance(arguments, dict) or not is_known or excess(arguments, self._limits):
            return None
        coercion = self._schemas.coerce(call.name, arguments) if self._schemas else Coercion(arguments)
        block = ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=coercion.arguments)
        in_openai = _to_openai(call.id, call.name, coercion.arguments)
        return _FitCall(block, in_openai, _told(call.id, call.name, arguments, coercion))


def _told(call_id: str, name: str, arguments: dict[str, Any], fit: Coercion) -> list[CoercedArguments]:
    """Return what became of arguments: a list of one, or of none."""
    if not fit.changes and not fit.problems:
        return []
    written = write_arguments(arguments)
    call = ToolCall(name, fit.arguments, written, call_id, (0, 0), "native", fit.changes, fit.problems)
    return coerced_arguments([call])


def _sent_calls(message: ChatMessage) -> list[_SentCall]:
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if blocks:
        return [_SentCall(block.tool_call_id or "", block.tool_name, block.tool_kwargs) for block in blocks]
    given = message.additional_kwargs.get("tool_calls")
    return [_from_openai(call) for call in given] if isinstance(given, (list, tuple)) else []


def _from_openai(call: object) -> _SentCall:
    """Read a call in OpenAI's format: a dict, or an object of OpenAI's client."""
    given = call.model_dump() if isinstance(call, BaseModel) else call
    fields = given if isinstance(given, Mapping) else {}
    function = fields.get("function")
    function = function if isinstance(function, Mapping) else {}
    return _SentCall(str(fields.get("id") or ""), str(function.get("name") or ""), function.get("arguments") or "")


def _to_openai(call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, object]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": write_arguments(arguments)}}
