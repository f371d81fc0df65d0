"""Calls that a server has found itself: in the shapes that LlamaIndex's integrations give them, made fit to be run."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, final

from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms import ChatMessage
from pydantic_core import from_json

from llama3_tools import Limits, ToolCall, new_call_id, render_tool_call
from llama3_tools.arguments import Coercion
from llama3_tools.coerced import COERCED_ARGUMENTS, CoercedArguments, coerced_arguments
from llama3_tools.json_writing import written_arguments
from llama3_tools.limits import DEFAULT_LIMITS, excess
from llama_index_llama3_tools.arguments import ToolSchemas
from llama_index_llama3_tools.messages import assistant_message

__all__ = ["NativeCall", "NativeCalls", "native_calls", "without_native_calls"]


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A call in a message."""

    id: str
    """Its id; empty where the server gave none."""
    name: str
    """The tool's name; empty at the start of some streams."""
    arguments: dict[str, Any] | str
    """The arguments; the text of them where it is no JSON object."""


def native_calls(message: ChatMessage) -> list[NativeCall]:
    """Read the calls of a message: its blocks, or (older integrations) its additional arguments."""
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if blocks:
        return [NativeCall(block.tool_call_id or "", block.tool_name, _read(block.tool_kwargs)) for block in blocks]
    given = message.additional_kwargs.get("tool_calls")
    return [_from_openai(call) for call in given] if isinstance(given, (list, tuple)) else []


def without_native_calls(message: ChatMessage) -> ChatMessage:
    """Give a message without its calls."""
    blocks = [block for block in message.blocks if not isinstance(block, ToolCallBlock)]
    about_calls = {"tool_calls", COERCED_ARGUMENTS}
    kwargs = {key: value for key, value in message.additional_kwargs.items() if key not in about_calls}
    return message.model_copy(update={"blocks": blocks, "additional_kwargs": kwargs})


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
        self._ids: list[str] = []

    def settle(self, message: ChatMessage, *, is_last: bool) -> ChatMessage:
        """Give a message whose calls are fit to be run: an id, a name, an object of arguments.

        Args:
            message: the message; without a call it stays as it is.
            is_last: whether all of the message has arrived. What is no call by then is text, so that it is not lost.
        """
        calls = native_calls(message)
        if not calls:
            return message
        self._ids += [new_call_id() for _ in calls[len(self._ids) :]]
        blocks: list[ToolCallBlock] = []
        told, texts = [], [message.content] if message.content else []
        for call, new_id in list(zip(calls, self._ids, strict=False))[: 1 if self._only_first else None]:
            arguments = call.arguments
            # In a stream, no arguments are those that have not come yet.
            if (
                isinstance(arguments, dict)
                and (arguments or is_last)
                and self._may_run(call.name, arguments, len(blocks))
            ):
                call_id, coercion = call.id or new_id, self._coerce(call.name, arguments)
                told += _told(call_id, call.name, arguments, coercion)
                blocks.append(ToolCallBlock(tool_call_id=call_id, tool_name=call.name, tool_kwargs=coercion.arguments))
            elif is_last:
                texts.append(render_tool_call(call.name or "unknown", arguments))
        settled = assistant_message(" ".join(texts) or None, (), like=without_native_calls(message))
        if not blocks:
            return settled
        kept = settled.blocks if texts else [block for block in settled.blocks if block.block_type != "text"]
        additional_kwargs = {**settled.additional_kwargs, "tool_calls": [_to_openai(block) for block in blocks]}
        additional_kwargs |= {COERCED_ARGUMENTS: told} if told else {}
        return settled.model_copy(update={"blocks": [*kept, *blocks], "additional_kwargs": additional_kwargs})

    def _coerce(self, name: str, arguments: dict[str, Any]) -> Coercion:
        return self._schemas.coerce(name, arguments) if self._schemas else Coercion(arguments)

    def _may_run(self, name: str, arguments: dict[str, Any], made: int) -> bool:
        is_known = bool(name) and (self._names is None or name in self._names)
        return is_known and not excess(arguments, self._limits, made)


def _told(call_id: str, name: str, arguments: dict[str, Any], fit: Coercion) -> list[CoercedArguments]:
    """Tell what became of arguments: a list of one, or of none."""
    if not fit.changes and not fit.problems:
        return []
    written = written_arguments(arguments)
    call = ToolCall(name, fit.arguments, written, call_id, (0, 0), "native", fit.changes, fit.problems)
    return coerced_arguments([call])


def _read(arguments: object) -> dict[str, Any] | str:
    """Read arguments as servers send them. No text at all is what some send for a tool without parameters."""
    if isinstance(arguments, Mapping):
        return dict(arguments)
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)
    try:
        value = from_json(text or "{}", allow_inf_nan=False)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


def _from_openai(call: object) -> NativeCall:
    """Read a call in OpenAI's format: a dict, or an object of OpenAI's client."""
    given = call.model_dump() if isinstance(call, BaseModel) else call
    fields = given if isinstance(given, Mapping) else {}
    function = fields.get("function")
    function = function if isinstance(function, Mapping) else {}
    return NativeCall(
        str(fields.get("id") or ""), str(function.get("name") or ""), _read(function.get("arguments") or "")
    )


def _to_openai(block: ToolCallBlock) -> dict[str, object]:
    function = {"name": block.tool_name, "arguments": written_arguments(block.tool_kwargs)}
    return {"id": block.tool_call_id, "type": "function", "function": function}
