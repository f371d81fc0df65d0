"""What is quoted: in regions, up to what closes them, and at places on a line (principle 4)."""

from __future__ import annotations

import re
from collections.abc import Container

from llama3_tools.reader.markup import NAME
from llama3_tools.reader.regions import Region
from llama3_tools.reader.window import Window

IN_STRING = "directly after a quotation mark"
IN_SPAN = "in a code span"
IN_THOUGHTS = "in thoughts"
IN_FENCE = "in a fence of code"
IN_RESULT = "in the repeated result of a tool"
IN_BLOCKQUOTE = "after the > of a blockquote"

_HEAD = 256
_BLOCKQUOTE = re.compile(r"[ \t\xa0]*(?:(?:[-*+•]|\d{1,4}[.)])[ \t\xa0]+)*>(?!>>)").match
_RESULT = re.compile(rf"(?:Result|Error) of ({NAME}):").match
_TICKS = re.compile("`+").findall


class Quotation:
    """Says why a place is quoted; knows the region, the fence and the line.

    >>> Quotation(Window("> {}"), {}).why(2), Quotation(Window("a {}"), {}).why(2)
    ('after the > of a blockquote', None)
    """

    def __init__(self, window: Window, declared: Container[str]) -> None:
        self._window = window
        self._declared = declared
        self.region: Region | None = None
        self.fence = ""
        """The backticks of the fence that is open, and not (yet) a region."""
        self.fence_is_fresh = False
        """Whether only markup came since it was opened: what comes first decides whether it is quotation."""
        self.fence_from = -1
        """The offset at which it opened, if its first line is markup: if a call came since, its last line is, too."""
        self.line_from = 0
        """The offset after the last call or region: there the line begins anew."""
        self._string_end = -1
        """The offset after the last candidate in quotes: one after its comma is in them, too."""
        self._read_to = 0
        """The offset up to which the line was read. It is read on demand, and from there on: that is linear."""
        self._head = ""
        self._ticks = 0
        """How many runs of backticks are on it."""
        self._is_in_ticks = False
        """Whether it ends with one."""

    def why(self, at: int) -> str | None:  # noqa: PLR0911 (one reason after another)
        """Return why what begins at an index is quoted; `None` if it is not."""
        if self.region is not None:
            return self.region.why
        text, base = self._window.text, self._window.base
        if base + at == self.line_from:
            return None
        if self._string_end >= base and not text[self._string_end - base : at].strip(" \t,;"):
            return IN_STRING
        self.read_line(at)
        if self._ticks % 2:
            return IN_SPAN
        head = self._head
        if not head:
            return None
        if ">" in head and _BLOCKQUOTE(head):
            return IN_BLOCKQUOTE
        if text[at - 1 : at] in ("'", '"'):
            return IN_STRING
        result = _RESULT(head) if ":" in head else None
        return IN_RESULT if result and result[1] in self._declared else None

    def is_alone(self, at: int) -> bool:
        """Return whether nothing but white space or the marker of a list is before an index on its line."""
        self.read_line(at)
        return not self._head.strip(" \t\xa0-*+•.)0123456789[")

    def read_line(self, end: int) -> None:
        """Read the line up to an index, before its text leaves the window."""
        text, base = self._window.text, self._window.base
        if self.line_from > self._read_to:
            self._head, self._ticks, self._is_in_ticks, self._read_to = "", 0, False, self.line_from
        start = self._read_to - base
        if end <= start:
            return
        self._read_to = base + end
        after_break = text.rfind("\n", start, end) + 1
        if after_break:
            self._head, self._ticks, self._is_in_ticks = "", 0, False
        piece = text[after_break or start : end]
        if not piece:
            return
        if len(self._head) < _HEAD:
            self._head += piece[:_HEAD]
        if "`" in piece:
            self._ticks += len(_TICKS(piece)) - (self._is_in_ticks and piece[0] == "`")
        self._is_in_ticks = piece[-1] == "`"

    def begin(self, region: Region) -> None:
        """Begin a region."""
        self.region, self.fence_is_fresh = region, False

    def end(self, offset: int) -> None:
        """End the region at an offset."""
        self.region, self.line_from = None, offset

    def open_fence(self, ticks: str, *, is_fresh: bool = True) -> None:
        """Note that a fence opens."""
        self.fence, self.fence_is_fresh = ticks, is_fresh
        self.fence_from = self._window.base + self._window.pos if is_fresh else -1

    def close_fence(self) -> None:
        """Note that the fence closes, or is not a fence."""
        self.fence, self.fence_is_fresh = "", False

    def begin_fence_with_attempt(self) -> None:
        """Note that an attempt comes first in the fence: it is not quotation, and its first line is text."""
        self.fence_is_fresh, self.fence_from = False, -1

    def end_call(self, offset: int) -> None:
        """Note that a call ends at an offset: what is before it on its line quotes nothing after it."""
        self.line_from, self.fence_is_fresh = offset, False

    def end_string(self, offset: int) -> None:
        """Note that a candidate in quotes ends at an offset."""
        self._string_end = offset
