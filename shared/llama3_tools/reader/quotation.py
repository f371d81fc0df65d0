"""What is quoted: in regions, up to what closes them, and at places on a line (principle 4)."""

from __future__ import annotations

import re
from collections.abc import Container

from llama3_tools.reader.markup import NAME
from llama3_tools.reader.regions import Region, region_of_fence
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


class _Line:
    """The text since the last line break or call: of a long line its beginning, and how many code spans it opened.

    It is read only when a candidate asks, from where it was read before: so all work on it is linear.
    """

    __slots__ = ("_head", "_is_in_ticks", "_read", "_ticks")

    def __init__(self) -> None:
        self._begin(0)

    def _begin(self, offset: int) -> None:
        self._head = ""
        self._ticks = 0
        self._is_in_ticks = False
        self._read = offset

    def read(self, text: str, base: int, end: int, line_from: int) -> None:
        """Read up to an index of the window, which has an offset; the line begins anew at an offset."""
        if line_from > self._read:
            self._begin(line_from)
        start = self._read - base
        if end <= start:
            return
        self._read = base + end
        after_break = text.rfind("\n", start, end) + 1
        if after_break:
            self._head, self._ticks, self._is_in_ticks = "", 0, False
        piece = text[after_break or start : end]
        if len(self._head) < _HEAD:
            self._head += piece[:_HEAD]
        if "`" in piece:
            self._ticks += len(_TICKS(piece)) - (self._is_in_ticks and piece[0] == "`")
        if piece:
            self._is_in_ticks = piece[-1] == "`"

    def quotation(self, before: str, names: Container[str]) -> str | None:
        """Return why what follows is quoted; `None` if it is not.

        Args:
            before: the character before it.
            names: the declared tools, whose results may be repeated.
        """
        if self._ticks % 2:
            return IN_SPAN
        head = self._head
        if not head:
            return None
        if ">" in head and _BLOCKQUOTE(head):
            return IN_BLOCKQUOTE
        if before in ("'", '"'):
            return IN_STRING
        result = _RESULT(head) if ":" in head else None
        return IN_RESULT if result and (result[1] in names) else None

    @property
    def is_blank(self) -> bool:
        """Whether nothing but white space, brackets that open, or the marker of a list, stands on it."""
        return not self._head.strip(" \t\xa0-*+•.)0123456789[")


class Quotation:
    """Says why a place is quoted; knows the region and the fence that are open.

    >>> Quotation(Window("> {}"), {}).why(2), Quotation(Window("a {}"), {}).why(2)
    ('after the > of a blockquote', None)
    """

    __slots__ = (
        "_declared",
        "_line",
        "_string_end",
        "_window",
        "fence",
        "fence_from",
        "fence_is_fresh",
        "line_from",
        "region",
    )

    def __init__(self, window: Window, declared: Container[str]) -> None:
        self._window = window
        self._declared = declared
        self.region: Region | None = None
        """The region that is open."""
        self.fence = ""
        """The backticks of the fence that is open, and is no region (yet)."""
        self.fence_is_fresh = False
        """Whether nothing but markup came since it was opened: what comes first says whether it is quotation."""
        self.fence_from = -1
        """The offset at which it opened, if that is markup: if a call came since, its end is markup, too."""
        self.line_from = 0
        """The offset after the last call or region: there the line begins anew."""
        self._line = _Line()
        self._string_end = -1
        """The offset after the last candidate in quotes: one after its comma stands in them, too."""

    def why(self, at: int) -> str | None:
        """Return why what begins at an index is quoted; `None` if it is not."""
        if self.region is not None:
            return self.region.why
        text, base = self._window.text, self._window.base
        if base + at == self.line_from:
            return None
        if self._string_end >= base and not text[self._string_end - base : at].strip(" \t,;"):
            return IN_STRING
        self.read_line(at)
        return self._line.quotation(text[at - 1 : at], self._declared)

    def is_alone(self, at: int) -> bool:
        """Return whether nothing but white space or the marker of a list stands before an index on its line."""
        self.read_line(at)
        return self._line.is_blank

    def read_line(self, end: int) -> None:
        """Read the line up to an index, before its text leaves the window."""
        self._line.read(self._window.text, self._window.base, end, self.line_from)

    def begin(self, region: Region) -> None:
        """Begin a region."""
        self.region, self.fence_is_fresh = region, False

    def end(self, offset: int) -> None:
        """End the region at an offset."""
        self.region, self.line_from = None, offset

    def begin_line(self, offset: int) -> None:
        """Let the line begin anew at an offset: what is before it there quotes nothing after it."""
        self.line_from = offset

    def begin_in_fence(self) -> None:
        """Begin the region of the fence that is open: neither a call nor an attempt comes first in it."""
        self.begin(region_of_fence(self.fence, IN_FENCE))
        self.fence = ""

    def open_fence(self, ticks: str, *, is_fresh: bool = True) -> None:
        """Note that a fence opens."""
        self.fence, self.fence_is_fresh = ticks, is_fresh
        self.fence_from = self._window.base + self._window.pos if is_fresh else -1

    def close_fence(self) -> None:
        """Note that the fence closes, or is none."""
        self.fence, self.fence_is_fresh = "", False

    def begin_fence_with_attempt(self) -> None:
        """Note that an attempt comes first in the fence: it is no quotation, and its beginning is text."""
        self.fence_is_fresh, self.fence_from = False, -1

    def end_call(self, offset: int) -> None:
        """Note that a call ends at an offset."""
        self.line_from, self.fence_is_fresh = offset, False

    def end_string(self, offset: int) -> None:
        """Note that a candidate in quotes ends at an offset."""
        self._string_end = offset
