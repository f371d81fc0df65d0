"""A whole message whose calls the server has found itself, with calls that are fit to be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk, message_chunk_to_message

from langchain_llama3_tools.calls import to_tool_call
from langchain_llama3_tools.coerced import COERCED_ARGUMENTS, coerced_arguments
from langchain_llama3_tools.invalid import REJECTED_TOOL_CALLS
from langchain_llama3_tools.native_blocks import SentCall, relisted
from langchain_llama3_tools.native_calls import NativeCall, NativeCalls, UnusableCall
from langchain_llama3_tools.native_streams import NativeStream
from llama3_tools import ToolCall

__all__ = ["has_native_calls", "settled"]


def has_native_calls(message: AIMessage) -> bool:
    """Whether the server found the calls itself, or tried to."""
    return bool(message.tool_calls or message.invalid_tool_calls)


def settled(message: AIMessage, native_calls: NativeCalls) -> AIMessage:
    """Return a whole message whose calls are fit to be run; where they are already, the message as it is.

    Args:
        message: what the model answered.
        native_calls: what reads its calls.
    """
    called, invalid = _read(message, native_calls)
    calls = [call for _, call in called if isinstance(call, ToolCall)]
    unusable = [call for _, call in called + invalid if isinstance(call, UnusableCall)]
    fields: dict[str, Any] = {
        "tool_calls": [to_tool_call(call) for call in calls],
        "invalid_tool_calls": [call.listed for call in unusable],
        "content": relisted(message.content, called, invalid),
    }
    told: dict[str, Sequence[Any]] = {
        COERCED_ARGUMENTS: coerced_arguments(calls),
        REJECTED_TOOL_CALLS: [call.rejected for call in unusable if call.rejected],
    }
    metadata = _with_news(message.response_metadata, told)
    if metadata == message.response_metadata and all(fields[name] == getattr(message, name) for name in fields):
        return message
    fields["response_metadata"] = metadata
    if isinstance(message, AIMessageChunk):
        message = cast("AIMessage", message_chunk_to_message(message))
    return message.model_copy(update=fields)


def _read(message: AIMessage, native_calls: NativeCalls) -> tuple[list[SentCall], list[SentCall]]:
    """Read the calls of a message, and those that the client has found to be malformed."""
    if isinstance(message, AIMessageChunk):  # whose calls LangChain has completed, and kept as they were sent
        stream = NativeStream(native_calls)
        gathered = [*stream.feed(message.tool_call_chunks), *stream.flush()]
        return list(zip(stream.sent_ids, gathered, strict=True)), []
    read: list[NativeCall] = []
    made = 0
    for call in message.tool_calls:
        read.append(native_calls.read_whole(call, made=made))
        made += isinstance(read[-1], ToolCall)
    count = len(read)
    read += map(native_calls.read_invalid, message.invalid_tool_calls)
    ids = [call["id"] for call in (*message.tool_calls, *message.invalid_tool_calls)]
    sent = list(zip(ids, native_calls.with_own_ids(read, set()), strict=True))
    return sent[:count], sent[count:]


def _with_news(metadata: Mapping[str, Any], told: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Add to what a message tells of its calls, by their ids, what it does not tell yet."""
    added = dict(metadata)
    for key, entries in told.items():
        known = added.get(key, [])
        ids = {entry["id"] for entry in known}
        if news := [entry for entry in entries if entry["id"] not in ids]:
            added[key] = [*known, *news]
    return added
