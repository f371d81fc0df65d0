"""What the engine knows of a wire format, how a stream is read and written in it, and of what answers consist."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from llama3_gateway.errors import BrokenOffError
from llama3_gateway.exchange import EVENT_STREAM
from llama3_gateway.framing import write_json
from llama3_tools.chat import Reply, Request

Delta: TypeAlias = dict[str, Any]
"""A delta in OpenAI's form."""
Message: TypeAlias = Mapping[str, Any]
"""A message of a request."""
Usage: TypeAlias = dict[str, Any] | None
"""Counts of tokens, as the upstream writes them."""
_LINE_BREAKS = str.maketrans("\r\n", "  ")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


@dataclass(slots=True)
class Piece:
    """What a chunk says of one choice."""

    index: int
    """Of the choice."""
    delta: Delta
    """In OpenAI's form."""
    finish_reason: str | None = None
    """The upstream's word for why the choice ended, if it did."""
    logprobs: object = None
    """Of the tokens in the delta."""
    extra: dict[str, Any] = field(default_factory=dict)
    """What else the upstream says of the choice."""


@dataclass(slots=True)
class Chunk:
    """One chunk of an upstream's stream."""

    head: dict[str, Any]
    """What it says of the answer: its id, its model and so on."""
    pieces: list[Piece]
    """What it says of its choices."""
    usage: Usage = None
    """The tokens that were used."""


class StreamReader(Protocol):
    """Reads an upstream's stream."""

    is_done: bool
    """Whether the upstream has said that the stream is over."""

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """Add the next bytes, and yield the chunks that are whole.

        Raises:
            BrokenOffError: the stream cannot be read any further, or contains an error.
        """

    def end(self) -> Iterator[Chunk]:
        """End the stream, and yield a last chunk that no frame has closed.

        Raises:
            BrokenOffError: what is left is not a whole chunk.
        """


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What an upstream speaks."""

    path: str
    """Where it is asked."""
    media: bytes
    """The media type of its streams."""
    not_there: str
    """What to do if the upstream has no such path."""
    reader: Callable[[], StreamReader]
    """Makes what reads a stream."""
    chunk: Callable[[dict[str, Any]], Chunk]
    """Returns a whole answer as one chunk, whose deltas are messages; raises `BrokenOffError` if it is none."""
    messages: Callable[[Sequence[Message]], Sequence[Message]] = lambda messages: messages
    """Returns messages in OpenAI's form as the upstream takes them."""
    constraint: Callable[[Request], Mapping[str, Any]] = lambda request: request.constraint
    """Returns the fields that hold the upstream to the form of its answer."""


class Shape(Protocol):
    """Writes what one client is answered."""

    content_type: bytes = EVENT_STREAM
    """The media type of streams."""

    def whole(self, body: dict[str, Any], pieces: list[Piece], replies: list[Reply], usage: Usage) -> bytes:
        """Return a whole answer."""

    def begin(self, head: dict[str, Any]) -> bytes:
        """Return what comes first, given the upstream's words for the answer."""

    def deltas(self, index: int, deltas: list[Delta], logprobs: object) -> bytes:
        """Return the bytes for some deltas of a choice."""

    def finish(self, index: int, finish_reason: str | None, extra: dict[str, Any]) -> bytes:
        """Return what says that a choice is over, with what else the upstream said of it."""

    def end(self, usage: Usage) -> bytes:
        """Return what says that the stream is over."""

    def fail(self, error: BrokenOffError) -> bytes:
        """Return what says that the stream broke off."""

    def keepalive(self) -> bytes:
        """Return what means nothing: a comment."""
        return b": keepalive\n\n"


def added_usage(one: Usage, other: Usage) -> Usage:
    """Return the sum of two counts of tokens, as far as both have numbers."""
    if one is None or other is None:
        return one or other
    total = {**one, **other}
    for name in one.keys() & other.keys():
        first, second = one[name], other[name]
        if isinstance(first, dict) and isinstance(second, dict):
            total[name] = added_usage(first, second)
        elif _is_number(first) and _is_number(second):
            total[name] = first + second
    return total


def arguments_of(call: Mapping[str, Any]) -> str:
    r"""Return a call's arguments in one line of ASCII, as some clients end a line at other characters, too.

    >>> arguments_of({"function": {"arguments": '{"price":\n1.10}'}})
    '{"price": 1.10}'
    """
    arguments: str = call["function"]["arguments"]
    return _NOT_ASCII.sub(lambda found: write_json(found[0])[1:-1], arguments.translate(_LINE_BREAKS))


def count_in(counts: object, name: str) -> int:
    """Return a count of tokens; 0 if it is not a whole number."""
    count = counts.get(name) if isinstance(counts, Mapping) else None
    return count if type(count) is int else 0


def new_id(kind: str) -> str:
    """Return an id that nothing else has."""
    return f"{kind}_{os.urandom(12).hex()}"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
