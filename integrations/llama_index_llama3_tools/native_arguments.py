"""The arguments of a call that a server found: read as strictly as those in text, each character of a stream once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from llama3_tools.json_scan import read_object
from llama3_tools.json_text import JsonObject, skip_json_space
from llama3_tools.json_writing import write_json, written_arguments
from llama3_tools.source import Reading, Source

__all__ = ["GrowingArguments", "as_text", "read_arguments", "write_arguments"]

_WHITE_SPACE = " \t\n\r"


@final
class GrowingArguments:
    """The arguments of one call of a stream, whose messages have all of their text so far, again and again.

    >>> growing = GrowingArguments()
    >>> growing.read('{"city": '), growing.read('{"city": "Paris"}')
    ('{"city": ', {'city': 'Paris'})
    """

    def __init__(self) -> None:
        self._text = self._rest = ""
        self._start()

    def read(self, text: str) -> dict[str, Any] | str:
        """Read what there is: the same dict for the same object, and the text of whatever is none."""
        if not text.startswith(self._text):
            self._start()
        new, self._text = text[len(self._text) :], text
        if new:
            self._rest += new
            self._read_on()
        if not text:  # as some send it for a tool without parameters
            return {}
        return text if self._read is None or self._rest else self._read

    def _start(self) -> None:
        self._text = self._rest = ""
        self._source = Source()
        self._reading: Reading[JsonObject | None] | None = _read_whole(self._source)
        self._read: dict[str, Any] | None = None

    def _read_on(self) -> None:
        """Read what has come: `_rest` is what an object leaves, or what cannot be read any more."""
        if self._reading is not None:
            self._source.feed(self._rest)
            self._rest = ""
            try:
                next(self._reading)
            except StopIteration as stop:
                self._reading = None
                self._read = stop.value and stop.value.value
                self._rest = self._source.text[self._source.pos :]
        self._rest = self._rest.lstrip(_WHITE_SPACE)[:1]  # whether there is something is all that counts


def read_arguments(arguments: object) -> dict[str, Any] | str:
    """Read arguments as servers send them; the text of what is no JSON object (rule 8).

    >>> read_arguments('{"n": 1}'), read_arguments(""), read_arguments('{"n": 1e999}')
    ({'n': 1}, {}, '{"n": 1e999}')
    """
    return dict(arguments) if isinstance(arguments, Mapping) else GrowingArguments().read(as_text(arguments))


def as_text(arguments: object) -> str:
    """Give arguments that are no object as text."""
    return arguments if isinstance(arguments, str) else write_json(arguments, default=str)


def write_arguments(arguments: Mapping[str, Any]) -> str:
    """Write arguments as JSON, however long their integers; see `written_arguments`."""
    try:
        return write_json(arguments, default=str)
    except (TypeError, ValueError):
        return written_arguments(arguments)


def _read_whole(source: Source) -> Reading[JsonObject | None]:
    """Read the object that a source begins with."""
    source.pos = skip_json_space(source.text, 0)
    while source.exhausted:
        yield None
        source.pos = skip_json_space(source.text, source.pos)
    if not source.text.startswith("{", source.pos):
        return None
    read = yield from read_object(source)
    return read if isinstance(read, JsonObject) else None
