"""What an answer is made of, as it grows: what the model wrote, the content, and what it thought."""

from __future__ import annotations

from typing import Any

from llama3_tools.chat.messages import content_of
from llama3_tools.reader.markup import search_end_of_turn
from llama3_tools.text.growing_text import GrowingText
from llama3_tools.values import Span

BLANK_LINE = "\n\n"


class Written:
    """The text of the model, as it came."""

    def __init__(self) -> None:
        self._settled: list[str] = []
        """What is before the last call, or before an earlier one."""
        self.recent = GrowingText()
        """What has come since, to which the next text is added."""
        self._recent_at = 0
        self._called_to = 0

    def take_call(self, span: Span) -> bool:
        """Note where the next call is, and return whether a token before it ends a turn."""
        recent, at = self.recent.joined(), self._recent_at
        is_new_turn = search_end_of_turn(recent, self._called_to - at, span[0] - at) is not None
        self._called_to = span[1]
        cut = span[1] - at
        if cut > len(recent) // 2:  # which keeps the work linear
            self._settled.append(recent[:cut])
            recent, self._recent_at = recent[cut:], span[1]
        self.recent = GrowingText(recent)
        return is_new_turn

    @property
    def text(self) -> str:
        """All of it."""
        self._settled = ["".join(self._settled)]
        return self._settled[0] + self.recent.joined()


class Content:
    """The content of an answer: text that was read, parts other than text, and calls that became text at its end."""

    def __init__(self) -> None:
        self.is_given = False
        """Whether the server has sent a content, be it empty."""
        self._length = 0
        """How many characters of text were read. They are kept by what has read them."""
        self._parts: list[tuple[int, Any]] = []
        """The parts, and how much text is before each."""
        self._appended: list[str] = []
        self._has_text = False
        self._has_inserted = False
        """Whether the last text was inserted: the reader's next one may not begin with a space."""

    def add(self, text: str) -> str:
        """Add the next text that was read, and return it, with a space before it where that is needed."""
        piece = text
        if self._has_inserted and not text[0].isspace():
            self._parts.append((self._length, " "))
            piece = f" {text}"
        self._length += len(text)
        self._has_text = self._has_text or not text.isspace()
        self._has_inserted = False
        return piece

    def insert(self, text: str) -> str:
        """Insert a call that stays text at its place, and return the piece that this adds."""
        piece = f" {text}" if self._has_text else text
        self._parts.append((self._length, piece))
        self._has_text = self._has_inserted = True
        return piece

    def add_part(self, part: object) -> None:
        """Add a part other than text."""
        self._parts.append((self._length, part))

    def append(self, text: str) -> str:
        """Append text in place of a call that does not run, and return the piece that this adds."""
        piece = f" {text}" if self._has_text else text
        self._appended.append(piece)
        self._has_text = True
        return piece

    def whole(self, read: str | None, *, has_calls: bool) -> str | list[Any] | None:
        """Return the content, given what was read of the text, which may have lost white space at its start."""
        text = read or ""
        lost, at = self._length - len(text), 0
        pieces: list[Any] = []
        for place, part in self._parts:
            end = max(place - lost, 0)
            pieces += [text[at:end], part]
            at = end
        pieces.append("".join([text[at:], *self._appended]))
        content = content_of([piece for piece in pieces if piece != ""])
        return content or ("" if self.is_given and not has_calls else None)


class Thoughts:
    """What the model thought: what the server sends as such, and what is split off the text, a blank line apart."""

    def __init__(self, *, follow: bool) -> None:
        self._text = GrowingText()
        self._is_server = True
        self._separator = BLANK_LINE if follow else ""

    def add(self, text: str, *, is_server: bool) -> dict[str, Any]:
        """Add the next text, and return its delta."""
        if self._text and self._is_server is not is_server:
            text = f"{BLANK_LINE}{text.lstrip()}"
        self._is_server = is_server
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
