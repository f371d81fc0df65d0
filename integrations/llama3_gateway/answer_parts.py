"""What answers consist of, as the shapes of several APIs write it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from llama3_gateway.framing import write_json
from llama3_gateway.shapes import Piece
from llama3_tools.chat import Reply

_REASONING = ("reasoning_content", "reasoning", "thinking")
_LINE_BREAKS = str.maketrans("\r\n", "  ")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def first_answer(pieces: Sequence[Piece], replies: Sequence[Reply]) -> tuple[dict[str, Any], str | None]:
    """Return the message of the first choice, and its finish reason; an empty one if there is no choice."""
    if not pieces:
        return {}, None
    piece, reply = pieces[0], replies[0]
    read: dict[str, Any] = {**reply.to_openai()}
    return {**({"refusal": piece.delta["refusal"]} if "refusal" in piece.delta else {}), **read}, reply.finish_reason


def reasoning_in(message: Mapping[str, Any]) -> str:
    """Return what the model thought; empty if that is not beside the content."""
    return next((text for name in _REASONING if isinstance(text := message.get(name), str) and text), "")


def text_in(content: object) -> str:
    """Return the text of a content, be it a list of parts.

    >>> text_in("Hi"), text_in([{"type": "text", "text": "Hi"}]), text_in(None)
    ('Hi', 'Hi', '')
    """
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def function_of(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a call's function; an empty one if it has none."""
    function = call.get("function")
    return function if isinstance(function, Mapping) else {}


def arguments_of(call: Mapping[str, Any]) -> str:
    r"""Return a call's arguments as JSON in one line of ASCII, as some clients end a line at other characters, too.

    >>> arguments_of({"function": {"arguments": '{"price": 1.10}'}}), arguments_of({})
    ('{"price": 1.10}', '{}')
    """
    given = function_of(call).get("arguments") or "{}"
    if not isinstance(given, str):
        return write_json(given)
    try:
        json.loads(given)
    except (ValueError, RecursionError):
        return write_json(given)
    return _NOT_ASCII.sub(lambda found: write_json(found[0])[1:-1], given.translate(_LINE_BREAKS))


def count_in(counts: object, name: str) -> int:
    """Return a count of tokens; 0 if it is not a whole number."""
    count = counts.get(name) if isinstance(counts, Mapping) else None
    return count if type(count) is int else 0


def new_id(kind: str) -> str:
    """Return an id that nothing else has."""
    return f"{kind}_{os.urandom(12).hex()}"
