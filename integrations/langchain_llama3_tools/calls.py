"""A tool call in each of LangChain's shapes."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolCall as LangChainToolCall
from langchain_core.messages import ToolCallChunk
from langchain_core.messages.tool import tool_call, tool_call_chunk

from llama3_tools import ToolCall

__all__ = ["block_index", "to_block", "to_chunk", "to_chunk_block", "to_tool_call"]


def to_tool_call(call: ToolCall) -> LangChainToolCall:
    """Return the call for a message's `tool_calls`."""
    return tool_call(name=call.name, args=call.arguments, id=call.id)


def to_chunk(call: ToolCall, index: int) -> ToolCallChunk:
    """Return the call for a chunk's `tool_call_chunks`: complete, so that no half-written arguments get completed."""
    return tool_call_chunk(name=call.name, args=call.usable_json, id=call.id, index=index)


def to_block(call: ToolCall) -> dict[str, Any]:
    """Return the call as a block of a message's content (LangChain's content version `v1`)."""
    return {"type": "tool_call", "name": call.name, "args": call.arguments, "id": call.id}


def to_chunk_block(call: ToolCall, index: int) -> dict[str, Any]:
    """Return the call as a block of a chunk's content. The sum of the chunks turns it into what `to_block` gives."""
    return {**to_chunk(call, index), "type": "tool_call_chunk", "index": block_index(index)}


def block_index(index: int) -> str:
    """Return what LangChain is to tell the block of a call by, which merges blocks of equal index."""
    return f"lc_llama3_call_{index}"  # models number theirs; a string that starts with `lc_` merges as well
