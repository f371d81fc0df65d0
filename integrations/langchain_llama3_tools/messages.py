"""One whole message read into an `AIMessage` with tool calls."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from langchain_llama3_tools.calls import to_block, to_tool_call
from langchain_llama3_tools.coerced import COERCED_ARGUMENTS, coerced_arguments
from langchain_llama3_tools.content import (
    Block,
    Content,
    ContentReader,
    Part,
    Run,
    block_text,
    copied,
    is_block,
    joined_text,
    merge_text,
)
from langchain_llama3_tools.invalid import REJECTED_TOOL_CALLS, InvalidCalls, to_invalid_call
from langchain_llama3_tools.native_calls import NativeCalls
from langchain_llama3_tools.native_messages import has_native_calls, settled
from langchain_llama3_tools.reading import Extractors
from langchain_llama3_tools.reasoning import REASONING_CONTENT, Thoughts
from llama3_tools import ReasoningDelta, ToolCall
from llama3_tools.chat.finish_reason import finish_reason_in, is_complete

__all__ = ["V1Blocks", "preserved_fields", "read_message", "uses_v1_blocks"]


def read_message(
    message: BaseMessage,
    extractors: Extractors,
    invalid_calls: InvalidCalls,
    native_calls: NativeCalls,
    *,
    told: object = None,
) -> AIMessage:
    """Read a model's message into a new one: its tool calls, its text, its reasoning, and all else as it was.

    In the text of a message with calls that the server found, no others are looked for.

    Args:
        message: what the model answered.
        extractors: what reads the texts.
        invalid_calls: what becomes of malformed calls.
        native_calls: what makes a server's calls fit to be run.
        told: what the server told beside the message, which may have its finish reason.

    Raises:
        OutputParserException: a call is malformed, and `invalid_calls` raises on that.
    """
    if isinstance(message, AIMessage) and has_native_calls(message):
        called = settled(message, native_calls)
        return called if extractors.without_calls is None else _without_reasoning(called, extractors.without_calls)
    parts, runs = _read(message, extractors, complete=is_complete(finish_reason_in(message.response_metadata, told)))
    rejected = invalid_calls.collect(runs)
    calls = [part for part in parts if isinstance(part, ToolCall)]
    fields: dict[str, Any] = {
        **preserved_fields(message),
        **_said(parts, message),
        "tool_calls": [to_tool_call(call) for call in calls],
        "invalid_tool_calls": [to_invalid_call(call) for call in rejected],
    }
    if rejected:
        fields["response_metadata"][REJECTED_TOOL_CALLS] = rejected
    if coerced := coerced_arguments(calls):
        fields["response_metadata"][COERCED_ARGUMENTS] = coerced
    if isinstance(message, AIMessage) and not isinstance(message, AIMessageChunk):
        return message.model_copy(update=fields)
    return AIMessage(**fields)


def uses_v1_blocks(message: BaseMessage) -> bool:
    """Whether the content lists calls too, beside `tool_calls` (LangChain's `output_version="v1"`)."""
    return message.response_metadata.get("output_version") == "v1"


class V1Blocks:
    """Lists the content of messages in the blocks of `output_version="v1"`, before calls are read from it.

    LangChain does so itself, with a message that is done. Between the chunks of one, it would then merge a text and
    a call of equal index; read from numbered blocks, calls and texts get indices that differ.
    """

    def __init__(self) -> None:
        """Start at the beginning of a message."""
        self._type = ""
        self._index = -1

    def list_content(self, message: BaseMessage) -> BaseMessage:
        """Return the message, or the next chunk of it, with its content as blocks."""
        blocks = [dict(block) for block in message.content_blocks]
        if isinstance(message, AIMessageChunk):
            for block in blocks:
                if block["type"] != self._type:
                    self._type, self._index = str(block["type"]), self._index + 1
                block.setdefault("index", self._index)
        metadata = {**message.response_metadata, "output_version": "v1"}
        return message.model_copy(update={"content": blocks, "response_metadata": metadata})


def preserved_fields(message: BaseMessage) -> dict[str, Any]:
    """Return the fields of a message that have nothing to do with its text or its calls."""
    return {
        **(message.model_extra or {}),
        "additional_kwargs": dict(message.additional_kwargs),
        "response_metadata": dict(message.response_metadata),
        "usage_metadata": message.usage_metadata if isinstance(message, AIMessage) else None,
        "name": message.name,
        "id": message.id,
    }


def _read(message: BaseMessage, extractors: Extractors, *, complete: bool = True) -> tuple[list[Part], list[Run]]:
    content, reader = message.content, ContentReader(extractors)
    if message.additional_kwargs.get(REASONING_CONTENT):
        reader.begin()
    if isinstance(content, str) and extractors.without_calls is None:
        return reader.read_whole(content, complete=complete), reader.runs
    parts: list[Part] = []
    groups = [
        (is_text, list(blocks))
        for is_text, blocks in groupby(_listed(content), key=lambda block: block_text(block) is not None)
    ]
    for index, (is_text, run) in enumerate(groups, 1):
        ended = complete or index < len(groups)  # a limit ends the last run alone
        parts += _read_run(run, reader, complete=ended) if is_text else reader.feed(run)
    return parts, reader.runs


def _listed(content: Content) -> list[Block]:
    return [content] if isinstance(content, str) else content


def _read_run(blocks: list[Block], reader: ContentReader, *, complete: bool) -> list[Part]:
    parts = reader.feed(blocks) + reader.flush(complete=complete)
    written = joined_text(blocks)
    if not written:
        return parts
    content = reader.runs[-1].extraction.content or ""
    if content == written:
        return [copied(block) for block in blocks]
    # A stream hands out white space at the start before it can know that a call follows, which strips it.
    return merge_text(_without_start(parts, len(joined_text(parts)) - len(content)))


def _without_start(parts: list[Part], length: int) -> list[Part]:
    for index, part in enumerate(parts):
        if is_block(part) and (text := block_text(part)):
            cut = text[length:]
            return [*parts[:index], cut if isinstance(part, str) else {**part, "text": cut}, *parts[index + 1 :]]
    return parts


def _without_reasoning(message: AIMessage, extractors: Extractors) -> AIMessage:
    """Read the reasoning alone in a message whose calls the server has found."""
    parts, runs = _read(message, extractors)
    is_read = any(run.extraction.content != run.text for run in runs)
    return message.model_copy(update=_said(parts, message)) if is_read else message


def _said(parts: list[Part], message: BaseMessage) -> dict[str, Any]:
    """Return what parts are in a message: its content, and what stands beside it."""
    if isinstance(message.content, list) and uses_v1_blocks(message):
        return {"content": [_block(part) for part in parts]}
    thoughts = Thoughts()
    kwargs = thoughts.sent(dict(message.additional_kwargs))
    for part in parts:
        if isinstance(part, ReasoningDelta):
            kwargs = thoughts.beside(kwargs, part.text)
        else:
            thoughts.interrupt(part)
    content = joined_text(parts) if isinstance(message.content, str) else [part for part in parts if is_block(part)]
    return {"content": content, "additional_kwargs": kwargs}


def _block(part: Part) -> Block:
    if isinstance(part, ToolCall):
        return to_block(part)
    return {"type": "reasoning", "reasoning": part.text.lstrip()} if isinstance(part, ReasoningDelta) else part
