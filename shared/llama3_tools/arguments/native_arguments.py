"""The arguments of a call that a server found: read as strictly as those in text, each character of a stream once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

from llama3_tools.reading.json_parse import JsonObject, skip_json_space
from llama3_tools.reading.json_scan import Scan, read_object
from llama3_tools.reading.python_scalars import is_unicode
from llama3_tools.reading.source import Reading, Source
from llama3_tools.values import RejectionReason

__all__ = ["GrowingArguments", "is_strict", "with_escaped_halves"]


@final
class GrowingArguments:
    """The text of one call's arguments, as it arrives.

    >>> growing = GrowingArguments()
    >>> growing.feed('{"city": ')
    >>> growing.value
    >>> growing.feed('"Paris"}')
    >>> growing.value
    {'city': 'Paris'}
    """

    __slots__ = ("_reading", "_source", "is_too_deep", "value")

    def __init__(self) -> None:
        """Start where nothing has arrived: some servers send nothing for a tool without parameters."""
        self.value: dict[str, Any] | None = {}
        """The object that all of the text is, always the same one; `None` where it is none of strict JSON (rule 8)."""
        self.is_too_deep = False
        """Whether it is none for being nested deeper than anything that is read."""
        self._source = Source()
        self._reading: Reading[JsonObject | Scan | None] | None = _read_whole(self._source)

    def feed(self, piece: str) -> None:
        """Take some more of the text."""
        if not piece:
            return
        if self._reading is not None:
            self.value = None
            self._source.feed(piece)
            try:
                next(self._reading)
            except StopIteration as stop:
                self._reading = None
                self._take(stop.value)
                piece = self._source.text[self._source.pos :]
            else:
                return
        if skip_json_space(piece, 0) < len(piece):
            self.value = None

    def _take(self, read: JsonObject | Scan | None) -> None:
        if isinstance(read, JsonObject):
            self.value = read.value
        elif read is not None and read.refusal is not None:
            self.is_too_deep = read.refusal.reason is RejectionReason.TOO_DEEP


def is_strict(arguments: Mapping[str, Any]) -> bool:
    r"""Tell whether decoded arguments hold nothing that is no strict JSON (rule 8) and that decoders let through.

    These are numbers that are none or too large, and halves of surrogate pairs. What no decoder gives, such as a date,
    a program has put there.

    >>> is_strict({"n": [1.5, "é"]}), is_strict({"n": [float("nan")]}), is_strict({"\ud83d": 1})
    (True, False, False)
    """
    values, seen = list[object]([*arguments, *arguments.values()]), set[int]()
    while values:  # without recursion, as Python's limit counts the caller's frames too
        value = values.pop()
        if isinstance(value, str):
            if not is_unicode(value):
                return False
        elif isinstance(value, float):
            if not math.isfinite(value):
                return False
        elif isinstance(value, (dict, list, tuple)) and id(value) not in seen:
            seen.add(id(value))
            values += value
            if isinstance(value, dict):
                values += value.values()
    return True


def with_escaped_halves(text: str) -> str:
    r"""Give JSON that means the same and that can be sent: halves of surrogate pairs are escapes.

    >>> print(with_escaped_halves('{"s": "é\ud83d"}'))
    {"s": "é\ud83d"}
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _read_whole(source: Source) -> Reading[JsonObject | Scan | None]:
    """Read the object that a source begins with."""
    source.pos = skip_json_space(source.text, 0)
    while source.exhausted:
        yield None
        source.pos = skip_json_space(source.text, source.pos)
    if not source.text.startswith("{", source.pos):
        return None
    return (yield from read_object(source))
