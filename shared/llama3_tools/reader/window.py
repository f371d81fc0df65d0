"""The window: the unread text of a turn, and a little of what was read."""

from __future__ import annotations

from llama3_tools.literals.python_scalars import is_unicode

KEPT, MOST_KEPT = 256, 512
"""How many characters that were read are kept, and how many there may be before any are dropped."""


class Window:
    """Text that arrives in chunks. Offsets count from the beginning of the output, indexes from that of the window.

    >>> window = Window("let ")
    >>> window.add("go")
    >>> window.text, window.base
    ('let go', 0)
    """

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.base = 0
        self.pos = 0
        """The index up to which the turn was read: it alone moves on."""
        self.searched = 0
        """The offset up to which text was searched for what may begin something, or less."""
        self.ended = False
        self.is_complete = True
        """Whether the model ended the turn, rather than a limit."""
        self.is_aborted = False
        self._parked: list[str] = []
        """Text that has left the window, and that an open candidate may need."""
        self._parked_from = 0
        self._simple_text = ""
        """The text that was last found to be simple, or not."""
        self._is_simple = True

    def add(self, chunk: str) -> None:
        """Append a chunk."""
        self.text += chunk

    def end(self, *, complete: bool, aborted: bool) -> None:
        """Note that no more text will come."""
        self.ended, self.is_complete, self.is_aborted = True, complete, aborted

    def forget(self, cut: int, needed_from: int | None) -> None:
        """Drop the text before an index. What an open candidate needs, from an offset on, is parked."""
        keep = cut if needed_from is None else max(needed_from - KEPT - self.base, 0)
        if keep:
            self._parked = []
        if keep < cut:
            if not self._parked:
                self._parked_from = self.base + keep
            self._parked.append(self.text[keep:cut])
        self.text, self.base, self.pos = self.text[cut:], self.base + cut, self.pos - cut

    def go_back(self, offset: int) -> None:
        """Move to an offset: text is read again from there."""
        if self._parked:
            self.text = "".join([*self._parked, self.text])
            self.base, self._parked = self._parked_from, []
        self.pos = offset - self.base

    def written(self, begin: int, end: int) -> str:
        """Return the text between two offsets; the first may be that of an open candidate, before the window."""
        if begin >= self.base:
            return self.text[begin - self.base : end - self.base]
        pieces = [*self._parked, self.text[: end - self.base]]
        skipped = begin - self._parked_from
        while skipped >= len(pieces[0]):
            skipped -= len(pieces.pop(0))
        pieces[0] = pieces[0][skipped:]  # so that what is long is copied once
        return "".join(pieces)

    @property
    def is_simple(self) -> bool:
        r"""Whether no object in the window has half a surrogate pair, so that most need no closer look."""
        text = self.text
        if self._simple_text is not text:
            self._simple_text = text
            self._is_simple = "\\u" not in text and (text.isascii() or is_unicode(text))
        return self._is_simple
