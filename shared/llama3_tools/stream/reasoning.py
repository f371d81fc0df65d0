"""Reasoning that is split off (rule 9): each thought without the white space at its ends, a blank line between two."""

from __future__ import annotations

from llama3_tools.text.growing_text import GrowingText

__all__ = ["Reasoning"]

_BETWEEN = "\n\n"


class Reasoning:
    r"""The reasoning of one model turn, as it grows.

    >>> reasoning = Reasoning(is_kept=True)
    >>> reasoning.begin(); reasoning.add("\nParis, "); reasoning.add("then.\n")
    'Paris,'
    ' then.'
    >>> reasoning.text
    'Paris, then.'
    """

    __slots__ = ("_has_text", "_is_kept", "_pieces", "_tail")

    def __init__(self, *, is_kept: bool) -> None:
        self._is_kept = is_kept
        self._pieces: GrowingText | None = None
        self._has_text = False
        self._tail: list[str] | None = None

    def begin(self) -> None:
        """Begin a thought."""
        self._tail = None

    def add(self, piece: str) -> str:
        """Take the next piece of a thought, and return what is certain now: white space waits for what follows."""
        body = piece.rstrip()
        if not body:
            if self._tail is not None:
                self._tail.append(piece)
            return ""
        if self._tail is None:
            before, written = [_BETWEEN] if self._has_text else [], body.lstrip()
        else:
            before, written = self._tail, body
        fresh = "".join((*before, written))
        self._tail = [piece[len(body) :]]
        self._has_text = True
        if self._is_kept:
            self._pieces = self._pieces or GrowingText()
            self._pieces.add(fresh)
        return fresh

    @property
    def text(self) -> str | None:
        """All of it so far, or `None` if there is none, or it is not kept."""
        return (self._pieces.joined() or None) if self._pieces else None
