"""Records the live model's answers: `make record`.

It asks each question twice, streamed and whole, makes sure that both say the same, and writes one file a question to
examples/recordings. An answer that has not changed since leaves its file alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from endpoints.fetch import fetch
from endpoints.live import MODEL, SETTINGS, LiveServer, LiveServerError, describe_model, describe_server
from endpoints.questions import QUESTIONS, Question
from endpoints.recordings import RECORDINGS, JsonObject, Recording, text_of_event
from endpoints.wire import CHAT


class RecordError(RuntimeError):
    """The server sent what cannot be recorded faithfully."""


def record(question: Question, base_url: str, *, model: JsonObject, server: JsonObject) -> Recording:
    """Ask a question, streamed and whole.

    Args:
        question: what to ask.
        base_url: the live server.
        model: the model's description.
        server: the server's description.

    Raises:
        RecordError: the two answers differ, or would not be replayed as they came.
    """
    request: JsonObject = {"model": MODEL, **question.request, **SETTINGS}
    url = f"{base_url}{question.path.removeprefix('/v1')}"
    _forget(base_url)
    sent = _post(url, {**request, "stream": True})
    recording = Recording(
        name=question.name,
        about=question.about,
        model=model,
        server=server,
        path=question.path,
        request=request,
        stream=tuple(line.removeprefix("data: ") for line in sent.splitlines() if line.startswith("data: ")),
        response=_post(url, request),
    )
    if not _agree(recording):
        _forget(base_url)
        recording = replace(recording, response=_post(url, request))
    _check(recording, sent)
    return recording


def _post(url: str, body: JsonObject) -> str:
    return fetch(url, body, timeout=300).text


def _forget(base_url: str) -> None:
    """Make the server forget the prompt before.

    It keeps what it computed of a common beginning, which rounds otherwise than computing all at once: the same
    question then gets another answer, temperature 0 or not.
    """
    _post(f"{base_url}/completions", {"model": MODEL, "prompt": ".", "max_tokens": 1})


def _check(recording: Recording, sent: str) -> None:
    if "".join(f"data: {event}\n\n" for event in recording.stream) != sent:
        raise RecordError(f"{recording.name}: the stream holds more than events of one line of data")
    if [json.dumps(json.loads(event)) for event in recording.stream[:-1]] != list(recording.stream[:-1]):
        raise RecordError(f"{recording.name}: the events are not written as Python writes JSON")
    if json.dumps(json.loads(recording.response), ensure_ascii=False, separators=(",", ":")) != recording.response:
        raise RecordError(f"{recording.name}: the answer is not written as compact JSON")
    if not _agree(recording):
        raise RecordError(f"{recording.name}: streamed {recording.text!r}, but whole {recording.response}")


def _agree(recording: Recording) -> bool:
    """Return whether the stream says what the whole answer does.

    llama.cpp's server drops the text of a stream's last event, which is empty but for an answer that was cut off.
    """
    choice = json.loads(recording.response)["choices"][0]
    text = choice["message"]["content"] if recording.path == CHAT else choice["text"]
    if recording.finish_reason == "length":
        return bool(text.startswith(recording.text))
    return bool(text == recording.text)


def save(recording: Recording, folder: Path) -> str:
    """Write a recording's file, unless the one that is there tells the same.

    Args:
        recording: what to keep.
        folder: where.

    Returns:
        `new`, `changed` or `unchanged`.
    """
    path = folder / f"{recording.name}.json"
    state = "new"
    if path.exists():
        state = "changed"
        with contextlib.suppress(ValueError, KeyError):  # a file that cannot be read is one to be written anew
            if _comparable(Recording.load(path)) == _comparable(recording):
                return "unchanged"
    path.write_text(recording.dump(), "utf-8", newline="\n")
    return state


def _comparable(recording: Recording) -> object:
    """Return all of a recording but what differs each time: the ids of the answers, and when they were made."""
    pieces = [text_of_event(event) for event in recording.stream]
    return (
        (recording.about, recording.path, recording.request, recording.model, recording.server),
        (pieces, recording.finish_reason, recording.usage),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Record all questions.

    Args:
        arguments: those of the command line.

    Returns:
        The exit status: 0, or 2 where the live model is not there.
    """
    parser = argparse.ArgumentParser(prog="record", description="Record the live model's answers for the demo.")
    parser.add_argument("--folder", type=Path, default=RECORDINGS, help="where to write them (default: %(default)s)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which to record (default: all)")
    options = parser.parse_args(arguments)
    known = {question.name for question in QUESTIONS}
    if unknown := sorted(set(options.names) - known):
        parser.error(f"no such question: {', '.join(unknown)} (there are: {', '.join(sorted(known))})")
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        with LiveServer(progress=lambda line: print(line, file=sys.stderr)) as live:
            model, server = describe_model(), describe_server()
            for question in QUESTIONS:
                if options.names and question.name not in options.names:
                    continue
                recording = record(question, live.base_url, model=model, server=server)
                state = save(recording, options.folder)
                print(f"{recording.name:26} {state:9} {len(recording.pieces):4} pieces  {recording.text!r}", flush=True)
    except (LiveServerError, RecordError, OSError) as error:
        print(f"record: {error}", file=sys.stderr)
        return 2
    for path in sorted(options.folder.glob("*.json")):
        if path.stem not in known:
            print(f"{path.stem:26} obsolete: there is no question of this name any more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
