"""Reasoning, where LlamaIndex has it: `ThinkingBlock`s of a message, `thinking_delta` of a streamed response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.base.llms.types import ThinkingBlock
from llama_index.core.llms import ChatMessage, ChatResponse

__all__ = ["has_reasoning", "reasoning_of", "with_thinking_delta", "without_reasoning", "without_thinking_delta"]

_DELTA = "thinking_delta"


def has_reasoning(response: ChatResponse) -> bool:
    """Return whether the server has split reasoning off itself."""
    return bool(response.additional_kwargs.get(_DELTA) or reasoning_of(response.message))


def reasoning_of(message: ChatMessage) -> str:
    """Return the reasoning of a message, thoughts a blank line apart; empty if there is none."""
    thoughts = (block.content for block in message.blocks if isinstance(block, ThinkingBlock))
    return "\n\n".join(filter(None, thoughts))


def without_reasoning(message: ChatMessage) -> ChatMessage:
    """Return a message without its reasoning; with what a server has signed, or told more about, and wants back."""
    blocks = [block for block in message.blocks if not isinstance(block, ThinkingBlock) or block.additional_information]
    return message.model_copy(update={"blocks": blocks})


def with_thinking_delta(additional_kwargs: Mapping[str, Any], delta: str) -> dict[str, Any]:
    """Return a response's additional arguments with a piece of reasoning after the one that they have."""
    return {**additional_kwargs, _DELTA: (additional_kwargs.get(_DELTA) or "") + delta}


def without_thinking_delta(additional_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response's additional arguments for another response: a piece of reasoning is said once."""
    return {key: value for key, value in additional_kwargs.items() if key != _DELTA}
