"""Recorded answers of a real model, with all that is needed to tell how they came about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

RECORDINGS = Path(__file__).parent.parent / "recordings"
"""Where they are kept, one JSON file each."""

JsonObject = dict[str, object]
"""A decoded JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One answer of a model, streamed and whole, byte for byte as its server sent it."""

    name: str
    """The name of its file, without `.json`."""
    about: str
    """What it shows, in one line."""
    model: JsonObject
    """The model: name, quantisation, licence, where its file comes from, SHA-256."""
    server: JsonObject
    """The server: name, version, options, platform."""
    path: str
    """What was asked: `/v1/chat/completions` or `/v1/completions`."""
    request: JsonObject
    """The body of the request, without `stream`."""
    stream: tuple[str, ...]
    """The data of each server-sent event, as text; the last is `[DONE]`."""
    response: str
    """The body of the answer to the same request without `stream`."""

    @property
    def prompt(self) -> str:
        """The request's conversation or prompt, in a form that can be compared."""
        return prompt_of(self.request)

    @property
    def question(self) -> str:
        """What was asked last; without examples before it, the tool prompt is part of it."""
        messages = self.request.get("messages")
        if isinstance(messages, list):
            return str(messages[-1]["content"])
        return str(self.request["prompt"]).rpartition("Question: ")[2].partition("\n")[0]

    @property
    def pieces(self) -> tuple[str, ...]:
        """The text of each event that has one: about a token each."""
        return tuple(filter(None, map(text_of_event, self.stream)))

    @property
    def text(self) -> str:
        """The model output, as it was streamed."""
        return "".join(self.pieces)

    @property
    def finish_reason(self) -> str:
        """`stop`, or `length` where the answer was cut off."""
        choices = cast("list[JsonObject]", json.loads(self.stream[-2])["choices"])
        return str(choices[0]["finish_reason"])

    @property
    def usage(self) -> Mapping[str, int]:
        """The numbers of tokens."""
        return cast("Mapping[str, int]", json.loads(self.response)["usage"])

    @property
    def sha256(self) -> str:
        """A digest of the stream as it goes over the line, without HTTP's framing."""
        return hashlib.sha256("".join(f"data: {event}\n\n" for event in self.stream).encode()).hexdigest()

    def dump(self) -> str:
        """Write it as JSON, one event of the stream a line."""
        fields: JsonObject = {
            "about": self.about,
            "model": self.model,
            "server": self.server,
            "path": self.path,
            "request": self.request,
            "text": self.text,
            "finish_reason": self.finish_reason,
            "response": json.loads(self.response),
            "stream_sha256": self.sha256,
        }
        head = json.dumps(fields, indent=2, ensure_ascii=False).removesuffix("\n}")
        events = [json.dumps(json.loads(event), ensure_ascii=False) for event in self.stream[:-1]]
        lines = ",\n".join(f"    {line}" for line in [*events, json.dumps(self.stream[-1])])
        return f'{head},\n  "stream": [\n{lines}\n  ]\n}}\n'

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read a recording's file.

        Raises:
            ValueError: its stream is not the one that was recorded.
        """
        fields = cast("JsonObject", json.loads(path.read_text("utf-8")))
        # As llama.cpp's server writes JSON: with blanks and escapes in events, without either in a whole answer.
        # The recorder made sure that it comes back the same, and the digest does so here.
        events = cast("Sequence[object]", fields["stream"])
        recording = cls(
            name=path.stem,
            about=str(fields["about"]),
            model=cast("JsonObject", fields["model"]),
            server=cast("JsonObject", fields["server"]),
            path=str(fields["path"]),
            request=cast("JsonObject", fields["request"]),
            stream=tuple(event if isinstance(event, str) else json.dumps(event) for event in events),
            response=json.dumps(fields["response"], ensure_ascii=False, separators=(",", ":")),
        )
        if recording.sha256 != fields["stream_sha256"]:
            raise ValueError(f"{path} was changed by hand: record it anew with `make record`")
        return recording


def load_recordings(folder: Path = RECORDINGS) -> dict[str, Recording]:
    """Read all recordings of a folder, by name.

    >>> "one-call" in load_recordings()
    True
    """
    return {path.stem: Recording.load(path) for path in sorted(folder.glob("*.json"))}


def prompt_of(request: Mapping[str, object]) -> str:
    """Return the conversation or the prompt of a request, in a form that can be compared.

    Clients write the same text in several ways: as a string, or as a list of parts.

    >>> prompt_of({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]})
    '[["user", "Hi"]]'
    """
    messages = request.get("messages")
    if not isinstance(messages, list):
        prompt = request.get("prompt")
        return str(prompt[0] if isinstance(prompt, list) and prompt else prompt)
    return json.dumps([[message.get("role"), _content(message.get("content"))] for message in messages])


def _content(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def text_of_event(event: str) -> str:
    """Return the text that a server-sent event carries, chat or not.

    >>> text_of_event('{"choices": [{"index": 0, "delta": {"content": "Hi"}}]}'), text_of_event("[DONE]")
    ('Hi', '')
    """
    if event == "[DONE]":
        return ""
    choices = cast("list[dict[str, object]]", json.loads(event).get("choices") or [{}])
    delta = choices[0].get("delta", {"content": choices[0].get("text")})
    return str(cast("Mapping[str, object]", delta).get("content") or "")
