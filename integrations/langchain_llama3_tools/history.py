"""A conversation with tools as plain text: what any server's chat template can render.

Templates and servers differ in what they take back. Llama 3.1's own raises on two calls in one message and drops the
text beside one; llama.cpp and vLLM refuse arguments that are no JSON; some know no role `tool`. Text passes everywhere.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, groupby
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    InvalidToolCall,
    MessageLikeRepresentation,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue

from langchain_llama3_tools.content import Block, Content, block_text
from langchain_llama3_tools.invalid import collected_text
from langchain_llama3_tools.messages import preserved_fields
from langchain_llama3_tools.options import require_choice
from llama3_tools import PromptFormat, render_tool_call, render_tool_calls, render_tool_result

__all__ = ["ToolRole", "flatten_tool_messages"]

ToolRole: TypeAlias = Literal["user", "tool", "ipython"]
"""The role in which a tool's result is sent: `user` passes every template, `tool` is OpenAI's, `ipython` Meta's."""

_CALL_BLOCKS = frozenset(
    {"tool_call", "tool_call_chunk", "invalid_tool_call", "tool_use", "function_call", "input_json_delta"}
)
"""Blocks of content that repeat a call of `tool_calls`: LangChain's, Anthropic's, OpenAI's."""

_CALL_KWARGS = frozenset({"tool_calls", "function_call"})
"""Where OpenAI's models keep calls a second time, from where they would be sent again."""


class _Called(NamedTuple):
    """What a result is known by."""

    place: int
    """Of its call, among those of the conversation."""
    name: str | None
    arguments: Mapping[str, Any] | None = None
    """Where the name alone is not unique in its turn."""


def flatten_tool_messages(
    messages: Iterable[MessageLikeRepresentation] | PromptValue,
    *,
    tool_role: ToolRole = "user",
    prompt_format: PromptFormat = "json",
) -> list[BaseMessage]:
    """Turn calls and results into text, so that no server's template breaks on them.

    A model's calls become part of its text, in the form asked for, whatever the form in which it wrote them; malformed
    ones stay as they were written. Results become messages of the role asked for, each with its tool's name, and with
    the arguments where its turn has two of one tool. The results of one turn come in the order of its calls, and in one
    message, except in the role `tool`, where each keeps its id. All other messages stay as they are.

    >>> from langchain_core.messages import AIMessage, ToolMessage
    >>> call = {"name": "get_weather", "args": {"city": "Paris"}, "id": "call_1"}
    >>> turn = [AIMessage("Let me check.", tool_calls=[call]), ToolMessage("sunny", tool_call_id="call_1")]
    >>> for message in flatten_tool_messages(turn):
    ...     print(f"{message.type}: {message.content}")
    ai: Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}
    human: Result of get_weather: sunny

    Args:
        messages: the conversation, in messages or what LangChain takes for them, such as `("user", "Hi")`; it is left
            as it is.
        tool_role: the role of a message with results.
        prompt_format: the form in which calls are written.

    Raises:
        TypeError: `messages` is no list of messages.
        ValueError: `tool_role` is none of the roles, `prompt_format` none of the formats, or LangChain knows no message
            of such a role or without such keys.
        NotImplementedError: LangChain takes no such thing for a message.
    """
    require_choice("tool_role", tool_role, get_args(ToolRole))
    _check_is_list(messages)
    flat: list[BaseMessage] = []
    calls: dict[str, _Called] = {}
    places = count()
    for is_results, group in groupby(
        convert_to_messages(messages), key=lambda message: isinstance(message, ToolMessage)
    ):
        if is_results:
            results = [message for message in group if isinstance(message, ToolMessage)]
            flat += _results(results, calls, tool_role)
            continue
        for message in group:
            if isinstance(message, AIMessage):
                calls |= _calls(message, places)  # an id that is used again is that of the newer call
                flat.append(_flattened(message, prompt_format))
            else:
                flat.append(message)
    return flat


def _check_is_list(messages: object) -> None:
    hint = ""
    if isinstance(messages, (str, BaseMessage)):  # which are iterable, over characters and fields
        hint = ": put it in a list"
    elif isinstance(messages, Mapping):
        hint = ': give its "messages"' if "messages" in messages else ": put it in a list"
    elif isinstance(messages, Iterable):
        return
    raise TypeError(f"messages must be a list of messages, got {messages!r:.80}{hint}")


def _flattened(message: AIMessage, prompt_format: PromptFormat) -> AIMessage:
    calls = list(_written_calls(message, prompt_format))
    fields = preserved_fields(message)
    kwargs = fields["additional_kwargs"]
    if not calls and not message.invalid_tool_calls and not _CALL_KWARGS & kwargs.keys():
        return message
    fields["additional_kwargs"] = {key: value for key, value in kwargs.items() if key not in _CALL_KWARGS}
    return AIMessage(content=_with_text(message.content, "; ".join(calls)), **fields)


def _written_calls(message: AIMessage, prompt_format: PromptFormat) -> Iterator[str]:
    calls = ((call["name"] or "unknown", call["args"]) for call in message.tool_calls)
    if message.tool_calls:
        yield render_tool_calls(calls, prompt_format=prompt_format)
    text = str(message.text)
    for invalid in message.invalid_tool_calls:
        written = _written_invalid(invalid, prompt_format)
        if written not in text:  # the calls that this library rejects are part of the text
            yield written


def _written_invalid(call: InvalidToolCall, prompt_format: PromptFormat) -> str:
    arguments = call["args"] or ""
    text = collected_text(arguments)
    return render_tool_call(call["name"] or "unknown", arguments, prompt_format=prompt_format) if text is None else text


def _with_text(content: Content, text: str) -> Content:
    if isinstance(content, str):
        return " ".join(filter(None, (content, text)))
    blocks = [block for block in content if isinstance(block, str) or block.get("type") not in _CALL_BLOCKS]
    return [*blocks, {"type": "text", "text": text}] if text else blocks


def _calls(message: AIMessage, places: Iterator[int]) -> dict[str, _Called]:
    """Return what the results of a message's calls are known by, by their ids."""
    made: list[tuple[str | None, str | None, Mapping[str, Any] | None]] = [
        *((call["id"], call["name"], call["args"]) for call in message.tool_calls),
        *((call["id"], call["name"], None) for call in message.invalid_tool_calls),
    ]
    names = Counter(call["name"] for call in message.tool_calls)
    calls: dict[str, _Called] = {}
    for call_id, name, arguments in made:
        if not call_id:
            continue
        if call_id in calls:  # which of the two a result is of, nobody knows
            first = calls[call_id]
            calls[call_id] = _Called(first.place, name if name == first.name else None)
        else:
            calls[call_id] = _Called(next(places), name, arguments if name and names[name] > 1 else None)
    return calls


def _results(results: list[ToolMessage], calls: Mapping[str, _Called], tool_role: ToolRole) -> list[BaseMessage]:
    def place(result: ToolMessage) -> int:
        called = calls.get(result.tool_call_id)
        return sys.maxsize if called is None else called.place

    results = sorted(results, key=place)
    contents = [_result(result, calls.get(result.tool_call_id)) for result in results]
    if tool_role == "tool":
        return [
            ToolMessage(content=content, tool_call_id=result.tool_call_id, name=result.name, id=result.id)
            for result, content in zip(results, contents, strict=True)
        ]
    content = _joined(contents)
    if tool_role == "ipython":
        return [ChatMessage(content=content, role="ipython", id=results[0].id)]
    return [HumanMessage(content=content, id=results[0].id)]


def _result(result: ToolMessage, call: _Called | None) -> Content:
    name, arguments = (call.name, call.arguments) if call else (None, None)
    is_text = isinstance(result.content, str) or all(block_text(block) is not None for block in result.content)
    text = render_tool_result(
        name or result.name,
        str(result.text) if is_text else "",
        arguments=arguments,
        is_error=result.status == "error",
    )
    if isinstance(result.content, str) or is_text:
        return text
    blocks: list[Block] = [{"type": "text", "text": text}]
    return [*blocks, *result.content]


def _joined(contents: list[Content]) -> Content:
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) == len(contents):
        return "\n\n".join(texts)
    blocks: list[Block] = []
    for content in contents:
        blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return blocks
