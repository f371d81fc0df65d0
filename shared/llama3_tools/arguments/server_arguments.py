"""The arguments of a call that a server found: read as strictly as those in text, each character of a stream once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

from llama3_tools.literals.json_object import parse_object, skip_json_space
from llama3_tools.literals.json_tokens import JsonTokens
from llama3_tools.literals.python_scalars import is_unicode
from llama3_tools.values import RejectionReason


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

    __slots__ = ("_has_ended", "_pieces", "_rest", "_tokens", "is_too_deep", "value")

    def __init__(self) -> None:
        """Start without text: some servers send nothing for a tool without parameters."""
        self.value: dict[str, Any] | None = {}
        """The object that the whole text is, the same one each time; `None` if it is not strict JSON (principle 1)."""
        self.is_too_deep = False
        """Whether it is none because it is nested deeper than anything that is read."""
        self._tokens: JsonTokens | None = None
        self._pieces: list[str] = []
        """The text from the brace on, as far as it was read."""
        self._rest = ""
        """What waits for more: the beginning of an escape."""
        self._has_ended = False

    def feed(self, piece: str) -> None:
        """Add more of the text."""
        if self._has_ended:
            if skip_json_space(piece, 0) < len(piece):
                self.value = None
        elif piece:
            self._read(piece)

    @property
    def is_blank(self) -> bool:
        """Whether it has nothing but white space so far."""
        return self._tokens is None

    def _read(self, piece: str) -> None:
        tokens, text = self._tokens, self._rest + piece
        if tokens is None:
            text = text[skip_json_space(text, 0) :]
            if not text:
                return
            self.value = None
            tokens = self._tokens = JsonTokens()
            self._has_ended = not text.startswith("{")
            if self._has_ended:
                return
        end = tokens.read(text, 0, 0, ended=False)
        self._pieces.append(text[:end])
        self._rest = text[end:]
        self._has_ended = tokens.is_complete or tokens.refusal is not None
        if tokens.refusal is not None:
            self.is_too_deep = tokens.refusal.reason is RejectionReason.TOO_DEEP
        elif tokens.is_complete and skip_json_space(self._rest, 0) == len(self._rest):
            self.value = self._decoded()

    def _decoded(self) -> dict[str, Any] | None:
        """Decode the object. If a key occurs twice, the last value counts, as in everything that servers decode."""
        parsed = parse_object("".join(self._pieces), 0, checked=True)
        return parsed.members if parsed and (not parsed.flaw or is_strict(parsed.members)) else None


def is_strict(arguments: Mapping[str, Any]) -> bool:
    r"""Return whether decoded arguments are strict JSON throughout: decoders let some other values through.

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
    r"""Return JSON that means the same and that can be sent: halves of surrogate pairs are escapes.

    >>> print(with_escaped_halves('{"s": "é\ud83d"}'))
    {"s": "é\ud83d"}
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
