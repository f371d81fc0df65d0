"""Rule 10: ChatML's markers, which finetunes of Llama 3 write, go at the edges and next to calls."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta
from llama3_tools.output.segments import read_segments

A, B = '{"arguments": {"x": 1}, "name": "a"}', '{"name": "b", "arguments": {}}'

CHATML = [
    "<|im_start|>",
    "<|im_start|>\n",
    "<|im_start|>assistant\n",
    "<|im_start|>assistant \r\n",
    "<|im_start|>assistant<|end_header_id|>\n\n",
    "<|im_start|><|im_start|>assistant\n",
    "<|im_end|>",
    "<|im_end|>\n<|im_start|>assistant\n",
    "<|endoftext|>",
]


@pytest.mark.parametrize("marker", CHATML)
def test_chatml_markers_go_at_the_edges_and_next_to_calls(marker: str):
    for text, content in [
        (f"{marker}{A}{marker}", None),
        (f"{marker}{A}{marker}{B}", None),
        (f"One {marker}{A} {marker}{marker}two", "One two"),
        (f"One {marker}two {A}", f"One {marker}two"),
    ]:
        extraction = extract_in_every_chunking(text)
        assert extraction.content == content
        segments = read_segments(Extractor(), text).segments
        assert "".join(segment.text for segment in segments) == text
    assert (extract_in_every_chunking(f"One{marker}").content or "").rstrip() == "One"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<|im_start|>assistant\nHello.<|im_end|>", "Hello."),
        ("<|im_start|>assistant\n\nHello.", "\nHello."),
        ("<|im_start|>assistant", ""),
        ("<|im_start|>assistants are many", "assistants are many"),
        ("<|im_start|>assist", "assist"),
        ("<|im_start|>", ""),
        ("<|im_start", "<|im_start"),
        ("<|im_start|>narrator\nHello.", "narrator\nHello."),
        ("A <|im_start|>user\nis what begins a turn.", "A <|im_start|>user\nis what begins a turn."),
        ("<|im_start|>\nHello.", "Hello."),
        ("A <|im_start|>user", "A "),
    ],
)
def test_a_role_goes_with_its_marker(text: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert extraction.content == content
    assert not extraction.tools_called


def test_chatml_markers_in_a_string_are_data():
    text = '{"name": "say", "arguments": {"text": "<|im_start|>assistant\\n<|im_end|>"}}'
    (call,) = extract_in_every_chunking(text).tool_calls
    assert call.arguments == {"text": "<|im_start|>assistant\n<|im_end|>"}


def test_only_what_may_be_a_role_is_held_back():
    stream = Extractor().stream()
    assert stream.feed("<|im_start|>assist") == []
    assert stream.feed("ed living") == [TextDelta("assisted living")]
