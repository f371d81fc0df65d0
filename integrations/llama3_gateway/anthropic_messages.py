"""Answers in the form of Anthropic's Messages API, whole and as events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama3_gateway.errors import BrokenOffError
from llama3_gateway.framing import write_event, write_json
from llama3_gateway.shapes import Delta, Piece, Shape, Usage, arguments_of, count_in, new_id
from llama3_tools.chat import Reply
from llama3_tools.chat.messages import joined_text

_STOP_REASONS = {"tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
_STOPPED_AT = ("stop_reason", "matched_stop")
"""Where vLLM and SGLang write the text at which they have stopped."""
_BLOCKS = {"content": "text", "refusal": "text", "reasoning_content": "thinking"}
"""The blocks that the texts of a delta belong to."""


class MessageShape(Shape):
    """Writes messages for one client. A block of a stream ends where the next one begins."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._model = body.get("model")
        given = body.get("stop_sequences")
        self._stop_sequences = given if isinstance(given, list) else []
        self._blocks = 0
        """How many have begun."""
        self._open: str | None = None
        """The type of the block that still grows."""
        self._stop: dict[str, str | None] = {"stop_reason": None, "stop_sequence": None}

    def whole(self, body: dict[str, Any], pieces: list[Piece], replies: list[Reply], usage: Usage) -> bytes:
        """Return a message with the first of the upstream's answers. The arguments of calls keep every digit."""
        blocks = []
        if pieces:
            piece, reply = pieces[0], replies[0]
            self._note_end(reply.finish_reason, piece.extra)
            content, refusal = joined_text(reply.content)[0], joined_text(piece.delta.get("refusal"))[0]
            texts = {"thinking": reply.reasoning, "text": content + refusal}
            blocks += [write_json({**_empty(kind), kind: text}) for kind, text in texts.items() if text]
            calls = [call.to_openai() for call in reply.tool_calls]
            blocks += [f'{write_json(_tool_use(call))[:-1]},"input":{arguments_of(call)}}}' for call in calls]
        head = write_json({**self._message(body), "usage": _usage(usage)})
        return f'{head[:-1]},"content":[{",".join(blocks)}]}}'.encode()

    def begin(self, head: dict[str, Any]) -> bytes:
        """Return the first event."""
        return _event("message_start", message={**self._message(head), "content": [], "usage": _usage(None)})

    def deltas(self, index: int, deltas: list[Delta], _logprobs: object) -> bytes:
        """Return the events for each delta of the first choice."""
        return b"" if index else b"".join(map(self._delta, deltas))

    def finish(self, index: int, finish_reason: str | None, extra: dict[str, Any]) -> bytes:
        """Return the event that closes what is open."""
        if index:
            return b""
        self._note_end(finish_reason, extra)
        return self._closed()

    def end(self, usage: Usage) -> bytes:
        """Return the last two events."""
        return _event("message_delta", delta=self._stop, usage=_usage(usage)) + _event("message_stop")

    def fail(self, error: BrokenOffError) -> bytes:
        """Return the error as an event, after which none says that the message is over."""
        return write_event(error.to_anthropic(), "error")

    def keepalive(self) -> bytes:
        """Return an event that means nothing."""
        return _event("ping")

    def _delta(self, delta: Delta) -> bytes:
        events = b""
        for name, value in delta.items():
            if name == "tool_calls":
                events += b"".join(map(self._called, value))
            elif name in _BLOCKS and (text := joined_text(value)[0]):
                kind = _BLOCKS[name]
                events += b"" if self._open == kind else self._opened(_empty(kind))
                events += self._grown({"type": f"{kind}_delta", kind: text})
        return events

    def _called(self, call: Mapping[str, Any]) -> bytes:
        opened = self._opened({**_tool_use(call), "input": {}})
        return opened + self._grown({"type": "input_json_delta", "partial_json": call["function"]["arguments"]})

    def _opened(self, block: dict[str, Any]) -> bytes:
        events = self._closed()
        self._open = block["type"]
        self._blocks += 1
        return events + _event("content_block_start", index=self._blocks - 1, content_block=block)

    def _grown(self, delta: dict[str, Any]) -> bytes:
        return _event("content_block_delta", index=self._blocks - 1, delta=delta)

    def _closed(self) -> bytes:
        if self._open is None:
            return b""
        self._open = None
        return _event("content_block_stop", index=self._blocks - 1)

    def _note_end(self, finish_reason: str | None, extra: Mapping[str, Any]) -> None:
        reason = _STOP_REASONS.get(finish_reason or "", "end_turn")
        told = (extra.get(name) for name in _STOPPED_AT)
        stopped_at = next((text for text in told if isinstance(text, str) and text in self._stop_sequences), None)
        if reason == "end_turn" and stopped_at:
            reason = "stop_sequence"
        self._stop = {"stop_reason": reason, "stop_sequence": stopped_at if reason == "stop_sequence" else None}

    def _message(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Return the message without its content and usage."""
        head = {"id": new_id("msg"), "type": "message", "role": "assistant"}
        return {**head, "model": answer.get("model") or self._model, **self._stop}


def _event(kind: str, **fields: object) -> bytes:
    return write_event({"type": kind, **fields}, kind)


def _empty(kind: str) -> dict[str, str]:
    """Return a block without its text. Clients look for a signature, but only Anthropic's models sign."""
    return {"type": kind, kind: "", **({"signature": ""} if kind == "thinking" else {})}


def _tool_use(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the block of a call without its input."""
    return {"type": "tool_use", "id": call["id"], "name": call["function"]["name"]}


def _usage(usage: Usage) -> dict[str, int]:
    return {"input_tokens": count_in(usage, "prompt_tokens"), "output_tokens": count_in(usage, "completion_tokens")}
