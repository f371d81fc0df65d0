"""The line on which a candidate stands, and what on it is quotation (principle 4)."""

from __future__ import annotations

import re
from collections.abc import Container

from llama3_tools.reader.markup import NAME

__all__ = ["IN_FENCE", "IN_RESULT", "IN_SPAN", "IN_STRING", "IN_THOUGHTS", "Line"]

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


class Line:
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
