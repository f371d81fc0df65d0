"""What a model answered, read by `llama3_tools.chat`, as LangChain's messages: whole, or in chunks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    InvalidToolCall,
    ToolCallChunk,
)
from langchain_core.messages import ToolCall as LangChainToolCall
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from langchain_llama3_tools.conversation import REASONING, Content, of_answer, other_kwargs
from llama3_tools import ToolCall
from llama3_tools.chat import RefusedCall, Reply, Report, Request, finish_reason_in

__all__ = ["AnswerStream", "read_answer", "with_reason"]

_FINISH_REASON = "finish_reason"


def read_answer(request: Request, message: BaseMessage, info: object = None) -> tuple[AIMessage, Reply]:
    """Read a whole message into a new one: its calls, its text, its thoughts, and all else as it was.

    Args:
        request: what the message answers.
        message: what the model answered.
        info: what the server sent beside the message, which may have its finish reason.

    Returns:
        The message, and what the chat layer says of it.
    """
    reply = request.read(of_answer(message), finish_reason_in(message.response_metadata, info))
    kwargs = other_kwargs(message)
    fields: dict[str, Any] = {
        "content": _content(reply),
        "tool_calls": [to_call(call) for call in reply.tool_calls],
        "invalid_tool_calls": [_to_invalid(call) for call in reply.report.refused],
        "additional_kwargs": kwargs if reply.reasoning is None else {**kwargs, REASONING: reply.reasoning},
        "response_metadata": with_reason(_metadata(message), reply) | reply.report.to_dict(),
    }
    if isinstance(message, AIMessage) and not isinstance(message, AIMessageChunk):
        return message.model_copy(update=fields), reply
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    kept = {**(message.model_extra or {}), "usage_metadata": usage, "name": message.name, "id": message.id}
    return AIMessage(**{**kept, **fields}), reply


def _metadata(message: BaseMessage) -> dict[str, Any]:
    """Return what the server says of an answer, without what says in which form the content lists calls and thoughts.

    The text becomes one, and calls and thoughts stand beside it; `content_blocks` puts them together again.
    """
    own = {"output_version"} if isinstance(message.content, str) else {"output_version", "model_provider"}
    return {key: value for key, value in message.response_metadata.items() if key not in own}


def with_reason(info: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    """Return what the server says of an answer, with its finish reason, if it has one, as OpenAI means it.

    Where there are thoughts, the provider is left out: by its name, `content_blocks` would look for them elsewhere.
    """
    info = {key: value for key, value in info.items() if key != "model_provider" or reply.reasoning is None}
    reason = {_FINISH_REASON: reply.finish_reason} if info.get(_FINISH_REASON) and reply.finish_reason else {}
    return {**info, **reason}


class AnswerStream:
    """Reads the chunks of one answer: text and thoughts at once, each call whole.

    What the server sends beside the text goes out on the last chunk that has something, so that sums count it once,
    and with the finish reason as it is then.

    >>> from llama3_tools.chat import REFUSED_TOOL_CALLS, ToolChat
    >>> stream = AnswerStream(ToolChat(None).request([]))
    >>> text = ["Sure. ", '{"name": "now", ', '"parameters": {}}', " One moment."]
    >>> chunks = [chunk for piece in text for chunk in stream.feed(piece)] + list(stream.end())
    >>> [(chunk.content, [call["name"] for call in chunk.tool_calls]) for chunk in chunks]
    [('Sure.', []), ('', ['now']), (' One moment.', [])]
    """

    def __init__(self, request: Request, *, after: AnswerStream | None = None, first_index: int = 0) -> None:
        """Begin an answer.

        Args:
            request: what it answers.
            after: the answer before it in the same message, if the model was asked again.
            first_index: that of the first call in the message.
        """
        self.has_begun = False
        """Whether anything has arrived."""
        self.has_content = False
        """Whether text, thoughts or calls have."""
        self._written: list[str] = []
        self._stream = request.stream()
        self.index: int = after.index if after else first_index
        """The index of the next call in the message."""
        self.id: str | None = after.id if after else None
        """The id of the message."""
        self._name: str | None = None
        self._infos: list[ChatGenerationChunk] = []

    @property
    def reply(self) -> Reply:
        """What the chat layer says of the answer, once it is over."""
        return self._stream.reply

    @property
    def written(self) -> str:
        """The text, as it came."""
        return "".join(self._written)

    def feed(self, given: str | BaseMessage, info: dict[str, Any] | None = None) -> Iterator[AIMessageChunk]:
        """Take the next chunk, and return what became certain.

        Args:
            given: a text, a chunk or a whole message.
            info: what the server sent beside it.
        """
        self.has_begun = True
        if isinstance(given, str):
            self.has_content = self.has_content or bool(given)
            self._written.append(given)
            yield from self._chunks(self._stream.feed({"content": given}), {})
            return
        self._written.append(given.content if isinstance(given.content, str) else str(given.text))
        self._keep(given, info)
        answer = of_answer(given)
        self.has_content = self.has_content or any(answer.values())
        yield from self._chunks(self._stream.feed(answer), _fields(given))

    def end(self) -> Iterator[AIMessageChunk]:
        """Take the end of the answer, and return what was held back for it."""
        places = ((one.generation_info, one.message.response_metadata) for one in reversed(self._infos))
        yield from self._chunks(self._stream.end(finish_reason_in(*chain.from_iterable(places))), {})

    def abort(self) -> Iterator[AIMessageChunk]:
        """Take the news that the answer broke off, and return what was held back, as text."""
        yield from self._chunks(self._stream.abort(), {})

    def report(self) -> ChatGenerationChunk:
        """Return a chunk with all that is known at the end. It cannot be the last one, whose calls LangChain reads."""
        infos = self._infos
        whole = infos[0] + infos[1:] if infos else ChatGenerationChunk(message=AIMessageChunk(content=""))
        reply, info = self.reply, whole.generation_info
        metadata = with_reason(whole.message.response_metadata, reply) | reply.report.to_dict()
        chunk = self._chunk({"response_metadata": metadata, "tool_call_chunks": self._invalid(reply.report)})
        return ChatGenerationChunk(message=chunk, generation_info=info and with_reason(info, reply))

    def last(self) -> Iterator[AIMessageChunk]:
        """Return the report, if it has something, and the empty last chunk that LangChain gives a model's stream."""
        report: Any = self.report().message
        if report.response_metadata:
            yield report
        yield self._chunk({"chunk_position": "last"})

    def _keep(self, given: BaseMessage, info: dict[str, Any] | None) -> None:
        self.id, self._name = self.id or given.id, self._name or given.name
        metadata = _metadata(given) if given.response_metadata else {}
        if metadata or info:
            message = AIMessageChunk(content="", response_metadata=metadata)
            self._infos.append(ChatGenerationChunk(message=message, generation_info=info))

    def _chunks(self, deltas: Iterable[Mapping[str, Any]], fields: dict[str, Any]) -> Iterator[AIMessageChunk]:
        """Yield a chunk for each delta. The fields go out on the first one, once."""
        for delta in deltas:
            if (own := self._to_fields(delta)) is not None:
                yield self._chunk(own, fields)
                fields = {}
        if fields:
            yield self._chunk({}, fields)

    def _to_fields(self, delta: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what a delta is in a chunk: text or other parts, a thought or a call."""
        if REASONING in delta:
            return {"additional_kwargs": {REASONING: delta[REASONING]}}
        if calls := delta.get("tool_calls"):
            [call] = calls  # as the chat layer hands them out
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            return {"tool_call_chunks": [self._piece(name, arguments, call["id"])]}
        content = delta.get("content")
        return None if content is None else {"content": content}

    def _invalid(self, report: Report) -> list[ToolCallChunk]:
        calls = map(_to_invalid, report.refused)
        return [self._piece(call["name"], call["args"], call["id"]) for call in calls]

    def _piece(self, name: str | None, args: str | None, call_id: str | None) -> ToolCallChunk:
        self.index += 1
        return tool_call_chunk(name=name, args=args, id=call_id, index=self.index - 1)

    def _chunk(self, own: dict[str, Any], fields: Mapping[str, Any] | None = None) -> AIMessageChunk:
        given = dict(fields or {})
        kwargs = {**given.pop("additional_kwargs", {}), **own.pop("additional_kwargs", {})}
        made = {"content": "", "id": self.id, "name": self._name, "additional_kwargs": kwargs}
        return AIMessageChunk(**{**given, **made, **own})


def _fields(given: BaseMessage) -> dict[str, Any]:
    """Return what a chunk has beside its content, its calls and its metadata."""
    fields: dict[str, Any] = dict(given.model_extra or {})
    if given.additional_kwargs and (kwargs := other_kwargs(given)):
        fields["additional_kwargs"] = kwargs
    if isinstance(given, AIMessage) and given.usage_metadata:
        fields["usage_metadata"] = given.usage_metadata
    return fields


def _content(reply: Reply) -> Content:
    """Return a content as the sum of a stream has it: a text, or texts and the parts between them."""
    content = reply.content or ""
    if isinstance(content, str):
        return content
    return [
        part["text"] if part.get("type") == "text" and isinstance(part.get("text"), str) else part for part in content
    ]


def to_call(call: ToolCall) -> LangChainToolCall:
    """Return a call for a message's `tool_calls`."""
    return tool_call(name=call.name, args=call.arguments, id=call.id)


def _to_invalid(call: RefusedCall) -> InvalidToolCall:
    """Return a refused call for a message's `invalid_tool_calls`.

    LangChain closes what is open in a chunk's arguments and makes a call of it, with arguments that the model never
    finished. So `args` is a JSON string without its end, which nothing can be made of.
    """
    args = json.dumps(call.text, ensure_ascii=False)[:-1]
    return invalid_tool_call(name=call.name, args=args, id=call.id, error=f"{call.reason}: {call.detail}")
