"""OpenAI's chat completions, as upstreams write them and as clients read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llama3_gateway.errors import BrokenOffError, bad_request, shortened
from llama3_gateway.framing import (
    DONE,
    EventReader,
    ServerEvent,
    read_object,
    write_body,
    write_event,
    write_json,
    write_str,
)
from llama3_gateway.shapes import Chunk, Delta, Dialect, Piece, Shape, Usage
from llama3_tools.chat import EndpointFault, Reply

_OF_HEAD = ("id", "created", "model", "system_fingerprint", "service_tier")
_OF_CHOICE = frozenset({"index", "delta", "message", "finish_reason", "logprobs"})


def require_tools(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request whose tools are functions.

    Raises:
        GatewayError: it has others, or functions in their old form.
    """
    tools = body.get("tools")
    if not tools and body.get("functions"):
        message = 'functions is not supported: send the same as tools, [{"type": "function", "function": …}]'
        raise bad_request(message, "functions")
    for place, tool in enumerate(tools if isinstance(tools, list) else ()):
        kind = tool.get("type", "function") if isinstance(tool, Mapping) else "function"
        if kind != "function":
            where = f"tools[{place}]"
            message = f'{where} is of type {kind!r}: only "function" tools can be called through the gateway'
            raise bad_request(message, f"{where}.type")
    return {**body}


class ChatStreamReader:
    r"""Reads a stream of chat completion chunks."""

    def __init__(self) -> None:
        self.is_done = False
        self._events = EventReader()
        self._begun = bytearray()
        """The bytes of what may be a completion in one."""
        self._is_stream = False
        """Whether the answer is known to be a stream of events."""

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """Add the next bytes, and yield the chunks that are whole."""
        if not self._is_stream:
            self._begun += data if self._begun else data.lstrip()
            if not self._begun or self._begun.startswith(b"{"):
                return iter(())
            self._is_stream, data = True, bytes(self._begun)
        return self._chunks(self._events.feed(data))

    def end(self) -> Iterator[Chunk]:
        """End the stream, and yield a last chunk that no empty line has closed."""
        if self._is_stream or not self._begun:
            yield from self._chunks(self._events.end())
            return
        body = read_object(bytes(self._begun), "the upstream's answer")
        if _is_error(body):
            raise _reported_error(body)
        yield _whole_chunk(body)
        self.is_done = True

    def _chunks(self, events: list[ServerEvent]) -> Iterator[Chunk]:
        for event in events:
            if self.is_done:
                return
            data = event.data.strip()
            if not data:
                continue
            if data == b"[DONE]":
                self.is_done = True
                return
            body = read_object(data, "an event of the upstream's stream")
            if event.name == b"error" or _is_error(body):
                raise _reported_error(body)
            yield _chunk(body, "delta")


class ChatShape(Shape):
    """Writes chat completions for one client."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        options = body.get("stream_options")
        self._include_usage = isinstance(options, Mapping) and options.get("include_usage") is True
        self._head: dict[str, Any] = {}
        self._prefix = ""
        self._begun = set[int]()
        """The choices that have their first chunk."""

    def whole(self, body: dict[str, Any], pieces: list[Piece], replies: list[Reply], usage: Usage) -> bytes:
        """Return the upstream's answer with messages that were read."""
        choices = [
            _choice(given, piece, reply) for given, piece, reply in zip(body["choices"], pieces, replies, strict=True)
        ]
        return write_body({**body, "choices": choices, **({"usage": usage} if usage else {})})

    def begin(self, head: dict[str, Any]) -> bytes:
        """Keep the upstream's fields for the answer."""
        self._head = {"object": "chat.completion.chunk", **{name: head[name] for name in _OF_HEAD if name in head}}
        self._prefix = write_json(self._head)[:-1]
        return b""

    def deltas(self, index: int, deltas: list[Delta], logprobs: object) -> bytes:
        """Return a chunk for each delta."""
        chunks = [] if index in self._begun else [self._open(index)]
        last = len(deltas) - 1
        if logprobs and not deltas:
            deltas, last = [{"content": ""}], 0
        for place, delta in enumerate(deltas):
            chunks.append(self._chunk(index, delta, logprobs=logprobs if place == last else None))
        return "".join(chunks).encode()

    def finish(self, index: int, finish_reason: str | None, extra: dict[str, Any]) -> bytes:
        """Return the chunk with the finish reason."""
        opening = "" if index in self._begun else self._open(index)
        return (opening + self._chunk(index, {}, finish_reason=finish_reason, extra=extra)).encode()

    def end(self, usage: Usage) -> bytes:
        """Return the usage, if it is wanted, and the end of the stream."""
        if not self._include_usage or usage is None:
            return DONE
        return write_event({**self._head, "choices": [], "usage": usage}) + DONE

    def fail(self, error: BrokenOffError) -> bytes:
        """Return the error as an event, after which no end follows."""
        return write_event(error.body or error.to_openai())

    def _open(self, index: int) -> str:
        """Return the first chunk of a choice."""
        self._begun.add(index)
        return self._chunk(index, {"role": "assistant", "content": ""})

    def _chunk(
        self,
        index: int,
        delta: Delta,
        *,
        finish_reason: str | None = None,
        logprobs: object = None,
        extra: dict[str, Any] | None = None,
    ) -> str:
        text = delta.get("content")
        # Nearly all are nothing but text.
        given = f'{{"content":{write_str(text)}}}' if type(text) is str and len(delta) == 1 else write_json(delta)
        said = f'"index":{index},"delta":{given},"logprobs":{write_json(logprobs) if logprobs else "null"}'
        reason = write_json(finish_reason) if finish_reason else "null"
        more = f",{write_json(extra)[1:-1]}" if extra else ""
        return f'data: {self._prefix},"choices":[{{{said},"finish_reason":{reason}{more}}}]}}\n\n'


def _whole_chunk(body: dict[str, Any]) -> Chunk:
    if not isinstance(body.get("choices"), list):
        raise BrokenOffError(f"it has no choices: {shortened(write_json(body))}")
    return _chunk(body, "message")


def _chunk(body: dict[str, Any], key: str) -> Chunk:
    choices, usage = body.get("choices"), body.get("usage")
    chunk = Chunk(body, [], usage if isinstance(usage, dict) else None)
    for choice in choices if isinstance(choices, list) else ():
        if not isinstance(choice, dict):
            raise BrokenOffError(f"a choice of the upstream's answer is not an object: {shortened(write_json(choice))}")
        delta = choice.get(key) or choice.get("message") or choice.get("delta") or {}
        if not isinstance(delta, dict):
            raise BrokenOffError(f"a message of the upstream's answer is not an object: {shortened(write_json(delta))}")
        index, reason = choice.get("index"), choice.get("finish_reason")
        piece = Piece(
            index if type(index) is int else 0,
            delta,
            reason if isinstance(reason, str) and reason else None,
            choice.get("logprobs"),
        )
        if len(choice) > 3:  # noqa: PLR2004 - an index, a delta and a reason
            piece.extra = {name: value for name, value in choice.items() if name not in _OF_CHOICE}
        chunk.pieces.append(piece)
    return chunk


def _choice(given: dict[str, Any], piece: Piece, reply: Reply) -> dict[str, Any]:
    message = {name: value for name, value in piece.delta.items() if name not in {"tool_calls", "function_call"}}
    choice = {**given, "message": {**message, **reply.to_openai()}, "finish_reason": reply.finish_reason}
    if choice.get("logprobs") and (reply.tool_calls or reply.content != piece.delta.get("content")):
        choice["logprobs"] = None
    return choice


def _is_error(body: dict[str, Any]) -> bool:
    error = body.get("error")
    return bool(error) or (not body.get("choices") and (error is not None or body.get("object") == "error"))


def _reported_error(body: dict[str, Any]) -> BrokenOffError:
    error = body.get("error")
    message = error.get("message") if isinstance(error, Mapping) else error or body.get("message")
    return BrokenOffError(f"the upstream reports an error: {message or shortened(write_json(body))}", body=body)


CHAT_COMPLETIONS = Dialect(
    path="/v1/chat/completions",
    media=b"text/event-stream",
    not_there=EndpointFault.NOT_A_COMPLETION.value,
    reader=ChatStreamReader,
    chunk=_whole_chunk,
)
