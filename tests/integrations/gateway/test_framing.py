"""Server-sent events, cut out of bytes that may be cut anywhere."""

from __future__ import annotations

import pytest

from llama3_gateway.errors import BrokenOffError, GatewayError
from llama3_gateway.framing import EventReader, ServerEvent, read_body, read_object, write_event

STREAM = (
    "\ufeff: a comment\n\n"
    'data: {"a": "ü\u2028\u0085 \x0b\x0c\x1c"}\n\n'
    "event: error\ndata: first\ndata:second\ndata\n: in between\nid: 7\n\n"
    "retry: 5\n\n"
    "\n\n\n"
    "data:  two spaces\n\n"
    "data: a\ndata: b\n\n"
    "data: [DONE]\n\n"
)
EVENTS = [
    ServerEvent('{"a": "ü\u2028\u0085 \x0b\x0c\x1c"}'.encode()),
    ServerEvent(b"first\nsecond\n", b"error"),
    ServerEvent(b" two spaces"),
    ServerEvent(b"a\nb"),
    ServerEvent(b"[DONE]"),
]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_events_are_the_same_wherever_the_stream_is_cut(line_end: str):
    data = STREAM.replace("\n", line_end).encode()
    for first in range(len(data) + 1):
        for second in (first, first + 1, first + 2):
            reader = EventReader()
            pieces = (data[:first], data[first:second], data[second:])
            assert [*(event for piece in pieces for event in reader.feed(piece)), *reader.end()] == EVENTS
    reader = EventReader()
    assert [event for byte in data for event in reader.feed(bytes([byte]))] == EVENTS


def test_an_event_without_an_empty_line_comes_at_the_end():
    reader = EventReader()
    assert reader.feed(b"data: a\n\ndata: b") == [ServerEvent(b"a")]
    assert reader.end() == [ServerEvent(b"b")]
    assert reader.end() == []


def test_many_small_pieces_of_one_event_take_linear_time():
    reader = EventReader()
    for _ in range(50_000):
        assert reader.feed(b"data: aa\n") == []
    (event,) = reader.feed(b"\n")
    assert len(event.data) == 3 * 50_000 - 1


@pytest.mark.parametrize("data", [b"", b"{", b"5", b"[]", b"\xff", b"[" * 100_000, b"1" * 5000])
def test_what_is_no_object_is_an_error(data: bytes):
    with pytest.raises(BrokenOffError, match=r"a line is not (a )?JSON"):
        read_object(data, "a line")
    with pytest.raises(GatewayError, match=r"the body is not (a )?JSON"):
        read_body(data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_an_object_may_be_in_each_encoding_that_json_has(encoding: str):
    data = '{"city": "Zürich"}'.encode(encoding)
    assert read_body(data) == read_object(data, "it") == {"city": "Zürich"}


def test_no_text_breaks_a_frame():
    text = "a\n\nb\r\u2028\ud800 data: x"
    (event,) = EventReader().feed(write_event({"text": text}))
    assert read_object(event.data, "it")["text"] == text
