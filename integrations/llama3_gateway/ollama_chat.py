"""Ollama's own chat: lines of JSON, calls without ids, arguments as objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llama3_gateway.errors import BrokenOffError, bad_request, shortened
from llama3_gateway.exchange import NDJSON
from llama3_gateway.framing import read_object, write_body, write_json
from llama3_gateway.openai_chat import require_tools
from llama3_gateway.shapes import Chunk, Delta, Dialect, Message, Piece, Shape, Usage, arguments_of
from llama3_tools.chat import Reply
from llama3_tools.chat.messages import joined_text

_COUNTS = (
    "prompt_eval_count",
    "eval_count",
    "total_duration",
    "load_duration",
    "prompt_eval_duration",
    "eval_duration",
)
"""Tokens and nanoseconds."""
_BASE64 = "data:image/*;base64,"
_NAMES = {"reasoning_content": "thinking"}


def from_ollama(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request as OpenAI has it: calls and results know each other by ids, and images of results are parts.

    A result belongs to the first call of its tool that has none yet.

    Raises:
        GatewayError: a tool is not a function, or the images of a result are not a list.
    """
    require_tools(body)
    messages = body.get("messages")
    if not isinstance(messages, list):
        return dict(body)
    numbered: list[Any] = []
    waiting: list[tuple[str, str]] = []
    count = 0
    for place, message in enumerate(messages):
        calls = message.get("tool_calls") if isinstance(message, Mapping) else None
        if isinstance(calls, list) and all(isinstance(call, Mapping) for call in calls):
            with_ids = [{**call, "id": f"call_{number}"} for number, call in enumerate(calls, count)]
            count += len(calls)
            waiting = [(_name(call), call["id"]) for call in with_ids]
            numbered.append({**message, "tool_calls": with_ids})
        elif isinstance(message, Mapping) and message.get("role") == "tool":
            numbered.append(_images_as_parts(_result(message, waiting), f"messages[{place}].images"))
        else:
            numbered.append(message)
    return {**body, "messages": numbered}


class OllamaStreamReader:
    r"""Reads a stream of Ollama's: lines of JSON."""

    def __init__(self) -> None:
        self.is_done = False
        self._held: list[bytes] = []

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """Add the next bytes, and yield the chunks that are whole."""
        self._held.append(data)
        if b"\n" in data:
            *lines, rest = b"".join(self._held).split(b"\n")
            self._held = [rest]
            yield from self._chunks(lines)

    def end(self) -> Iterator[Chunk]:
        """End the stream, and yield a last chunk that no line break has closed."""
        return self._chunks([b"".join(self._held)])

    def _chunks(self, lines: list[bytes]) -> Iterator[Chunk]:
        for line in lines:
            if not line.strip():
                continue
            body = read_object(line, "a line of the upstream's stream")
            if body.get("error"):
                raise BrokenOffError(f"the upstream reports an error: {body['error']}", body=body)
            self.is_done = self.is_done or body.get("done") is True
            yield _chunk(body)


class OllamaShape(Shape):
    """Writes Ollama's chats for one client."""

    content_type = NDJSON

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._last: dict[str, Any] = {}

    def whole(self, body: dict[str, Any], pieces: list[Piece], replies: list[Reply], usage: Usage) -> bytes:
        """Return the upstream's answer with a message that was read."""
        reply = replies[0]
        message = {name: value for name, value in pieces[0].delta.items() if name != "tool_calls"}
        message["content"] = reply.content or ""
        if reply.reasoning is not None:
            message["thinking"] = reply.reasoning
        calls = [call.to_openai() for call in reply.tool_calls]
        return _with_message({**body, **(usage or {})}, message, calls)

    def begin(self, head: dict[str, Any]) -> bytes:
        """Keep the upstream's fields for the answer."""
        self._head = {name: head[name] for name in ("model", "created_at") if name in head}
        return b""

    def deltas(self, _index: int, deltas: list[Delta], _logprobs: object) -> bytes:
        """Return a line for each delta."""
        return b"".join(self._line(_message(delta), delta.get("tool_calls", ())) for delta in deltas)

    def finish(self, _index: int, finish_reason: str | None, extra: dict[str, Any]) -> bytes:
        """Keep what the last line has."""
        reason = finish_reason if finish_reason not in {None, "tool_calls"} else "stop"
        self._last = {"done_reason": reason, "done": True, **extra}
        return b""

    def end(self, usage: Usage) -> bytes:
        """Return the last line."""
        empty = {"role": "assistant", "content": ""}
        return _with_message({**self._head, **self._last, **(usage or {})}, empty) + b"\n"

    def fail(self, error: BrokenOffError) -> bytes:
        """Return the error as a line, after which none says that the answer is done."""
        return write_body(error.body or {"error": error.message}) + b"\n"

    def keepalive(self) -> bytes:
        """Return a line without text."""
        return self._line({"role": "assistant", "content": ""})

    def _line(self, message: dict[str, Any], calls: Sequence[Mapping[str, Any]] = ()) -> bytes:
        return _with_message({**self._head, "done": False}, message, calls) + b"\n"


def _images_as_parts(result: Message, where: str) -> Message:
    """Return a tool's result whose images are parts of its content: they stay with it in a conversation."""
    others = {name: value for name, value in result.items() if name != "images"}
    images = result.get("images")
    if not images:
        return others
    if not isinstance(images, list):
        raise bad_request(f"{where} is a list of images, each as base64", where)
    text = {"type": "text", "text": joined_text(result.get("content"))[0]}
    parts = ({"type": "image_url", "image_url": {"url": f"{_BASE64}{image}"}} for image in images)
    return {**others, "content": [text, *parts]}


def _images_beside_text(message: Message) -> Message:
    content = message.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    images = [part["image_url"]["url"].removeprefix(_BASE64) for part in parts if part.get("type") == "image_url"]
    if not images:
        return message
    texts = [str(part["text"]) for part in parts if part.get("type") == "text"]
    return {**message, "content": "\n\n".join(texts), "images": images}


def _with_message(body: dict[str, Any], message: dict[str, Any], calls: Sequence[Mapping[str, Any]] = ()) -> bytes:
    """Return a body with a message as JSON in one line. The arguments of calls keep every digit."""
    text = write_json(message)
    if calls:
        text = f'{text[:-1]},"tool_calls":[{",".join(map(_call, calls))}]}}'
    rest = {name: value for name, value in body.items() if name != "message"}
    return f'{write_json(rest)[:-1]}{"," if rest else ""}"message":{text}}}'.encode()


def _whole_chunk(body: dict[str, Any]) -> Chunk:
    if not isinstance(body.get("message"), Mapping):
        raise BrokenOffError(f"it has no message: {shortened(write_json(body))}")
    return _chunk({**body, "done": True})


def _chunk(body: dict[str, Any]) -> Chunk:
    message = body.get("message")
    delta = dict(message) if isinstance(message, Mapping) else {}
    usage = {name: body[name] for name in _COUNTS if name in body}
    reason = body.get("done_reason")
    done = (reason if isinstance(reason, str) and reason else "stop") if body.get("done") is True else None
    return Chunk(body, [Piece(0, delta, done)], usage or None)


def _name(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    return str(function.get("name")) if isinstance(function, Mapping) else ""


def _result(message: Mapping[str, Any], waiting: list[tuple[str, str]]) -> dict[str, Any]:
    result = {key: value for key, value in message.items() if key != "tool_name"}
    name = message.get("tool_name") or message.get("name")
    found = next((call for call in waiting if name is None or name == call[0]), None)
    if name:
        result["name"] = name
    if found and not result.get("tool_call_id"):
        waiting.remove(found)
        result["tool_call_id"] = found[1]
    return result


def _message(delta: Delta) -> dict[str, Any]:
    renamed = {_NAMES.get(name, name): value for name, value in delta.items() if name != "tool_calls"}
    return {"role": "assistant", "content": "", **renamed}


def _call(call: Mapping[str, Any]) -> str:
    """Return a call of OpenAI's as Ollama has it: its arguments are an object."""
    return f'{{"function":{{"name":{write_json(call["function"]["name"])},"arguments":{arguments_of(call)}}}}}'


OLLAMA_CHAT = Dialect(
    path="/api/chat",
    media=NDJSON,
    not_there="the server has no /api/chat: is it Ollama, and does its address end in /v1?",
    reader=OllamaStreamReader,
    chunk=_whole_chunk,
    messages=lambda messages: list(map(_images_beside_text, messages)),
    constraint=lambda request: {"format": schema} if (schema := request.answer_schema) else {},
)
