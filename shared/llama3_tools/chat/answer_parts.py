"""What a model wrote and what it thought, as the answer grows."""

from __future__ import annotations

from typing import Any

from llama3_tools.reader.markup import search_end_of_turn
from llama3_tools.text.growing_text import GrowingText
from llama3_tools.values import Span

BLANK_LINE = "\n\n"


class Written:
    """The text of the model, as it came."""

    def __init__(self) -> None:
        self._settled: list[str] = []
        """What is before the end of the last call."""
        self._settled_to = 0
        """How many characters that has."""
        self._recent = GrowingText()
        """What has come since."""

    def add(self, text: str) -> None:
        """Add the next text."""
        self._recent.add(text)

    def take_call(self, span: Span) -> bool:
        """Note where the next call is, and return whether a token before it ends a turn."""
        recent, start, end = self._recent.joined(), *(place - self._settled_to for place in span)
        self._settled.append(recent[:end])
        self._settled_to = span[1]
        self._recent = GrowingText(recent[end:])
        return search_end_of_turn(recent, 0, start) is not None

    @property
    def text(self) -> str:
        """All of it."""
        self._settled = ["".join(self._settled)]
        return self._settled[0] + self._recent.joined()


class Thoughts:
    """What the model thought: what the server sends as such, and what is split off the text, a blank line apart."""

    def __init__(self, *, follow: bool) -> None:
        self._text = GrowingText()
        self._from_server = True
        self._separator = BLANK_LINE if follow else ""

    def add(self, text: str, *, from_server: bool) -> dict[str, Any]:
        """Add the next text, and return its delta."""
        if self._text and self._from_server is not from_server:
            text = f"{BLANK_LINE}{text.lstrip()}"
        self._from_server = from_server
        self._text.add(text)
        separator, self._separator = self._separator, ""
        return {"reasoning_content": separator + text}

    @property
    def text(self) -> str:
        """All of them."""
        return self._text.joined()

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self._text)
