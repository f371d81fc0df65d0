"""The model output as far as it has arrived: a window to read in, and some text before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llama3_tools.formats.base import LOOK_BEHIND

__all__ = ["LOOK_BEHIND", "Window"]

_MOST_PASSED = 512
"""How many are kept at most: to let them go for every chunk takes longer than to copy them."""


class Window:
    r"""Text in which a reader moves on. What it has passed leaves, but for the last few characters.

    The window begins with a line break that is not part of the output, so that the start of the output is the start of
    a line. `LOOK_BEHIND` characters before the place where reading stands are kept, at least.

    >>> window = Window()
    >>> window.feed("Hello")
    >>> window.text, window.pos, window.offset
    ('\nHello', 1, 0)
    """

    __slots__ = ("base", "ended", "pos", "text")

    def __init__(self) -> None:
        self.text = "\n"
        self.pos = 1
        """The index at which reading stands. Text before it is settled, or kept by who reads."""
        self.base = -1
        """The offset of `text[0]` in the output."""
        self.ended = False
        """Whether no more will come."""

    @property
    def offset(self) -> int:
        """The offset at which reading stands."""
        return self.base + self.pos

    @property
    def arrived(self) -> int:
        """How many characters have arrived."""
        return self.base + len(self.text)

    def take_whole(self, text: str) -> None:
        """Take all of an output, into a window that was given nothing yet."""
        self.text = f"\n{text}"
        self.ended = True

    def cut_end(self, at: int) -> None:
        """Drop the text from an index on."""
        self.text = self.text[:at]

    def rewind(self, start: int, kept: str, at: int, before: str) -> None:
        r"""Read once more what was kept of a candidate, up to where reading stands.

        >>> window = Window()
        >>> window.take_whole("so: {x}, and more")
        >>> window.pos = 8
        >>> window.rewind(4, "{x}", 1, "\nso: ")
        >>> window.text[window.pos :], window.offset
        ('x}, and more', 5)

        Args:
            start: the offset of what was kept.
            kept: the text that was kept.
            at: the index in it to read on from.
            before: the text before it.
        """
        if start >= self.base:  # all of it is in the window: nothing has to be copied
            self.pos = start + at - self.base
            return
        passed = (before + kept[:at])[-LOOK_BEHIND:]
        self.text = passed + kept[at:] + self.text[self.pos :]
        self.pos = len(passed)
        self.base = start + at - len(passed)

    @contextmanager
    def cut_at(self, offset: int) -> Iterator[None]:
        r"""Hide the text from an offset on, as if it had not come yet.

        >>> window = Window()
        >>> window.take_whole("one, two")
        >>> with window.cut_at(3):
        ...     print(repr(window.text[window.pos :]), window.ended)
        'one' False
        >>> window.text, window.ended
        ('\none, two', True)
        """
        text, base, ended = self.text, self.base, self.ended
        first = max(self.pos - LOOK_BEHIND, 0)
        self.text = text[first : offset - base]
        self.base, self.pos, self.ended = base + first, self.pos - first, False
        try:
            yield
        finally:
            self.pos += self.base - base
            self.text, self.base, self.ended = text, base, ended

    def feed(self, chunk: str) -> None:
        """Append a chunk."""
        if self.pos > _MOST_PASSED:
            cut = self.pos - LOOK_BEHIND
            self.text = self.text[cut:]
            self.base += cut
            self.pos = LOOK_BEHIND
        self.text += chunk
