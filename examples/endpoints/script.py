"""Answers that you choose, cut where you choose: for every path that a real model takes once in a while only."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from endpoints.server import Answer, Request
from endpoints.wire import COMPLETIONS, Model, answer_error, answer_events, answer_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of a scripted model."""

    pieces: tuple[str, ...]
    """Its text, in the pieces in which it is streamed."""
    finish_reason: str = "stop"
    """`stop`, or `length` for an answer that was cut off."""
    prompt_tokens: int = 0
    """What the usage tells of the prompt; of the answer it tells the number of pieces."""
    pause: float = 0.0
    """Seconds between two pieces of a stream."""
    breaks: bool = False
    """Whether the connection breaks after the last piece."""


def cut_at(text: str, *places: int) -> tuple[str, ...]:
    """Cut a text into pieces; without places, into its characters.

    >>> cut_at("<tool>", 1, 3)
    ('<', 'to', 'ol>')
    >>> cut_at("{}")
    ('{', '}')
    """
    edges = (0, *places, len(text)) if places else range(len(text) + 1)
    return tuple(text[start:end] for start, end in itertools.pairwise(edges))


def scripted(turns: Iterable[Turn | Answer]) -> Model:
    """Make a model that gives one answer after another, whatever it is asked.

    Args:
        turns: its answers; an `Answer` goes out as it is. Asked once more, it answers with an error.
    """
    script = iter(turns)
    lock = threading.Lock()
    numbers = itertools.count(1)

    def model(request: Request) -> Answer:
        with lock:
            turn, number = next(script, None), next(numbers)
        if turn is None:
            return answer_error(500, f"The script has no answer to request {number}.")
        if isinstance(turn, Answer):
            return turn
        return sent(turn, request, number)

    return model


def sent(turn: Turn, request: Request, number: int = 1) -> Answer:
    """Return a turn as an OpenAI-compatible server sends it, as a stream if the request wants one."""
    return _streamed(turn, request, number) if request.stream else _whole(turn, request, number)


def _streamed(turn: Turn, request: Request, number: int) -> Answer:
    is_chat = request.path != COMPLETIONS
    head: dict[str, object] = {
        "id": f"{'chatcmpl' if is_chat else 'cmpl'}-{number}",
        "object": "chat.completion.chunk" if is_chat else "text_completion",
        "created": 0,
        "model": request.body.get("model"),
    }

    def event(delta: dict[str, str], finish_reason: str | None = None) -> str:
        said = {"delta": delta} if is_chat else {"text": delta.get("content", "")}
        return json.dumps({**head, "choices": [{"index": 0, **said, "finish_reason": finish_reason}]})

    events = [event({"role": "assistant"})] if is_chat else []
    events += [event({"content": piece}) for piece in turn.pieces]
    if turn.breaks:
        return answer_events(events, pause=turn.pause, complete=False)
    events.append(event({}, turn.finish_reason))
    options = request.body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage") is True:
        events.append(json.dumps({**head, "choices": [], "usage": _usage(turn)}))
    return answer_events([*events, "[DONE]"], pause=turn.pause)


def _whole(turn: Turn, request: Request, number: int) -> Answer:
    is_chat = request.path != COMPLETIONS
    text = "".join(turn.pieces)
    said = {"message": {"role": "assistant", "content": text}} if is_chat else {"text": text}
    answer = answer_json(
        {
            "id": f"{'chatcmpl' if is_chat else 'cmpl'}-{number}",
            "object": "chat.completion" if is_chat else "text_completion",
            "created": 0,
            "model": request.body.get("model"),
            "choices": [{"index": 0, **said, "finish_reason": turn.finish_reason}],
            "usage": _usage(turn),
        }
    )
    return Answer((answer.parts[0][:40],), complete=False) if turn.breaks else answer


def _usage(turn: Turn) -> dict[str, int]:
    completion_tokens = len(turn.pieces)
    return {
        "prompt_tokens": turn.prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": turn.prompt_tokens + completion_tokens,
    }
