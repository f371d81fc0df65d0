"""The tool prompt in LlamaIndex's messages."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.llms import ChatMessage, MessageRole, TextBlock

from llama3_tools.prompts.placement import ToolsIn, find_place, put_prompt

__all__ = ["with_tool_prompt"]


def with_tool_prompt(messages: Sequence[ChatMessage], prompt: str, *, tools_in: ToolsIn = "user") -> list[ChatMessage]:
    """Put the prompt in front of the first user message, or at the end of the system message. Changes no message.

    Without such a message it becomes one.

    Args:
        messages: the conversation.
        prompt: the tools, rendered.
        tools_in: the message that takes it.
    """
    formatted = list(messages)
    place = find_place([message.role.value for message in formatted], tools_in)
    if place.is_new:
        formatted.insert(place.index, ChatMessage(role=MessageRole(tools_in), content=prompt))
    else:
        formatted[place.index] = _with_prompt(formatted[place.index], prompt, tools_in)
    return formatted


def _with_prompt(message: ChatMessage, prompt: str, tools_in: ToolsIn) -> ChatMessage:
    blocks = list(message.blocks)
    texts = [block.text if isinstance(block, TextBlock) else None for block in blocks]
    place, text = put_prompt(prompt, texts, tools_in)
    blocks[place.index : place.index + (not place.is_new)] = [TextBlock(text=text)]
    return message.model_copy(update={"blocks": blocks})
