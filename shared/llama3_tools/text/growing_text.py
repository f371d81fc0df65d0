"""Text that comes in pieces of any size, and is kept."""

from __future__ import annotations

_MOST_SHORT = 256


class GrowingText:
    """Text in pieces. Many short ones are joined, as each costs fifty bytes beside its characters.

    >>> text = GrowingText("He")
    >>> text.add("llo"); text.add("!")
    >>> text.joined()
    'Hello!'
    """

    __slots__ = ("_long", "_short", "length")

    def __init__(self, text: str = "") -> None:
        self._long = [text] if text else []
        self._short: list[str] = []
        self.length = len(text)
        """How many characters it has."""

    def add(self, piece: str) -> None:
        """Add the next piece."""
        short = self._short
        short.append(piece)
        self.length += len(piece)
        if len(short) > _MOST_SHORT:
            self._long.append("".join(short))
            self._short = []

    def joined(self) -> str:
        """Return all of it."""
        return "".join((*self._long, *self._short))

    def __bool__(self) -> bool:
        """Return whether there is a piece."""
        return bool(self._short or self._long)
