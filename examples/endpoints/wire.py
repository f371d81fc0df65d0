"""What an OpenAI-compatible server sends: lists of models, errors, server-sent events, routes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from endpoints.server import Answer, Request, Responder

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"

Model: TypeAlias = Callable[[Request], Answer]
"""Answers a request for a completion, chat or not, stream or not."""


def api(models: Sequence[str], model: Model) -> Responder:
    """Route the requests of an OpenAI client: `GET /v1/models` here, completions to the model.

    A model of another name, or another path, is answered with 404, as vLLM and Ollama do.

    Args:
        models: the names under which the model can be asked.
        model: answers.
    """

    def respond(request: Request) -> Answer:
        if request.method == "GET" and request.path == "/v1/models":
            served = [{"id": name, "object": "model", "created": 0, "owned_by": "examples"} for name in models]
            return answer_json({"object": "list", "data": served})
        if request.method != "POST" or request.path not in {CHAT, COMPLETIONS}:
            return answer_error(404, f"There is no {request.method} {request.path} here.")
        if request.body.get("model") not in models:
            return answer_error(404, f"The model `{request.body.get('model')}` does not exist.")
        return model(request)

    return respond


def answer_json(body: object, *, status: int = 200) -> Answer:
    """Answer with one JSON value."""
    return Answer((json.dumps(body).encode(),), status=status)


def answer_error(status: int, message: str) -> Answer:
    """Answer with an error in OpenAI's form."""
    return answer_json({"error": {"message": message, "type": "invalid_request_error", "code": status}}, status=status)


def answer_events(events: Iterable[str], *, pause: float = 0.0, complete: bool = True) -> Answer:
    """Answer with a stream of server-sent events.

    Args:
        events: the data of each: a line of JSON, or `[DONE]`.
        pause: seconds between two of them.
        complete: whether the stream ends in order, or the connection breaks.
    """
    parts = tuple(f"data: {event}\n\n".encode() for event in events)
    return Answer(parts, "text/event-stream; charset=utf-8", pause=pause, complete=complete)
