"""The recorder: it records what a server says, and refuses what it could not play back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from endpoints.questions import QUESTIONS, Question
from endpoints.record import RecordError, record, save
from endpoints.recordings import Recording, load_recordings
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import answer_events

BY_NAME = {question.name: question for question in QUESTIONS}
FORGET = Answer((b"{}",))


def serve(recording: Recording) -> LoopbackServer:
    """Answer every question with a recording, and what makes the model forget with anything."""

    def respond(request: Request) -> Answer:
        if request.body.get("prompt") == ".":
            return FORGET
        return answer_events(recording.stream) if request.stream else Answer((recording.response.encode(),))

    return LoopbackServer(respond)


def ask(question: Question, recording: Recording) -> Recording:
    with serve(recording) as server:
        return record(question, server.base_url, model=recording.model, server=recording.server)


@pytest.mark.parametrize("name", BY_NAME)
def test_what_a_server_says_is_what_is_recorded(name: str, recordings: dict[str, Recording]) -> None:
    assert ask(BY_NAME[name], recordings[name]) == recordings[name]


def test_the_model_forgets_before_it_is_asked(recordings: dict[str, Recording]) -> None:
    recording = recordings["text"]
    with serve(recording) as server:
        record(BY_NAME["text"], server.base_url, model={}, server={})
    prompts = [request.body.get("prompt") for request in server.requests]
    assert prompts == [".", None, None]


class TestFiles:
    def test_the_same_answer_leaves_its_file_alone(self, recordings: dict[str, Recording], tmp_path: Path) -> None:
        recording = recordings["text"]
        again = replace(recording, stream=tuple(event.replace("chatcmpl-", "chatcmpl-0") for event in recording.stream))
        assert [save(one, tmp_path) for one in (recording, again)] == ["new", "unchanged"]
        assert load_recordings(tmp_path) == {"text": recording}

    def test_another_answer_replaces_it(self, recordings: dict[str, Recording], tmp_path: Path) -> None:
        recording = recordings["text"]
        other = replace(recording, stream=tuple(event.replace("JSON", "YAML") for event in recording.stream))
        assert [save(one, tmp_path) for one in (recording, other)] == ["new", "changed"]
        assert load_recordings(tmp_path) == {"text": other}

    @pytest.mark.parametrize("damaged", ["", "{}", "not JSON"])
    def test_a_file_that_cannot_be_read_is_written_anew(
        self, damaged: str, recordings: dict[str, Recording], tmp_path: Path
    ) -> None:
        (tmp_path / "text.json").write_text(damaged)
        assert save(recordings["text"], tmp_path) == "changed"
        assert load_recordings(tmp_path) == {"text": recordings["text"]}


class TestRefusals:
    @pytest.fixture
    def recording(self, recordings: dict[str, Recording]) -> Iterator[Recording]:
        return recordings["text"]

    def test_a_comment_in_the_stream(self, recording: Recording) -> None:
        first, *events = recording.stream
        with pytest.raises(RecordError, match="text: the stream holds more than events of one line of data"):
            ask(BY_NAME["text"], replace(recording, stream=(f"{first}\n\n: ping", *events)))

    def test_events_in_another_notation(self, recording: Recording) -> None:
        compact = tuple(event.replace('", "', '","') for event in recording.stream)
        with pytest.raises(RecordError, match="text: the events are not written as Python writes JSON"):
            ask(BY_NAME["text"], replace(recording, stream=compact))

    def test_a_whole_answer_in_another_notation(self, recording: Recording) -> None:
        with pytest.raises(RecordError, match="text: the answer is not written as compact JSON"):
            ask(BY_NAME["text"], replace(recording, response=recording.response.replace(":", ": ", 1)))

    def test_a_stream_and_a_whole_answer_that_differ(self, recording: Recording) -> None:
        with pytest.raises(RecordError, match=r"^text: streamed 'JSON is a .*, but whole"):
            ask(BY_NAME["text"], replace(recording, response=recording.response.replace("JSON is", "JSON was")))
