"""What an answer says, its calls and its text, so that a stream can be compared with the whole answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from llama3_acceptance.doctor.exchanges import Exchange
from llama3_tools import Extraction
from llama3_tools.values import shortened


@dataclass(frozen=True, slots=True)
class Said:
    """What one answer says."""

    sent: tuple[str, ...]
    """The calls in `tool_calls`, as `NAME(ARGUMENTS)`."""
    written: tuple[str, ...]
    """The calls in the text, likewise."""
    text: str
    """The rest of the text."""

    @classmethod
    def of(cls, exchange: Exchange, read: Extraction) -> Said:
        """Return what an answer says.

        Args:
            exchange: the answer.
            read: what the extractor makes of its text.
        """
        return cls(
            tuple(_call(call.name, call.arguments, call.text) for call in exchange.calls),
            tuple(_call(call.name, call.arguments, call.arguments_json) for call in read.tool_calls),
            (read.content or "").strip(),
        )

    @property
    def kinds(self) -> str:
        """How many calls it has, where, and whether it has text: `2 calls in tool_calls and text`."""
        parts = [
            _counted(len(self.sent), "in tool_calls"),
            _counted(len(self.written), "in the text"),
            "text" if self.text else "",
        ]
        return " and ".join(filter(None, parts)) or "nothing"

    @property
    def parts(self) -> tuple[str, ...]:
        """Its calls and its text, one after the other."""
        return (*self.sent, *self.written, repr(self.text))


def stream_difference(whole: Said, streamed: Said, again: Said | None) -> tuple[str, str] | None:
    """Return how a stream differs from the whole answer, as what each of them says; `None` if nobody can tell.

    A model may answer one question in two ways, even at temperature 0. What two whole answers share is the server's.

    >>> whole, streamed = Said((), (), "It is 21 degrees."), Said((), (), "It is 2 degrees.")
    >>> stream_difference(whole, streamed, whole)
    ("'It is 21 degrees.'", "'It is 2 degrees.'")
    >>> stream_difference(whole, streamed, Said((), (), "21."))

    Args:
        whole: what the whole answer says.
        streamed: what the stream says.
        again: what another whole answer to the same question says; `None` if there is none.
    """
    if whole.kinds != streamed.kinds:
        is_known = again is None or again.kinds == whole.kinds
        return (whole.kinds, streamed.kinds) if is_known else None
    if whole == streamed or whole != again:
        return None
    pairs = zip_longest(whole.parts, streamed.parts, fillvalue="")
    return next((shortened(one), shortened(other)) for one, other in pairs if one != other)


def _call(name: str, arguments: Mapping[str, Any] | None, text: str) -> str:
    return f"{name}({text if arguments is None else json.dumps(arguments, ensure_ascii=False, sort_keys=True)})"


def _counted(number: int, where: str) -> str:
    return f"{number} call{'s' if number != 1 else ''} {where}" if number else ""
