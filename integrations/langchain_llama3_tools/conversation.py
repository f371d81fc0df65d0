"""LangChain's messages as the dicts of `llama3_tools.chat`, and back: what goes to a model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    MessageLikeRepresentation,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    message_chunk_to_message,
)
from langchain_core.prompt_values import PromptValue

from llama3_tools import PromptFormat
from llama3_tools.chat import REFUSED_TOOL_CALLS, ToolChat, ToolRole

Content: TypeAlias = str | list[str | dict[Any, Any]]
"""The content of a message, as LangChain types it."""

REASONING = "reasoning_content"
"""Where LangChain's reasoning models have what was thought, among a message's `additional_kwargs`."""

_CALL_BLOCKS = {"tool_call", "tool_call_chunk", "invalid_tool_call", "tool_use", "function_call", "input_json_delta"}
"""Blocks of content that repeat a call of `tool_calls`: LangChain's, Anthropic's, OpenAI's."""
_NOT_SENT = {"tool_calls", "function_call", REASONING}  # the first two of OpenAI's models, which keep calls twice
_ORIGINAL = "langchain_message"
"""The key of a dict that has the message itself: what does not change goes to the model as it is."""


def flatten_tool_messages(
    messages: Iterable[MessageLikeRepresentation] | PromptValue,
    *,
    tool_role: ToolRole = "user",
    prompt_format: PromptFormat = "json",
) -> list[BaseMessage]:
    """Turn calls and results into text, so that no server's template breaks on them.

    `Llama3ToolModel` does so with each request; this is for a graph of your own. All other messages stay as they are.

    >>> from langchain_core.messages import AIMessage, ToolMessage
    >>> call = {"name": "get_weather", "args": {"city": "Paris"}, "id": "call_1"}
    >>> turn = [AIMessage("Let me check.", tool_calls=[call]), ToolMessage("sunny", tool_call_id="call_1")]
    >>> for message in flatten_tool_messages(turn):
    ...     print(f"{message.type}: {message.content}")
    ai: Let me check.
    {"name": "get_weather", "parameters": {"city": "Paris"}}
    human: Result of get_weather: sunny

    Args:
        messages: the conversation, as messages, or what LangChain converts to them, such as `("user", "Hi")`.
        tool_role: the role of a message with results.
        prompt_format: the form in which calls are written.

    Raises:
        TypeError: `messages` is not a list of messages.
        NotImplementedError, ValueError: LangChain can make no message of one, or an option is none of its words.
    """
    chat = ToolChat((), tool_role=tool_role, prompt_format=prompt_format)
    if isinstance(messages, (str, BaseMessage, Mapping)) or not isinstance(messages, Iterable):
        raise TypeError(f"messages must be a list of messages, got {messages!r:.80}")
    request = chat.request([*map(to_dict, convert_to_messages(messages))])
    return [*map(to_message, request.messages)]


def to_dict(message: BaseMessage) -> dict[str, Any]:
    """Return a message of a conversation in the chat layer's form."""
    converted = {"role": _role(message), "content": message.content, _ORIGINAL: message}
    if isinstance(message, ToolMessage):
        given = {"tool_call_id": message.tool_call_id, "is_error": message.status == "error"}
        return {**converted, **given, "name": message.name}
    if isinstance(message, AIMessage):
        told = {key: value for key, value in message.response_metadata.items() if key == REFUSED_TOOL_CALLS}
        return {**converted, **of_answer(message), **_with_calls(message, _listed_calls(message)), **told}
    return converted


def of_answer(message: BaseMessage) -> dict[str, Any]:
    """Return what a model answered, or a piece of it, in the chat layer's form: text, calls, and thoughts."""
    answer: dict[str, Any] = {"content": message.content}
    if kwargs := message.additional_kwargs:
        answer[REASONING] = kwargs.get(REASONING)
        if isinstance(kwargs.get("function_call"), Mapping):
            answer["function_call"] = kwargs["function_call"]
    return answer | _with_calls(message, _sent_calls(message))


def other_kwargs(message: BaseMessage) -> dict[str, Any]:
    """Return the `additional_kwargs` of a message but its calls and its thoughts."""
    return {key: value for key, value in message.additional_kwargs.items() if key not in _NOT_SENT}


def _role(message: BaseMessage) -> str:
    if isinstance(message, ChatMessage):
        return message.role
    roles: dict[type[BaseMessage], str] = {HumanMessage: "user", SystemMessage: "system", AIMessage: "assistant"}
    return next((role for kind, role in roles.items() if isinstance(message, kind)), message.type)


def _with_calls(message: BaseMessage, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Return calls beside a content that does not repeat them; nothing if there are none."""
    content: Any = message.content
    if not isinstance(content, str):
        content = [one for one in content if isinstance(one, str) or one.get("type") not in _CALL_BLOCKS]
    return {"content": content, "tool_calls": calls} if calls else {}


def _sent_calls(message: BaseMessage) -> list[dict[str, Any]]:
    """Return the calls that the server found, or pieces of them, as it has sent them: LangChain completes some."""
    sent: Any = message.additional_kwargs.get("tool_calls")
    are_pieces = bool(sent) and _are_pieces(sent)
    if not isinstance(message, AIMessageChunk):
        listed = _listed_calls(message)
        return list(sent) if are_pieces and _is_summed(sent, listed) else listed
    if are_pieces:
        return list(sent)
    return [_call(piece["name"], piece["args"], piece["id"], piece["index"]) for piece in message.tool_call_chunks]


def _is_summed(sent: list[Mapping[str, Any]], listed: list[dict[str, Any]]) -> bool:
    """Return whether calls are those of a stream, whose sum may have lost their arguments, and none is gone."""
    return all("index" in one for one in sent) and [one.get("id") for one in sent] == [one["id"] for one in listed]


def _listed_calls(message: BaseMessage) -> list[dict[str, Any]]:
    """Return the calls of a message that an agent goes by, in OpenAI's form."""
    if not isinstance(message, AIMessage):
        return []
    malformed = [call for call in message.invalid_tool_calls if not _is_collected(call["args"])]
    return [_call(call["name"], call["args"], call["id"]) for call in (*message.tool_calls, *malformed)]


def _call(name: str | None, arguments: object, call_id: str | None, index: object = None) -> dict[str, Any]:
    return {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}


def _are_pieces(sent: object) -> bool:
    """Return whether these are the pieces of calls as OpenAI sends them: LangChain reads those with a name alone."""
    return isinstance(sent, list) and all(
        isinstance(piece, Mapping) and isinstance(piece.get("function"), Mapping) for piece in sent
    )


def _is_collected(args: str | None) -> bool:
    """Return whether the text of an invalid call is in the content: its `args` are a JSON string without its end."""
    try:
        return isinstance(json.loads(f'{args}"'), str)
    except (ValueError, RecursionError):
        return False


def to_message(message: Mapping[str, Any]) -> BaseMessage:
    """Return a message of the chat layer as LangChain's; see `to_dict`."""
    original: BaseMessage | None = message.get(_ORIGINAL)
    content = "" if message["content"] is None else message["content"]
    if original is None:
        return _new_message(message["role"], content)
    if isinstance(original, AIMessage):
        has_calls = original.tool_calls or original.invalid_tool_calls or _NOT_SENT & original.additional_kwargs.keys()
        if not has_calls and content == original.content:
            return original
        metadata = {key: value for key, value in original.response_metadata.items() if key != "output_version"}
        fields = {"content": content, "additional_kwargs": other_kwargs(original), "response_metadata": metadata}
        whole = message_chunk_to_message(original)
        return whole.model_copy(update={**fields, "tool_calls": [], "invalid_tool_calls": []})
    role = {"role": message["role"]} if isinstance(original, ChatMessage) else {}
    is_same = content == original.content and role.get("role") == getattr(original, "role", None)
    return original if is_same else original.model_copy(update={"content": content, **role})


def _new_message(role: str, content: Content) -> BaseMessage:
    kinds: dict[str, type[BaseMessage]] = {"user": HumanMessage, "system": SystemMessage, "assistant": AIMessage}
    return kinds[role](content=content) if role in kinds else ChatMessage(content=content, role=role)
