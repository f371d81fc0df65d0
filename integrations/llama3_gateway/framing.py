"""Server-sent events and JSON: taken out of bytes that may be cut anywhere, and written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NamedTuple

from llama3_gateway.errors import BrokenOffError, GatewayError, shortened

DONE = b"data: [DONE]\n\n"
"""The last event of OpenAI's streams."""

_EVENT_END = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))")
_LINE = re.compile(rb"\r\n|\n|\r")
_LONGEST_END = 4
_BOM = b"\xef\xbb\xbf"

write_json: Callable[[Any], str] = json.JSONEncoder(separators=(",", ":")).encode
"""Writes JSON in ASCII, so that no character of a model's can break a frame."""

write_str: Callable[[str], str] = json.encoder.encode_basestring_ascii
"""Writes a text as JSON, as `write_json` does, and sooner."""


class ServerEvent(NamedTuple):
    """One server-sent event."""

    data: bytes
    """Its data, in which lines are joined by line feeds."""
    name: bytes = b""
    """Its type; empty if it says none."""


class EventReader:
    r"""Reads server-sent events. Lines end with a line feed, a carriage return or both, and with nothing else."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._searched = 0
        self._is_first = True

    def feed(self, data: bytes) -> list[ServerEvent]:
        """Add the next bytes, and return the events that are whole."""
        held = self._held
        if not held and data.startswith(b"data: ") and data.endswith(b"\n\n"):
            data_ends = len(data) - 2
            if data.find(b"\n") == data_ends and b"\r" not in data:
                self._is_first = False  # an event that comes alone, as nearly all do that a model writes
                return [ServerEvent(data[6:data_ends])]
        if held:
            held += data
            if not _EVENT_END.search(held, self._searched):
                self._searched = max(0, len(held) - _LONGEST_END)
                return []
            data = bytes(held)
            held.clear()
        *blocks, rest = data.split(b"\n\n") if b"\r" not in data else _EVENT_END.split(data)
        if rest:
            held += rest
            self._searched = max(0, len(rest) - _LONGEST_END)
        return [event for block in blocks if (event := self._event(block))]

    def end(self) -> list[ServerEvent]:
        """Return the event after which the empty line is missing, if there is one."""
        event = self._event(bytes(self._held))
        self._held.clear()
        return [event] if event else []

    def _event(self, block: bytes) -> ServerEvent | None:
        if self._is_first:
            block, self._is_first = block.removeprefix(_BOM), False
        name, lines = b"", []
        for line in _LINE.split(block):
            field, _, value = line.partition(b":")
            if field == b"data":
                lines.append(value.removeprefix(b" "))
            elif field == b"event":
                name = value.removeprefix(b" ")
        return ServerEvent(b"\n".join(lines), name) if lines else None


def write_event(value: object, name: str = "") -> bytes:
    r"""Write a value of JSON as a server-sent event.

    >>> write_event({"a": 1}), write_event({}, "error")
    (b'data: {"a":1}\n\n', b'event: error\ndata: {}\n\n')
    """
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {write_json(value)}\n\n".encode()


def write_body(value: object) -> bytes:
    """Write a value of JSON as the body of an answer."""
    return write_json(value).encode()


def read_object(data: bytes, what: str) -> dict[str, Any]:
    """Read a JSON object that an upstream has sent.

    Raises:
        BrokenOffError: the bytes are not JSON, or not an object.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        shown = shortened(data.decode("utf-8", "replace"))
        raise BrokenOffError(f"{what} is not JSON ({error}): {shown}") from None
    if not isinstance(value, dict):
        raise BrokenOffError(f"{what} is not a JSON object: {shortened(data.decode('utf-8', 'replace'))}")
    return value


def read_body(data: bytes) -> dict[str, Any]:
    """Read the JSON object that a client has sent.

    Raises:
        GatewayError: the bytes are not JSON, or not an object.
    """
    try:
        return read_object(data, "the body")
    except BrokenOffError as error:
        raise GatewayError(HTTPStatus.BAD_REQUEST, error.message, reason="no JSON object") from None
