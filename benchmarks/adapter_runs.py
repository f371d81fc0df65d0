"""What a file of an adapter's runs is made of."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from llama3_tools import Extractor
from measuring import chunks_of
from workloads import TYPICAL

CHUNKS = list(chunks_of(TYPICAL))
"""A typical output as it is streamed."""

_PROPERTIES = {"city": {"type": "string"}, "days": {"type": "integer"}, "units": {"type": "string"}}
_TOOL = {"name": "get_weather", "parameters": {"type": "object", "properties": _PROPERTIES}}
OF_PARSER = Extractor(tools=[_TOOL])
"""What a parser reads with."""
OF_MODEL = Extractor(tools=[_TOOL], on_unknown_tool="call", coerce_arguments=True)
"""What a model reads with."""


@dataclass(frozen=True, slots=True)
class Run:
    """A typical output, read by a framework with an adapter and without one."""

    name: str
    per: str
    """What the time is of: a message, or a chunk."""
    extractor: Extractor
    """What the adapter reads with, as it is configured here."""
    adapted: Callable[[], object]
    bare: Callable[[], object]


def get_weather(city: str, days: int, units: str) -> str:
    """The weather of a city."""
    return f"Sun in {city} for {days} days, in {units} units"


def read_all(stream: Iterable[object]) -> None:
    """Take all that a stream gives."""
    deque(stream, maxlen=0)


def require_one(calls: int) -> None:
    """Stop where the one call was not found: that would measure nothing."""
    if calls != 1:
        raise AssertionError(f"expected 1 call in a typical output, found {calls}")
