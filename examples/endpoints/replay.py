"""An endpoint that plays recorded streams: the bytes of a real server, token by token, without a model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from endpoints.recordings import RECORDINGS, Recording, load_recordings, prompt_of
from endpoints.server import Answer, LoopbackServer, Request, Responder
from endpoints.wire import CHAT, answer_error, answer_events, api, include_usage, usage_event


def replay_server(folder: Path = RECORDINGS, *, pause: float = 0.0) -> LoopbackServer:
    """Make a server that plays the recordings of a folder.

    Args:
        folder: where they are.
        pause: seconds between two tokens; 0 for as fast as the client reads.
    """
    return LoopbackServer(replayed(load_recordings(folder).values(), pause=pause))


def replayed(recordings: Iterable[Recording], *, pause: float = 0.0) -> Responder:
    """Answer each recorded request, chat or not, stream or not, with what was recorded; any other with an error.

    A request is a recorded one where its path and its messages (or its prompt) are the same; the settings may differ.

    Args:
        recordings: what can be asked.
        pause: seconds between two events of a stream.

    Raises:
        ValueError: two recordings of one request.
    """
    by_request: dict[tuple[str, str], Recording] = {}
    models: list[str] = []
    for recording in recordings:
        known = by_request.setdefault((recording.path, recording.prompt), recording)
        if known is not recording:
            raise ValueError(f"{known.name} and {recording.name} record the same request")
        name = str(recording.request["model"])
        if name not in models:
            models.append(name)

    def model(request: Request) -> Answer:
        recording = by_request.get((request.path, prompt_of(request.body)))
        if recording is None:
            return answer_error(404, _unknown(request, by_request.values()))
        if not request.stream:
            return Answer((recording.response.encode(),))
        return answer_events(_events(recording, request), pause=pause)

    return api(models, model)


def _events(recording: Recording, request: Request) -> list[str]:
    if not include_usage(request):
        return list(recording.stream)
    *events, done = recording.stream
    return [*events, usage_event(json.loads(events[-1]), recording.usage), done]


def _unknown(request: Request, recordings: Iterable[Recording]) -> str:
    """Say what can be asked: people will try this endpoint with questions of their own."""
    asked = _last_line(prompt_of(request.body), request.path)
    questions = {recording.question for recording in recordings if recording.path == request.path}
    some = "; ".join(sorted(question for question in questions if "\n" not in question)[:4])
    return (
        f"This endpoint replays recordings, and none begins with this conversation and ends with {asked!r}. "
        f"It knows, after the examples they were recorded with: {some}; … Ask anything else of a live endpoint."
    )


def _last_line(prompt: str, path: str) -> str:
    messages = json.loads(prompt) if path == CHAT else []
    text = messages[-1][1] if messages else prompt
    return str(text)[-80:].rpartition("\n")[2]
