"""The model output as far as it has arrived: a window to read in, and what is held back behind it.

A reader works on `text` from `pos` and moves `pos` on. Whatever it has moved past leaves the window with the
next chunk, so that no character is copied again for every chunk that follows: that keeps a stream linear.
Everything from `mark` on is kept until the machine settles it as text or as a call.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Generator
from typing import TypeAlias, TypeVar

from llama3_tools.text.growing_text import GrowingText

__all__ = ["Reading", "Source", "run_to_end", "scannable"]

_T = TypeVar("_T")

Reading: TypeAlias = Generator[int | None, None, _T]
"""A reader at work. It yields when it needs more text than there is: `None` while all from the mark on may
still be a call, or the offset up to which the text cannot be one any more."""

_LOOK_BACK = 16  # how much of the text before the mark is remembered
_MOST_FRESH = 2000
_LONG = 1000

# Surrogate pairs and their halves, as escapes.
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HALF = re.compile(r"\\u[dD](?:[89abAB][0-9a-fA-F]{2}|[c-fC-F])")


def run_to_end(reading: Reading[_T]) -> _T:
    """Run a reader on a source that has ended, where it never has to wait."""
    try:
        while True:
            next(reading)
    except StopIteration as stop:
        result: _T = stop.value
        return result


class _Lineless(str):
    """Text whose lines nobody counts.

    `json.JSONDecodeError` counts the line breaks from the start of the text, for every error: with one error a
    brace that is quadratic. It asks the text itself, so the text can decline.
    """

    __slots__ = ()

    def count(self, *_: object) -> int:
        return 0

    def rfind(self, *_: object) -> int:
        return -1


class Source:
    """The output of one model turn, fed in chunks. Offsets count from the start of the output."""

    __slots__ = (
        "_before",
        "_fresh",
        "_is_examined",
        "_json_text",
        "_kept",
        "_lead",
        "base",
        "behind_tag",
        "bound",
        "ended",
        "furthest",
        "held_to",
        "in_call_tag",
        "mark",
        "most",
        "open_fences",
        "pos",
        "text",
        "unrepairable",
    )

    def __init__(self) -> None:
        self.text = ""
        self.pos = 0
        self.base = 0
        """The offset of `text[0]`."""
        self.mark = 0
        """The offset from which on nothing is settled yet."""
        self.ended = False
        self.most = self.bound = sys.maxsize
        """Up to where what may be a call may reach."""
        self.furthest = 0
        """How far was read, ahead of where reading stands now."""
        self.held_to: int | None = None
        """How far was read of what was held back as it might have been a call, once it is not; `None`: it still may."""
        self.open_fences: frozenset[str] = frozenset()
        """The opening fences whose inside is being read as if it stood bare."""
        self.behind_tag = -1
        """Where that begins which stands in a tag that turned out to be text."""
        self.in_call_tag = -1
        """The same, where nothing but a call is meant there: no schema, and no prose about the tag."""
        self.unrepairable = range(0)
        """The offsets of malformed JSON that a repair was last tried for in vain."""
        self._kept = GrowingText()
        self._json_text: str | None = None
        self._is_examined = False
        self._before = self._lead = ""
        self._fresh = ""
        """What the mark moved over since those two were made, as hardly anybody asks for them."""

    @property
    def before(self) -> str:
        """The last few characters before the mark."""
        self._remember_fresh()
        return self._before

    @property
    def lead(self) -> str:
        """The same, to the last that is no white space; what white space is behind it is one line break or blank."""
        self._remember_fresh()
        return self._lead

    @property
    def offset(self) -> int:
        """Where reading stands."""
        return self.base + self.pos

    @property
    def exhausted(self) -> bool:
        """Whether all that has arrived was read."""
        return self.pos >= len(self.text)

    @property
    def finished(self) -> bool:
        """Whether all was read, and no more will come."""
        return self.ended and self.pos >= len(self.text)

    @property
    def json_text(self) -> str | None:
        """The window, for the standard library's JSON scanner. `None` if it has surrogates, which that lets through."""
        if not self._is_examined:
            self._json_text = scannable(self.text)
            self._is_examined = True
        return self._json_text

    def feed(self, chunk: str) -> None:
        """Append a chunk; what was read leaves the window."""
        pos, text = self.pos, self.text
        if pos:
            unsettled = max(self.mark - self.base, 0)
            if unsettled < pos:
                self._kept.add(text[unsettled:pos])
            self.base += pos
            self.pos = 0
            text = text[pos:]
        self._set_text(text + chunk if text else chunk)

    def slice(self, start: int, end: int) -> str:
        """Give the text between two offsets, neither of them before the mark."""
        if start >= self.base:
            return self.text[start - self.base : end - self.base]
        pieces, offset, earlier = [], self.base, reversed(self._kept)
        while offset > start:
            pieces.append(next(earlier))
            offset -= len(pieces[-1])
        pieces[-1] = pieces[-1][start - offset :]
        pieces.reverse()
        pieces.append(self.text[: max(end - self.base, 0)])
        return "".join(pieces)[: end - start]  # which copies nothing where that is all

    def rewind(self, offset: int) -> None:
        """Read on at an offset that was passed before, not before the mark."""
        self.furthest = max(self.furthest, self.offset)
        if offset < self.base:
            text = self.slice(offset, self.base + len(self.text))
            kept = self.slice(self.mark, offset)
            self._kept = GrowingText(kept)
            self.base = offset
            self._set_text(text)
        self.pos = offset - self.base

    def hold(self, most: int) -> None:
        """Begin to read what may be a call, of at most so many characters."""
        self.furthest = self.offset
        self.most, self.bound = most, self.offset + most
        self.held_to = None

    def let_go(self) -> None:
        """Go on reading what is no call: it flows."""
        if self.held_to is None:
            self.held_to = max(self.furthest, self.offset)

    def let_go_in_time(self, start: int) -> None:
        """Go on reading what is too long for a call, unless too much was read before it began at an offset."""
        if max(self.furthest, start) <= self.bound:
            self.held_to = self.bound

    @property
    def holds_too_much(self) -> bool:
        """Whether more characters were read than a call may have, while they might have been one."""
        return (max(self.furthest, self.offset) if self.held_to is None else self.held_to) > self.bound

    def settle(self, end: int) -> str:
        """Give the text from the mark to an offset that was read, and move the mark there."""
        start = self.mark
        if end <= start:
            return ""
        if self._kept:
            text = self.slice(start, end)
            self._move_mark(end, text)
        else:
            text = self.text[start - self.base : end - self.base]
            self._remember(text)
            self.mark = end
        return text

    def drop(self, end: int) -> None:
        """Move the mark to an offset, for text that nobody needs again."""
        self._move_mark(end, self.slice(max(self.mark, end - _LOOK_BACK), end))

    def _move_mark(self, end: int, text: str) -> None:
        self._remember(text)
        if self._kept:
            rest = self.slice(end, self.base) if end < self.base else ""
            self._kept = GrowingText(rest)
        self.mark = end

    def _remember(self, text: str) -> None:
        self._fresh += text
        if len(self._fresh) > _MOST_FRESH:
            self._remember_fresh()

    def _remember_fresh(self) -> None:
        text, before, lead = self._fresh, self._before, self._lead
        if not text:
            return
        self._fresh = ""
        self._before = self._lead = (text if len(text) >= _LOOK_BACK else before + text)[-_LOOK_BACK:]
        if text[-1].isspace():
            body = text.rstrip()
            breaks = "\n" in text[len(body) :] or "\r" in text[len(body) :] or (not body and lead.endswith("\n"))
            self._lead = ((before + body)[-_LOOK_BACK:] if body else lead.rstrip()) + ("\n" if breaks else " ")

    def _set_text(self, text: str) -> None:
        self.text = text
        self._json_text = None
        self._is_examined = False


def scannable(text: str) -> str | None:
    """Give a text for the standard library's JSON scanner; `None` if it has surrogates, which that lets through."""
    if _has_lone_surrogate(text):
        return None
    return text if len(text) < _LONG else _Lineless(text)


def _has_lone_surrogate(text: str) -> bool:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return True
    if "\\" not in text or not _HALF.search(text):
        return False
    plain = text.replace("\\\\", "..")  # without the backslashes that are escaped
    return _HALF.search(_PAIR.sub("", plain)) is not None
