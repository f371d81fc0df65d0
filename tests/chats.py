"""Answers of a model for the chat layer: whole, in deltas of every kind, and broken off at each place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from llama3_tools import ReadOptions, ToolCall
from llama3_tools.chat import ChatOptions, Reply, Request, ToolChat

Delta: TypeAlias = dict[str, Any]

TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
    {"name": "now"},
    {"name": "light", "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}}},
]
CITY = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
USER = {"role": "user", "content": "Hi"}


def same_id() -> str:
    """The id of all calls, so that answers can be compared."""
    return "call_1"


def asked(
    tools: Sequence[Mapping[str, Any]] = TOOLS,
    *,
    read: Mapping[str, Any] | None = None,
    request: Mapping[str, Any] | None = None,
    **options: Any,
) -> Request:
    """A request of a user who says hi; all calls have one id."""
    given = {"on_unknown_tool": "call", "coerce_arguments": True, "id_factory": same_id, **(read or {})}
    chat = ToolChat(tools, ChatOptions(read=ReadOptions(**given), **options))
    return chat.request([USER], **(request or {}))


def native(name: str, arguments: object, call_id: str = "a") -> dict[str, Any]:
    """A call that the server found, in OpenAI's form."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def call_of(name: str, arguments: str, call_id: str = "call_1") -> dict[str, Any]:
    """What comes out for a call."""
    return native(name, arguments, call_id)


def made(calls: Sequence[ToolCall]) -> list[tuple[str, dict[str, Any]]]:
    """The names and arguments of calls."""
    return [(call.name, call.arguments) for call in calls]


def refusals(reply: Reply) -> list[tuple[str, str]]:
    """The names and reasons of the calls that were refused."""
    return [(call.name, call.reason) for call in reply.report.refused]


def deltas_of(message: Mapping[str, Any], size: int = 1) -> Iterator[Delta]:
    """Cut a message into deltas whose texts have a size."""
    for key in ("reasoning_content", "content"):
        content = message.get(key)
        for part in [content] if isinstance(content, str) else content or ():
            if isinstance(part, str):
                yield from ({key: piece} for piece in cut(part, size))
            elif part["type"] == "text":
                yield from ({key: [{"type": "text", "text": piece}]} for piece in cut(part["text"], size))
            else:
                yield {key: [part]}
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        first = {"name": function["name"], "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": first}]}
        if isinstance(function["arguments"], str):
            for piece in cut(function["arguments"], size):
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
        else:
            yield {"tool_calls": [{"index": index, "function": {"arguments": function["arguments"]}}]}


def cut(text: str, size: int) -> list[str]:
    """Cut a text into pieces; an empty one is one piece."""
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


def read_in_every_way(request: Request, message: Mapping[str, Any], finish_reason: str | None = "stop") -> Reply:
    """Read an answer whole, hold streams of it to the same reply, and let it break off at each place."""
    reply = request.read(message, finish_reason)
    for size in (1, 2, 3, 7, 10_000):
        stream = request.stream()
        deltas = [out for delta in deltas_of(message, size) for out in stream.feed(delta)]
        deltas += stream.end(finish_reason)
        assert stream.reply == reply, size
        assert calls_in(deltas) == [call.to_openai() for call in reply.tool_calls]
        assert "".join(out.get("reasoning_content", "") for out in deltas) == (reply.reasoning or "")
        unsaid = stream.reply.earlier.unsaid if stream.reply.earlier else ""
        assert (content_in(deltas) + unsaid).lstrip() == content_in([{"content": reply.content}]).lstrip()
    breaks_off_safely(request, message)
    return reply


def breaks_off_safely(request: Request, message: Mapping[str, Any]) -> None:
    """Break an answer off at each place: what had been handed out is called, and nothing else."""
    deltas = list(deltas_of(message))
    for count in range(len(deltas) + 1):
        stream = request.stream()
        before = [out for delta in deltas[:count] for out in stream.feed(delta)]
        after = stream.abort()
        assert calls_in(after) == []
        assert [call.to_openai() for call in stream.reply.tool_calls] == calls_in(before)
        assert stream.reply.finish_reason is None
        assert request.retry(stream.reply) is None
        assert content_in([*before, *after]).lstrip() == content_in([{"content": stream.reply.content}]).lstrip()
        named = {name for piece in deltas[:count] for name in names_in(piece)}
        text = content_in([*before, *after])
        called = {call["function"]["name"] for call in calls_in(before)}
        assert all(name in text or name in called for name in named), "what the server had sent is text"


def names_in(delta: Delta) -> list[str]:
    """The names in the pieces of a server's calls."""
    return [name for piece in delta.get("tool_calls", ()) if (name := piece["function"].get("name"))]


def content_in(deltas: Sequence[Delta]) -> str:
    """The text of deltas; each part other than text is a mark in it."""
    contents = [delta.get("content") or "" for delta in deltas]
    parts = [part for content in contents for part in ([content] if isinstance(content, str) else content)]
    return "".join(part if isinstance(part, str) else text_in(part) for part in parts)


def text_in(part: Mapping[str, Any]) -> str:
    """The text of a part, or a mark."""
    return str(part["text"]) if part["type"] == "text" else "¤"


def calls_in(deltas: Sequence[Delta]) -> list[dict[str, Any]]:
    """The calls of deltas, which are numbered in their order."""
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert [call["index"] for call in calls] == list(range(len(calls)))
    return [{key: value for key, value in call.items() if key != "index"} for call in calls]
