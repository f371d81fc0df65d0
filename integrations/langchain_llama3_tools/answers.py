"""What a model answered, read by `llama3_tools.chat`, as LangChain's messages: whole, or in chunks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, InvalidToolCall, ToolCallChunk
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from langchain_llama3_tools.conversation import REASONING, Content, of_answer, other_kwargs
from langchain_llama3_tools.structured import PREVIEW, written_in
from llama3_tools.chat import RefusedCall, Reply, Request, finish_reason_in

_FINISH_REASON = "finish_reason"


def read_answer(request: Request, message: BaseMessage, info: object = None) -> tuple[AIMessage, Reply]:
    """Return a new message, with all else as it was, and what the chat layer says of it.

    Args:
        request: what the message answers.
        message: what the model answered.
        info: what the server sent beside the message, which may have its finish reason.
    """
    stream = request.stream()
    stream.feed(of_answer(message))
    stream.end(finish_reason_in(message.response_metadata, info))
    reply = stream.reply
    kwargs = other_kwargs(message)
    fields: dict[str, Any] = {
        "content": _content(reply),
        "tool_calls": [tool_call(name=call.name, args=call.arguments, id=call.id) for call in reply.tool_calls],
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

    The text becomes one string, with calls and thoughts in their own fields; `content_blocks` joins all of them again.
    """
    own = {"output_version"} if isinstance(message.content, str) else {"output_version", "model_provider"}
    return {key: value for key, value in message.response_metadata.items() if key not in own}


def with_reason(info: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    """Return what the server says of an answer, with its finish reason, if it has one, as OpenAI means it.

    If there are thoughts, the provider is left out: by its name, `content_blocks` would look for them elsewhere.
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

    def __init__(
        self,
        request: Request,
        *,
        after: AnswerStream | None = None,
        is_v1: bool = False,
        previews: bool = False,
    ) -> None:
        """Begin an answer.

        Args:
            request: what it answers.
            after: the answer before it in the same message, if the model was asked again.
            is_v1: whether the content becomes one of version 1, in which LangChain numbers texts from 0 on, and adds up
                what has one number: those of calls are below 0.
            previews: whether what the model writes goes out as it comes, too, beside the content.
        """
        self.has_begun = False
        """Whether anything has arrived."""
        self.has_content = False
        """Whether text, thoughts or calls have."""
        self._written: list[str] = []
        self._stream = request.stream()
        self._is_v1 = is_v1
        self._preview = str(request.retried) if previews else None
        self.index: int = after.index if after else 0
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
        """Read a text, a chunk or a whole message, with what the server sent beside it; yield what became certain."""
        self.has_begun = True
        given = AIMessageChunk(content=given) if isinstance(given, str) else given
        self._written.append(given.content if isinstance(given.content, str) else str(given.text))
        self._keep(given, info)
        answer = of_answer(given)
        self.has_content = self.has_content or any(answer.values())
        yield from self._chunks(self._stream.feed(answer), self._fields(given))

    def end(self) -> Iterator[AIMessageChunk]:
        """End the answer, and yield what was held back for its end."""
        places = ((one.generation_info, one.message.response_metadata) for one in reversed(self._infos))
        yield from self._chunks(self._stream.end(finish_reason_in(*chain.from_iterable(places))), {})

    def abort(self) -> Iterator[AIMessageChunk]:
        """End an answer that broke off, and yield what was held back, as text."""
        yield from self._chunks(self._stream.abort(), {})

    def report(self) -> ChatGenerationChunk:
        """Return a chunk with all that is known at the end. It is not the last one, in which LangChain reads calls."""
        infos = self._infos
        whole = infos[0] + infos[1:] if infos else ChatGenerationChunk(message=AIMessageChunk(content=""))
        reply, info = self.reply, whole.generation_info
        metadata = with_reason(whole.message.response_metadata, reply) | reply.report.to_dict()
        invalid = [self._piece(one["name"], one["args"], one["id"]) for one in map(_to_invalid, reply.report.refused)]
        chunk = self._chunk({"response_metadata": metadata, "tool_call_chunks": invalid})
        return ChatGenerationChunk(message=chunk, generation_info=info and with_reason(info, reply))

    def last(self) -> Iterator[AIMessageChunk]:
        """Return the report, if it has something, and the empty last chunk that ends a stream of LangChain's."""
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
            yield self._chunk(self._to_fields(delta), fields)
            fields = {}
        if fields:
            yield self._chunk({}, fields)

    def _to_fields(self, delta: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a delta is in a chunk: text or other parts, a thought or a call."""
        if REASONING in delta:
            return {"additional_kwargs": {REASONING: delta[REASONING]}}
        if calls := delta.get("tool_calls"):
            [call] = calls  # as the chat layer hands them out
            function = call["function"]
            return {"tool_call_chunks": [self._piece(function["name"], function["arguments"], call["id"])]}
        return {"content": delta["content"]}

    def _piece(self, name: str | None, args: str | None, call_id: str | None) -> ToolCallChunk:
        self.index += 1
        return tool_call_chunk(name=name, args=args, id=call_id, index=-self.index if self._is_v1 else self.index - 1)

    def _fields(self, given: BaseMessage) -> dict[str, Any]:
        """Return what a chunk has beside its content, its calls and its metadata."""
        fields: dict[str, Any] = dict(given.model_extra or {})
        kwargs = other_kwargs(given) if given.additional_kwargs else {}
        if self._preview is not None and (piece := written_in(given)):
            kwargs[PREVIEW] = {self._preview: piece}
        if kwargs:
            fields["additional_kwargs"] = kwargs
        if isinstance(given, AIMessage) and given.usage_metadata:
            fields["usage_metadata"] = given.usage_metadata
        return fields

    def _chunk(self, own: dict[str, Any], fields: Mapping[str, Any] | None = None) -> AIMessageChunk:
        given = dict(fields or {})
        kwargs = {**given.pop("additional_kwargs", {}), **own.pop("additional_kwargs", {})}
        made = {"content": "", "id": self.id, "name": self._name, "additional_kwargs": kwargs}
        return AIMessageChunk(**{**given, **made, **own})


def _content(reply: Reply) -> Content:
    """Return a content as the sum of a stream has it: a text, or texts and the parts between them."""
    content = reply.content or ""
    if isinstance(content, str):
        return content
    return [
        part["text"] if part.get("type") == "text" and isinstance(part.get("text"), str) else part for part in content
    ]


def _to_invalid(call: RefusedCall) -> InvalidToolCall:
    """Return a refused call for a message's `invalid_tool_calls`.

    LangChain closes what is open in a chunk's arguments and makes a call of it, with arguments that the model never
    finished. So `args` is a JSON string without its end, which nothing can be made of.
    """
    args = json.dumps(call.text, ensure_ascii=False)[:-1]
    return invalid_tool_call(name=call.name, args=args, id=call.id, error=f"{call.reason}: {call.detail}")
