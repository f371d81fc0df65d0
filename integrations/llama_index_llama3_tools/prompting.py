"""Where the tool prompt goes: in front of the first user message, as Llama 3.1's own template has it."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.llms import ChatMessage, MessageRole, TextBlock

__all__ = ["prompt_before", "with_tool_prompt"]


def prompt_before(prompt: str, text: str) -> str:
    """Put a prompt in front of a text, a blank line between them."""
    return f"{prompt}\n\n{text}"


def with_tool_prompt(messages: Sequence[ChatMessage], prompt: str) -> list[ChatMessage]:
    """Put the prompt into the first user message; without one, at the end of the first message. Changes no message.

    Args:
        messages: the conversation.
        prompt: the tools, rendered.
    """
    formatted = list(messages)
    for index, message in enumerate(formatted):
        if message.role == MessageRole.USER:
            formatted[index] = _with_text_first(message, prompt)
            return formatted
    if formatted:
        first = formatted[0]
        formatted[0] = first.model_copy(update={"blocks": [*first.blocks, TextBlock(text=prompt)]})
    return formatted


def _with_text_first(message: ChatMessage, prompt: str) -> ChatMessage:
    blocks = list(message.blocks)
    for index, block in enumerate(blocks):
        if isinstance(block, TextBlock):
            blocks[index] = block.model_copy(update={"text": prompt_before(prompt, block.text)})
            break
    else:
        blocks.insert(0, TextBlock(text=prompt))
    return message.model_copy(update={"blocks": blocks})
