"""Messages of LlamaIndex as the chat layer has them, and back; and what an answer becomes in LlamaIndex."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from llama_index.core.base.llms.types import ContentBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms import ChatMessage, MessageRole, TextBlock

NO_PLACE = frozenset({"progress"})
"""The options of reading for which no message has a place."""
CALL_KWARGS = frozenset({"tool_calls", "function_call"})
"""Where integrations put calls that are in no blocks."""
_RESULTS = {MessageRole.TOOL, MessageRole.FUNCTION}
_ONE_TEXT = {MessageRole.ASSISTANT, *_RESULTS}
"""The roles of messages whose texts the chat layer joins, which LlamaIndex puts on separate lines."""
_ERROR = re.compile(r"Encountered error: |Tool .* not found\. Please select a tool that is available\.\Z", re.DOTALL)
"""How LlamaIndex begins the result of a tool that failed (`call_tool_with_selection`), or answers a call of none."""


def to_dicts(messages: Iterable[ChatMessage]) -> list[dict[str, Any]]:
    """Return messages as the chat layer takes them. Blocks other than text stay as they are, among the parts.

    >>> to_dicts([ChatMessage(role="tool", content="12:30", additional_kwargs={"tool_call_id": "1"})])
    [{'tool_call_id': '1', 'role': 'tool', 'content': '12:30'}]
    """
    return [_to_dict(message) for message in messages]


def _to_dict(message: ChatMessage) -> dict[str, Any]:
    parts = [_part(block) for block in message.blocks if not _is_apart(block)]
    is_one_text = message.role in _ONE_TEXT and all(isinstance(part, str) for part in parts)
    content = message.content if is_one_text else parts
    calls = {"tool_calls": made} if (made := calls_of(message)) else {}
    error = {"is_error": True} if message.role in _RESULTS and _ERROR.match(message.content or "") else {}
    return {**message.additional_kwargs, "role": message.role.value, "content": content, **calls, **error}


def _part(block: ContentBlock) -> object:
    return block.text if isinstance(block, TextBlock) else block


def _is_apart(block: ContentBlock) -> bool:
    """Return whether a block is not content: a call, or a thought that no server has signed and wants back."""
    return isinstance(block, ToolCallBlock) or (isinstance(block, ThinkingBlock) and not block.additional_information)


def calls_of(message: ChatMessage) -> list[dict[str, Any]]:
    """Return the calls of a message in OpenAI's form: its blocks, or (other integrations) its additional arguments."""
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if not blocks:
        given, function = (message.additional_kwargs.get(key) for key in ("tool_calls", "function_call"))
        if isinstance(given, (list, tuple)) and given:
            return [_call(call) for call in given]
        return [{"function": _call(function)}] if function else []
    return [
        # No arguments are `{}` here also if they have not come yet.
        {"id": block.tool_call_id, "function": {"name": block.tool_name, "arguments": block.tool_kwargs or ""}}
        for block in blocks
    ]


def _call(call: object) -> Any:  # noqa: ANN401 (as it was given)
    """Return a call as a dict: some integrations have an object of OpenAI's client."""
    return call.model_dump() if isinstance(call, BaseModel) else call


def to_messages(messages: Iterable[Mapping[str, Any]]) -> list[ChatMessage]:
    """Return messages of the chat layer as LlamaIndex's; see `to_dicts`."""
    return [_to_message(message) for message in messages]


def with_own_roles(sent: list[dict[str, Any]], given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what was given if the chat layer has changed nothing but roles that servers of Llama 3 do not know.

    >>> with_own_roles([{"role": "system", "content": "Hi"}], [{"role": "developer", "content": "Hi"}])
    [{'role': 'developer', 'content': 'Hi'}]
    """
    return given if [{**one, "role": ""} for one in sent] == [{**one, "role": ""} for one in given] else sent


def _to_message(message: Mapping[str, Any]) -> ChatMessage:
    content = message["content"]
    parts = content if isinstance(content, list) else [] if content is None else [content]
    kwargs = {key: value for key, value in message.items() if key not in ("role", "content")}
    # No constructor: it makes blocks of images in the additional arguments, which have some by then.
    blocks = [_block(part) for part in parts]
    return ChatMessage.model_construct(role=MessageRole(message["role"]), blocks=blocks, additional_kwargs=kwargs)


def _block(part: object) -> Any:  # noqa: ANN401 (of a message's blocks)
    if isinstance(part, str):
        return TextBlock(text=part)
    return TextBlock(text=part["text"]) if isinstance(part, Mapping) else part


def answer_message(
    like: ChatMessage, text: str, reasoning: str, calls: list[ToolCallBlock], additional_kwargs: Mapping[str, Any]
) -> ChatMessage:
    """Return an answer as LlamaIndex has it: a `ThinkingBlock`, a `TextBlock`, then a `ToolCallBlock` for each call.

    Args:
        like: the message of the LLM. Its other blocks and additional arguments stay; the text takes the place of its
            first text.
        text: the text. A message without calls always has a `TextBlock`, so that its content is never `None`.
        reasoning: what was split off the text.
        calls: the calls that run; those of `like` go.
        additional_kwargs: what goes before the message's own.
    """
    written: list[ContentBlock] = [ThinkingBlock(content=reasoning)] if reasoning else []
    if text or not calls:
        written.append(TextBlock(text=text))
    blocks: list[ContentBlock] = []
    for block in like.blocks:
        if isinstance(block, TextBlock):
            blocks += written
            written = []
        elif not isinstance(block, ToolCallBlock):
            blocks.append(block)
    kwargs = {key: value for key, value in like.additional_kwargs.items() if key not in CALL_KWARGS}
    # A copy, as the constructor would make blocks of images in the additional arguments a second time.
    changes = {"blocks": [*blocks, *written, *calls], "additional_kwargs": {**kwargs, **additional_kwargs}}
    return like.model_copy(update=changes)
