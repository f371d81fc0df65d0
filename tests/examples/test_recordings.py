"""The recordings: what they tell of where they come from, and what is extracted from them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from endpoints.assistant import TOOLS
from endpoints.live import MODEL, SETTINGS
from endpoints.questions import QUESTIONS, SHOWN, Question
from endpoints.recordings import RECORDINGS, Recording, load_recordings, prompt_of
from llama3_tools import Extractor, TextDelta

NAMES = [question.name for question in QUESTIONS]

# What a model wrote is no accident to be tested for; what is made of it is.
OSLO_AND_ROME = [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Rome"})]
EXPECTED = {
    "one-call": (None, [("set_timer", {"minutes": 25, "label": "bread"})], []),
    "text-then-call": ("Let me search for that.", [("search_web", {"query": "pumpkin soup"})], []),
    "two-calls": (None, OSLO_AND_ROME, []),
    "text": (..., [], []),
    "malformed": (..., [], ["malformed"]),
    "cut-off": (..., [], ["truncated"]),
    "quotes": (
        None,
        [("search_web", {"query": "Don't panic"}), ("search_web", {"query": "So long, and thanks"})],
        [],
    ),
    "accents": (None, [("set_timer", {"weather": "Reykjavík"})], []),
    "code": (..., [], []),
    "array": (None, OSLO_AND_ROME, []),
    "array-unknown-tool": (..., [], ["unknown_tool"]),
    "python-tag": (None, OSLO_AND_ROME, []),
    "fence": (None, OSLO_AND_ROME, []),
    "tool-call-tag": (None, [("search_web", {"query": "pumpkin soup"})], []),
    "tool-call-tag-malformed": (..., [], ["malformed"]),
    "tool-tag": (None, [("search_web", {"query": "Louvre opening hours"})], []),
    "function-tag": (None, OSLO_AND_ROME, []),
    "envelope-call": ("Let me set a timer for 25 minutes.", [("set_timer", {"minutes": 25, "label": "bread"})], []),
    "envelope-message-and-call": (
        "The Louvre is open from 10:00 AM to 12:00 PM.",
        [("set_timer", {"hours": 12, "label": "Louvre"})],
        [],
    ),
    "envelope-text": ("The capital of Australia is Canberra.", [], []),
    "strict-call": ("One moment.", [("search_web", {"query": "Louvre opening hours"})], []),
    "strict-integer": ("One moment.", [("set_timer", {"minutes": 25, "label": "bread"})], []),
    "strict-text": ("Good evening! What can I do for you today?", [], []),
    "grammar-text-then-call": ("Let me search for that.", [("search_web", {"query": "Louvre opening hours"})], []),
    "grammar-two-calls": (None, [("get_weather", {"city": "Tokyo"}), ("get_weather", {"city": "Quito"})], []),
    "grammar-text-call-text": (
        "Let me search for that. Provide the answer.",
        [("search_web", {"query": "population of Iceland"})],
        [],
    ),
    "completion-one-call": (None, [("set_timer", {"minutes": 25, "label": "bread"})], []),
    "completion-two-calls": (None, OSLO_AND_ROME, []),
    "completion-text": (..., [], []),
}
"""By recording: the content (`...` for the text as it is), the calls, and the reasons of rejections."""


def test_every_question_is_recorded_and_nothing_else(recordings: dict[str, Recording]) -> None:
    assert sorted(recordings) == sorted(NAMES), "run `make record`"


@pytest.mark.parametrize("question", QUESTIONS, ids=NAMES)
class TestOrigin:
    def test_the_request_is_the_one_that_is_asked_today(
        self, question: Question, recordings: dict[str, Recording]
    ) -> None:
        recording = recordings[question.name]
        expected = {"model": MODEL, **question.request, **SETTINGS}
        assert (recording.path, recording.request) == (question.path, expected), "run `make record`"
        assert recording.about == question.about

    def test_model_server_and_settings_are_told(self, question: Question, recordings: dict[str, Recording]) -> None:
        recording = recordings[question.name]
        assert recording.model["name"] == "SmolLM2-135M-Instruct"
        assert recording.model["sha256"] == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
        assert {"quantisation", "licence", "file", "package"} < set(recording.model)
        assert recording.server["name"] == "llama_cpp.server"
        assert {"package", "options", "environment", "platform"} < set(recording.server)
        assert (recording.request["temperature"], recording.request["repeat_penalty"]) == (0.0, 1.0)

    def test_the_stream_is_the_answer_in_small_pieces(
        self, question: Question, recordings: dict[str, Recording]
    ) -> None:
        recording = recordings[question.name]
        assert recording.stream[-1] == "[DONE]"
        assert recording.finish_reason == ("length" if question.name == "cut-off" else "stop")
        assert max(map(len, recording.pieces)) < 24
        choice = json.loads(recording.response)["choices"][0]
        whole = choice["text"] if "text" in choice else choice["message"]["content"]
        assert whole.startswith(recording.text)
        assert recording.usage["completion_tokens"] >= len(recording.pieces)


@pytest.mark.parametrize("name", NAMES)
class TestExtraction:
    def test_it_gives_the_calls_and_the_rest_as_content(self, name: str, recordings: dict[str, Recording]) -> None:
        text = recordings[name].text
        content, calls, reasons = EXPECTED[name]
        extraction = Extractor(tools=TOOLS).extract(text)
        assert extraction.content == (text if content is ... else content)
        assert [(call.name, call.arguments) for call in extraction.tool_calls] == calls
        assert [rejection.reason for rejection in extraction.rejections] == reasons

    def test_the_recorded_pieces_give_the_same(self, name: str, recordings: dict[str, Recording]) -> None:
        extractor = Extractor(tools=TOOLS)
        stream = extractor.stream()
        events = [event for piece in recordings[name].pieces for event in stream.feed(piece)] + stream.flush()
        whole = extractor.extract(recordings[name].text)
        assert stream.extraction == whole
        streamed = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert streamed == (whole.content or "")


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("python-tag", "<|python_tag|>"),
        ("python-tag", "<|eom_id|>"),
        ("tool-call-tag", "<tool_call>"),
        ("tool-call-tag", "</tool_call>"),
        ("tool-tag", "</tool>"),
        ("function-tag", "</function>"),
    ],
)
def test_tags_arrive_in_several_pieces(name: str, token: str, recordings: dict[str, Recording]) -> None:
    assert token in recordings[name].text
    assert not any(token in piece for piece in recordings[name].pieces)


def test_the_demo_shows_text_calls_and_a_malformed_one() -> None:
    shown = {question.name for question in SHOWN}
    assert {"text", "text-then-call", "two-calls", "malformed"} <= shown


class TestFiles:
    def test_a_recording_comes_back_from_its_file_as_it_was(
        self, recordings: dict[str, Recording], tmp_path: Path
    ) -> None:
        recording = replace(recordings["accents"], name="copy")
        (tmp_path / "copy.json").write_text(recording.dump(), "utf-8")
        assert load_recordings(tmp_path) == {"copy": recording}

    @pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*.json")), ids=lambda path: path.stem)
    def test_a_file_is_written_as_it_would_be_today(self, path: Path) -> None:
        assert path.read_bytes().decode() == Recording.load(path).dump()

    def test_the_digest_is_that_of_the_bytes_on_the_line(self, recordings: dict[str, Recording]) -> None:
        recording = recordings["one-call"]
        line = b"".join(b"data: " + event.encode() + b"\n\n" for event in recording.stream)
        assert recording.sha256 == hashlib.sha256(line).hexdigest()

    def test_a_stream_that_was_changed_is_not_loaded(self, recordings: dict[str, Recording], tmp_path: Path) -> None:
        path = tmp_path / "edited.json"
        path.write_text(recordings["one-call"].dump().replace('{"content": "bread"}', '{"content": "cake"}'), "utf-8")
        with pytest.raises(ValueError, match=r"edited\.json was changed by hand: record it anew with `make record`"):
            load_recordings(tmp_path)


@pytest.mark.parametrize(
    ("request_body", "prompt"),
    [
        ({"prompt": "Hi"}, "Hi"),
        ({"prompt": ["Hi"]}, "Hi"),
        ({"messages": [{"role": "user", "content": "Hi"}]}, '[["user", "Hi"]]'),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]}]},
            '[["user", "Hi"]]',
        ),
        ({"messages": [{"role": "assistant", "content": None}]}, '[["assistant", ""]]'),
    ],
)
def test_prompts_are_compared_by_their_text(request_body: dict[str, object], prompt: str) -> None:
    assert prompt_of(request_body) == prompt
