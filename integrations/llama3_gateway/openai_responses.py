"""Answers in the form of OpenAI's Responses API, whole and as events."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from llama3_gateway.errors import BrokenOffError
from llama3_gateway.framing import write_body, write_event
from llama3_gateway.responses_input import CUSTOM, KeptItems
from llama3_gateway.shapes import Delta, Piece, Shape, Usage, count_in, new_id
from llama3_tools.chat import Reply
from llama3_tools.chat.messages import joined_text

_ECHOED: dict[str, Any] = {
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
"""Fields of the request that are in the answer, and what they are if the request has none."""
_UTF_8 = ("utf-8", "surrogatepass")
"""A lone surrogate, too, comes back as it was."""
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponseShape(Shape):
    """Writes responses for one client. The text of an answer is one message, and calls in it come after it."""

    def __init__(self, body: Mapping[str, Any], kept: KeptItems) -> None:
        self._kept = kept
        self._custom = {tool["name"] for tool in body.get("tools") or () if tool.get("type") == "custom"}
        self._echoed = {name: body.get(name, usual) for name, usual in _ECHOED.items()}
        self._id = new_id("resp")
        self._created = int(time.time())
        self._model = body.get("model")
        self._output: list[dict[str, Any]] = []
        self._open: dict[str, int] = {}
        """The index in the output of the message and the reasoning that still grow, by type."""
        self._texts: dict[str, bytearray] = {}
        """What they have so far, as bytes: as texts, pieces take many times their characters."""
        self._waiting: list[dict[str, Any]] = []
        """The calls in the text of a message that still grows: Codex knows one open item at a time."""
        self._number = 0
        self._finish_reason: str | None = None

    def whole(self, body: dict[str, Any], pieces: list[Piece], replies: list[Reply], usage: Usage) -> bytes:
        """Return a response with the first of the upstream's answers: what a stream of it ends with."""
        self.begin(body)
        if pieces:
            piece, reply = pieces[0], replies[0]
            thoughts, calls = {"reasoning_content": reply.reasoning}, [call.to_openai() for call in reply.tool_calls]
            answer = {"content": reply.content, "refusal": piece.delta.get("refusal"), "tool_calls": calls}
            self.deltas(0, [thoughts, answer], None)
            self.finish(0, reply.finish_reason, {})
        return write_body(self._ended(usage)[1])

    def begin(self, head: dict[str, Any]) -> bytes:
        """Return the first two events."""
        self._model = head.get("model") or self._model
        response = self._response("in_progress", None)
        return self._event("response.created", response=response) + self._event(
            "response.in_progress", response=response
        )

    def deltas(self, index: int, deltas: list[Delta], _logprobs: object) -> bytes:
        """Return the events for each delta of the first choice."""
        return b"" if index else b"".join(map(self._delta, deltas))

    def finish(self, index: int, finish_reason: str | None, _extra: dict[str, Any]) -> bytes:
        """Return the events that close what is open, and those of the calls that waited for it."""
        if index:
            return b""
        self._finish_reason = finish_reason
        empty = b"" if self._output else self._grown("message", "")
        closed = b"".join(self._closed(kind) for kind in list(self._open))
        return empty + closed + b"".join(map(self._called, self._waiting))

    def end(self, usage: Usage) -> bytes:
        """Return the last event, with the whole response."""
        status, response = self._ended(usage)
        return self._event(f"response.{status}", response=response)

    def fail(self, error: BrokenOffError) -> bytes:
        """Return the last event, which says what went wrong."""
        told = {"code": error.code, "message": error.message}
        return self._event("response.failed", response={**self._response("failed", None), "error": told})

    def _delta(self, delta: Delta) -> bytes:
        events = b""
        for name, value in delta.items():
            if name == "reasoning_content" and (text := joined_text(value)[0]):
                events += self._grown("reasoning", text)
            elif name in {"content", "refusal"} and (text := joined_text(value)[0]):
                events += self._closed("reasoning") + self._grown("message", text)
            elif name == "tool_calls":
                events += self._closed("reasoning")
                self._waiting += map(self._call, value)
                if "message" not in self._open:
                    events += b"".join(map(self._called, self._waiting))
                    self._waiting.clear()
        return events

    def _grown(self, kind: str, text: str) -> bytes:
        """Return the events by which the message, or the reasoning, grows."""
        events = b"" if kind in self._open else self._opened(kind)
        place = self._open[kind]
        if not text:
            return events
        self._texts[kind] += text.encode(*_UTF_8)
        item = self._output[place]
        return events + self._event(f"{_PART_EVENTS[kind]}.delta", **_at(item, place), delta=text, **_MORE[kind])

    def _opened(self, kind: str) -> bytes:
        item: dict[str, Any] = {"type": kind, "id": new_id(_IDS[kind]), "status": "in_progress", **_EMPTY[kind]}
        place = self._open[kind] = len(self._output)
        self._texts[kind] = bytearray()
        self._output.append(item)
        added = self._event("response.output_item.added", output_index=place, item=item)
        return added + self._event("response.content_part.added", **_at(item, place), part=_part(kind, ""))

    def _closed(self, kind: str) -> bytes:
        if kind not in self._open:
            return b""
        place, text = self._open.pop(kind), self._texts.pop(kind).decode(*_UTF_8)
        item = {**self._output[place], "status": "completed", "content": [_part(kind, text)]}
        self._output[place] = item
        at = _at(item, place)
        return (
            self._event(f"{_PART_EVENTS[kind]}.done", **at, text=text, **_MORE[kind])
            + self._event("response.content_part.done", **at, part=_part(kind, text))
            + self._event("response.output_item.done", output_index=place, item=item)
        )

    def _called(self, item: dict[str, Any]) -> bytes:
        place = len(self._output)
        self._output.append(item)
        at = {"item_id": item["id"], "output_index": place}
        kind, name, more = _CALL_EVENTS[item["type"]]
        begun = {**item, name: "", "status": "in_progress"}
        return (
            self._event("response.output_item.added", output_index=place, item=begun)
            + self._event(f"{kind}.delta", **at, delta=item[name])
            + self._event(f"{kind}.done", **at, **{field: item[field] for field in more}, **{name: item[name]})
            + self._event("response.output_item.done", output_index=place, item=item)
        )

    def _call(self, call: Mapping[str, Any]) -> dict[str, Any]:
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        of_both = {"call_id": call["id"], "name": name, "status": "completed"}
        if name in self._custom:
            return {"type": "custom_tool_call", "id": new_id("ctc"), "input": _custom_input(arguments), **of_both}
        return {"type": "function_call", "id": new_id("fc"), "arguments": arguments, **of_both}

    def _ended(self, usage: Usage) -> tuple[str, dict[str, Any]]:
        """Return the status of the whole response, and the response, whose items are kept."""
        status = "incomplete" if self._finish_reason in _INCOMPLETE else "completed"
        for item in self._output:
            self._kept.add(item)
        return status, self._response(status, usage)

    def _response(self, status: str, usage: Usage) -> dict[str, Any]:
        reason = _INCOMPLETE.get(self._finish_reason or "")
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": reason} if reason else None,
            "model": self._model,
            "output": list(self._output),
            "previous_response_id": None,
            "store": False,
            "usage": _usage(usage),
            **self._echoed,
        }

    def _event(self, kind: str, **fields: object) -> bytes:
        event = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        return write_event(event, kind)


_PART_EVENTS = {"message": "response.output_text", "reasoning": "response.reasoning_text"}
_CALL_EVENTS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "function_call": ("response.function_call_arguments", "arguments", ("name",)),
    "custom_tool_call": ("response.custom_tool_call_input", "input", ()),
}
"""How the events of a call begin, where its text is, and what else the last one has."""
_MORE: dict[str, dict[str, Any]] = {"message": {"logprobs": []}, "reasoning": {}}
_IDS = {"message": "msg", "reasoning": "rs"}
_EMPTY: dict[str, dict[str, Any]] = {
    "message": {"role": "assistant", "content": []},
    "reasoning": {"summary": [], "content": []},
}


def _part(kind: str, text: str) -> dict[str, Any]:
    if kind == "message":
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "reasoning_text", "text": text}


def _custom_input(arguments: str) -> str:
    """Return the text of a custom tool's call."""
    with suppress(ValueError, RecursionError):
        read = json.loads(arguments)
        if isinstance(read, dict) and isinstance(text := read.get(CUSTOM), str):
            return text
    return arguments


def _at(item: Mapping[str, Any], place: int) -> dict[str, Any]:
    return {"item_id": item["id"], "output_index": place, "content_index": 0}


def _usage(usage: Usage) -> dict[str, Any] | None:
    if not usage:
        return None
    prompt, completion = count_in(usage, "prompt_tokens"), count_in(usage, "completion_tokens")
    cached = count_in(usage.get("prompt_tokens_details"), "cached_tokens")
    reasoning = count_in(usage.get("completion_tokens_details"), "reasoning_tokens")
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": count_in(usage, "total_tokens") or prompt + completion,
    }
