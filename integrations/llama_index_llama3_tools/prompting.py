"""Where the tool prompt goes: in front of the first user message, as Llama 3.1's own template has it, or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from llama_index.core.llms import ChatMessage, MessageRole, TextBlock

__all__ = ["ToolsIn", "prompt_before", "with_tool_prompt"]

ToolsIn: TypeAlias = Literal["user", "system"]
"""The message that shows the model its tools: the first of the user, or the system message."""


def prompt_before(prompt: str, text: str) -> str:
    """Put a prompt in front of a text, a blank line between them."""
    return f"{prompt}\n\n{text}"


def with_tool_prompt(messages: Sequence[ChatMessage], prompt: str, *, tools_in: ToolsIn = "user") -> list[ChatMessage]:
    """Put the prompt in front of the first user message, or at the end of the system message. Changes no message.

    Without a user message the prompt ends the first message; without a system message it becomes one.

    Args:
        messages: the conversation.
        prompt: the tools, rendered.
        tools_in: the message that takes it.
    """
    if tools_in == "system":
        return _in_system_message(messages, prompt)
    formatted = list(messages)
    for index, message in enumerate(formatted):
        if message.role == MessageRole.USER:
            formatted[index] = _with_text_first(message, prompt)
            return formatted
    if formatted:
        first = formatted[0]
        formatted[0] = first.model_copy(update={"blocks": [*first.blocks, TextBlock(text=prompt)]})
    return formatted


def _in_system_message(messages: Sequence[ChatMessage], prompt: str) -> list[ChatMessage]:
    first, *others = messages or [ChatMessage(role=MessageRole.SYSTEM)]
    if first.role != MessageRole.SYSTEM:
        return [ChatMessage(role=MessageRole.SYSTEM, content=prompt), first, *others]
    # One text, for clients join the texts of a message in different ways.
    text = prompt_before(first.content, prompt) if first.content else prompt
    return [first.model_copy(update={"blocks": [TextBlock(text=text)]}), *others]


def _with_text_first(message: ChatMessage, prompt: str) -> ChatMessage:
    blocks = list(message.blocks)
    for index, block in enumerate(blocks):
        if isinstance(block, TextBlock):
            blocks[index] = block.model_copy(update={"text": prompt_before(prompt, block.text)})
            break
    else:
        blocks.insert(0, TextBlock(text=prompt))
    return message.model_copy(update={"blocks": blocks})
