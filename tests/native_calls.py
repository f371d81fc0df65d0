"""What servers send that find calls themselves: in OpenAI's protocol, whole or in pieces."""

from __future__ import annotations

import json
from typing import Any

from endpoints.server import Answer
from endpoints.wire import answer_events, answer_json


def piece(index: int, arguments: str, call_id: str | None = None, name: str | None = None) -> dict[str, Any]:
    """Return a piece of a call. The first one has its id and its name."""
    return {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def found(*pieces: dict[str, Any], stream: bool, text: str | None = None, finish_reason: str = "tool_calls") -> Answer:
    """Answer with a text and calls. If it is not a stream, each piece is a whole call."""
    head = {"id": "1", "object": f"chat.completion{'.chunk' * stream}", "created": 0, "model": "llama3.1"}
    if not stream:
        message = {"role": "assistant", "content": text, "tool_calls": pieces}
        return answer_json({**head, "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]})
    deltas: list[Any] = [{"content": text}] * bool(text) + [{"tool_calls": [one]} for one in pieces]
    choices: list[Any] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish_reason})
    return answer_events([*(json.dumps({**head, "choices": [one]}) for one in choices), "[DONE]"])
