"""The replay: byte for byte what was recorded, for what was recorded, and for nothing else."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from urllib.parse import urlsplit

import openai
import pytest

from endpoints.questions import QUESTIONS
from endpoints.recordings import Recording
from endpoints.replay import replay_server, replayed
from endpoints.server import LoopbackServer
from endpoints.wire import CHAT

NAMES = [question.name for question in QUESTIONS]


@pytest.fixture(scope="module")
def replay() -> Iterator[LoopbackServer]:
    with replay_server() as server:
        yield server


def post(server: LoopbackServer, recording: Recording, **changes: object) -> tuple[int, str, bytes]:
    address = urlsplit(server.base_url)
    with closing(http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)) as connection:
        connection.request("POST", recording.path, json.dumps({**recording.request, **changes}))
        response = connection.getresponse()
        return response.status, response.headers["Content-Type"], response.read()


@pytest.mark.parametrize("name", NAMES)
class TestBytes:
    def test_a_stream_is_what_was_recorded(
        self, name: str, replay: LoopbackServer, recordings: dict[str, Recording]
    ) -> None:
        recording = recordings[name]
        expected = b"".join(b"data: " + event.encode() + b"\n\n" for event in recording.stream)
        assert post(replay, recording, stream=True) == (200, "text/event-stream; charset=utf-8", expected)

    def test_a_whole_answer_is_what_was_recorded(
        self, name: str, replay: LoopbackServer, recordings: dict[str, Recording]
    ) -> None:
        recording = recordings[name]
        assert post(replay, recording) == (200, "application/json", recording.response.encode())


class TestClient:
    """As OpenAI's own client sees it."""

    @pytest.fixture
    def client(self, replay: LoopbackServer) -> Iterator[openai.OpenAI]:
        with openai.OpenAI(base_url=replay.base_url, api_key="none", max_retries=0) as client:
            yield client

    def test_each_piece_is_a_chunk(self, client: openai.OpenAI, recordings: dict[str, Recording]) -> None:
        recording = recordings["python-tag"]
        messages = recording.request["messages"]
        chunks = client.chat.completions.create(model="smollm2", messages=messages, stream=True)  # type: ignore[call-overload]
        pieces = [chunk.choices[0].delta.content for chunk in chunks]
        assert tuple(piece for piece in pieces if piece) == recording.pieces

    def test_usage_is_added_where_it_is_asked_for(
        self, client: openai.OpenAI, recordings: dict[str, Recording]
    ) -> None:
        recording = recordings["completion-text"]
        *_, last = client.completions.create(
            model="smollm2",
            prompt=str(recording.request["prompt"]),
            stream=True,
            stream_options={"include_usage": True},
        )
        assert last.choices == []
        assert last.usage is not None
        assert last.usage.to_dict() == recording.usage

    def test_settings_may_differ_and_text_may_come_in_parts(
        self, client: openai.OpenAI, recordings: dict[str, Recording]
    ) -> None:
        recording = recordings["one-call"]
        messages = [
            {"role": message["role"], "content": [{"type": "text", "text": message["content"]}]}
            for message in recording.request["messages"]  # type: ignore[attr-defined]
        ]
        answer = client.chat.completions.create(model="smollm2", messages=messages, temperature=1, seed=7)
        assert answer.choices[0].message.content == recording.text

    def test_the_recorded_model_is_listed(self, client: openai.OpenAI) -> None:
        assert [model.id for model in client.models.list()] == ["smollm2"]

    def test_another_question_is_not_found_and_some_are_named(self, client: openai.OpenAI) -> None:
        with pytest.raises(openai.NotFoundError, match=r"ends with \S*What now\?.*Find a recipe for pumpkin soup"):
            client.chat.completions.create(model="smollm2", messages=[{"role": "user", "content": "What now?"}])
        with pytest.raises(openai.NotFoundError, match=r"ends with \S*Answer:"):
            client.completions.create(model="smollm2", prompt="What now?\nAnswer:")

    def test_another_model_is_not_found(self, client: openai.OpenAI) -> None:
        with pytest.raises(openai.NotFoundError, match="`gpt` does not exist"):
            client.completions.create(model="gpt", prompt="")


def test_a_pause_lies_between_the_events(recordings: dict[str, Recording]) -> None:
    recording = recordings["completion-text"]
    with LoopbackServer(replayed([recording], pause=0.02)) as server:
        started = time.monotonic()
        post(server, recording, stream=True)
    assert time.monotonic() - started >= 0.02 * (len(recording.stream) - 1)


def test_one_request_has_one_recording(recordings: dict[str, Recording]) -> None:
    twice = [recordings["text"], replace(recordings["text"], name="other")]
    with pytest.raises(ValueError, match="text and other record the same request"):
        replayed(twice)
    assert recordings["text"].path == CHAT
