"""The blocks of a message's content that list the calls of its server (LangChain's version `v1`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TypeAlias

from langchain_llama3_tools.calls import block_index, to_block, to_chunk_block
from langchain_llama3_tools.content import Block, Content
from langchain_llama3_tools.native_calls import NativeCall
from llama3_tools import ToolCall

__all__ = ["SentCall", "relisted", "to_native_block", "without_call_blocks"]

SentCall: TypeAlias = tuple[str | None, NativeCall]
"""A call with the id that it was sent with."""

_CALL_BLOCKS = frozenset({"tool_call", "tool_call_chunk", "invalid_tool_call"})


def without_call_blocks(content: Content) -> Content:
    """Return content without the blocks that list calls."""
    if isinstance(content, str):
        return content
    return [block for block in content if isinstance(block, str) or block.get("type") not in _CALL_BLOCKS]


def to_native_block(call: NativeCall, index: int) -> Block:
    """Return a call as a block of a chunk's content."""
    if isinstance(call, ToolCall):
        return to_chunk_block(call, index)
    return {**call.listed, "index": block_index(index)}


def relisted(content: Content, called: Iterable[SentCall], invalid: Iterable[SentCall]) -> Content:
    """Return content whose blocks list the calls as they are now. Both have one order; a block of no call goes."""
    if isinstance(content, str):
        return content
    listed = (_by_id(called), _by_id(invalid))
    kept: list[Block] = []
    for block in content:
        if isinstance(block, str) or block.get("type") not in _CALL_BLOCKS:
            kept.append(block)
            continue
        likely = reversed(listed) if block["type"] == "invalid_tool_call" else listed
        calls = next((calls for by_id in likely if (calls := by_id.get(block.get("id") or None))), None)
        if calls:
            call = calls.popleft()
            kept.append({**block, **(to_block(call) if isinstance(call, ToolCall) else call.listed)})
    return kept


def _by_id(sent: Iterable[SentCall]) -> dict[str | None, deque[NativeCall]]:
    by_id: dict[str | None, deque[NativeCall]] = {}  # servers have given several calls one id, or none
    for call_id, call in sent:
        by_id.setdefault(call_id or None, deque()).append(call)
    return by_id
