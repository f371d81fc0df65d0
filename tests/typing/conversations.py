"""Conversations as a type checker sees them. `mypy` reads this file; nothing runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typing_extensions import assert_type

from llama3_tools import OpenAIMessage, ReadOptions, ToolCall, ToolLike
from llama3_tools.chat import ChatOptions, ChatStream, RefusedCall, Reply, Report, Request, ToolChat, kept_chat


def a_conversation(tools: Sequence[ToolLike], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    chat = ToolChat(tools, ChatOptions(read=ReadOptions(repair=True), tool_role="tool", max_retries=2))
    request = chat.request(messages, tool_choice={"type": "any"}, parallel_tool_calls=False)
    assert_type(request, Request)
    assert_type(request.messages, list[dict[str, Any]])
    return request.messages


def an_answer(request: Request, answer: dict[str, Any]) -> Request | None:
    reply = request.read(answer, "stop")
    assert_type(reply, Reply)
    assert_type(reply.content, str | list[Any] | None)
    assert_type(reply.tool_calls, tuple[ToolCall, ...])
    assert_type(reply.finish_reason, str | None)
    assert_type(reply.to_openai(), OpenAIMessage)
    assert_type(reply.report, Report)
    assert_type(reply.report.refused, tuple[RefusedCall, ...])
    return request.retry(reply)


def a_stream(request: Request, deltas: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    stream = request.stream()
    assert_type(stream, ChatStream)
    handed_out = [out for delta in deltas for out in stream.feed(delta)]
    return [*handed_out, *stream.end("stop"), *stream.abort()]


def a_chat_that_is_kept(tools: list[dict[str, Any]]) -> ToolChat:
    return kept_chat(tools)
