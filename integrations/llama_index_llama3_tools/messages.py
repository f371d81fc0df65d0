"""Messages with tool calls, the way LlamaIndex's own function calling LLMs build them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias, final

from llama_index.core.base.llms.types import ContentBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, MessageRole, TextBlock
from llama_index.core.llms.llm import ToolSelection

from llama3_tools import Extraction, OpenAIToolCall, ToolCall
from llama3_tools.arguments.call_report import COERCED_ARGUMENTS, CoercedArguments, coerced_arguments
from llama3_tools.errors import a_type

__all__ = [
    "AnyResponse",
    "CallParts",
    "as_chat_response",
    "assistant_message",
    "checked_messages",
    "conversation",
    "has_native_calls",
    "promote_message",
    "tool_call_block",
    "tool_selection",
]

AnyResponse: TypeAlias = ChatResponse | CompletionResponse
"""What an LLM of LlamaIndex answers with."""


def tool_selection(call: ToolCall) -> ToolSelection:
    """Return a call as what LlamaIndex runs."""
    return ToolSelection(tool_id=call.id, tool_name=call.name, tool_kwargs=call.arguments)


def tool_call_block(call: ToolCall) -> ToolCallBlock:
    """Return a call as a block of a message."""
    return ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=call.arguments)


@final
class CallParts:
    """Calls as the parts of a message, each made once: the messages of a stream repeat the same parts."""

    def __init__(self, calls: Iterable[ToolCall] = ()) -> None:
        """Take the first calls."""
        self.blocks: list[ToolCallBlock] = []
        self.in_openai: list[OpenAIToolCall] = []
        """The calls in OpenAI's format."""
        self.told: list[CoercedArguments] = []
        """What became of their arguments."""
        for call in calls:
            self.add(call)

    def add(self, call: ToolCall) -> None:
        """Take the next call."""
        self.blocks.append(tool_call_block(call))
        self.in_openai.append(call.to_openai())
        self.told += coerced_arguments([call])


def assistant_message(
    text: str | None,
    calls: Iterable[ToolCall] | CallParts,
    *,
    reasoning: str | None = None,
    like: ChatMessage | None = None,
) -> ChatMessage:
    """Build a message of reasoning, text and calls: a `ThinkingBlock`, a `TextBlock`, then a `ToolCallBlock` a call.

    Args:
        text: the text; a message without calls always has a `TextBlock`, so that its content is never `None`.
        calls: the calls, also put into `additional_kwargs["tool_calls"]` in OpenAI's format. What was changed in their
            arguments, or does not fit, goes into `additional_kwargs["coerced_arguments"]`.
        reasoning: the reasoning that was split off the text.
        like: the message that they were found in. Its role, its additional arguments and its other blocks are kept,
            reasoning and calls of the server, too; the text takes the place of its first text.
    """
    parts = calls if isinstance(calls, CallParts) else CallParts(calls)
    original = like or ChatMessage(role=MessageRole.ASSISTANT)
    written: list[ContentBlock] = [ThinkingBlock(content=reasoning)] if reasoning else []
    if text or not (parts.blocks or has_native_calls(original)):
        written.append(TextBlock(text=text or ""))
    blocks = _with_written(original.blocks, written) + parts.blocks
    additional_kwargs = dict(original.additional_kwargs)
    if parts.blocks:
        additional_kwargs["tool_calls"] = list(parts.in_openai)
    if parts.told:
        additional_kwargs[COERCED_ARGUMENTS] = list(parts.told)
    # A copy, for the constructor would turn images in the additional arguments into blocks a second time.
    return original.model_copy(update={"blocks": blocks, "additional_kwargs": additional_kwargs})


def checked_messages(given: object, name: str = "messages") -> list[ChatMessage]:
    """Return a conversation as a list of its own.

    >>> checked_messages("Hi", "chat_history")
    Traceback (most recent call last):
    TypeError: chat_history must be a list of ChatMessage, got str: put ChatMessage(content=...) in a list

    Raises:
        TypeError: it is no list of messages.
    """
    if isinstance(given, (str, Mapping)):
        found = type(given).__name__
        raise TypeError(f"{name} must be a list of ChatMessage, got {found}: put ChatMessage(content=...) in a list")
    if isinstance(given, ChatMessage) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of ChatMessage, got {type(given).__name__}: put it in a list")
    messages = list(given)
    for index, message in enumerate(messages):
        if not isinstance(message, ChatMessage):
            found = a_type(message)
            raise TypeError(f"{name}[{index}] is {found}, not a ChatMessage: write ChatMessage(role=..., content=...)")
    return messages


def conversation(chat_history: object, user_msg: object) -> list[ChatMessage]:
    """Return a conversation as a list of its own, with what the user says after it.

    Raises:
        TypeError: `chat_history` is no list of messages, or `user_msg` neither a text nor a message.
    """
    messages = [] if chat_history is None else checked_messages(chat_history, "chat_history")
    if isinstance(user_msg, str):
        user_msg = ChatMessage(role=MessageRole.USER, content=user_msg)
    if isinstance(user_msg, ChatMessage):
        return [*messages, user_msg]
    if user_msg is not None:
        raise TypeError(
            f"user_msg must be a str or a ChatMessage, got {type(user_msg).__name__}: "
            "what was said before goes into chat_history, a list of ChatMessage"
        )
    return messages


def has_native_calls(message: ChatMessage) -> bool:
    """Return whether the server found calls itself, in blocks or (older integrations) in the additional arguments."""
    in_blocks = any(isinstance(block, ToolCallBlock) for block in message.blocks)
    return in_blocks or bool(message.additional_kwargs.get("tool_calls"))


def promote_message(message: ChatMessage, extraction: Extraction) -> ChatMessage:
    """Replace a message's text by what was extracted from it; where that is all of it, the message stays as it is."""
    if not extraction.tool_calls and extraction.content == (message.content or ""):
        return message
    return assistant_message(extraction.content, extraction.tool_calls, reasoning=extraction.reasoning, like=message)


def as_chat_response(response: AnyResponse) -> ChatResponse:
    """Return a completion as the chat response that LlamaIndex's own conversion makes of it, with its delta kept.

    Raises:
        TypeError: it is neither a `ChatResponse` nor a `CompletionResponse`.
    """
    if isinstance(response, ChatResponse):
        return response
    if not isinstance(response, CompletionResponse):
        raise TypeError(
            f"expected a ChatResponse or a CompletionResponse, as an LLM of LlamaIndex gives it, "
            f"got {type(response).__name__}"
        )
    message = ChatMessage(
        role=MessageRole.ASSISTANT, content=response.text, additional_kwargs=response.additional_kwargs
    )
    return ChatResponse(message=message, raw=response.raw, delta=response.delta, logprobs=response.logprobs)


def _with_written(blocks: Iterable[ContentBlock], written: list[ContentBlock]) -> list[ContentBlock]:
    """Put what is left of the text where its first part stood (at the end where there was none), and drop the rest."""
    kept: list[ContentBlock] = []
    place: int | None = None
    for block in blocks:
        if not isinstance(block, TextBlock):
            kept.append(block)
        elif place is None:
            place = len(kept)
    place = len(kept) if place is None else place
    return [*kept[:place], *written, *kept[place:]]
