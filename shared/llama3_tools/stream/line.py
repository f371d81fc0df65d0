"""The line on which a candidate stands, and what on it is quotation (rule 9)."""

from __future__ import annotations

import re
from collections.abc import Container

from llama3_tools.formats.quotations import RESULT_LINE
from llama3_tools.stream.rejections import IN_RESULT, IN_SPAN, IN_STRING

__all__ = ["Line", "is_marker"]

_HEAD = 256
"""How much of the beginning and of the end of a long line is kept: more than anything that is looked for there."""
_MANY = 64
"""How many pieces are kept apart at most: one holds as little as a character."""
_LONGEST_SPAN = 2
"""How many backticks open a code span at most."""

# What may stand before a call that is a whole line: white space, and a list's marker.
_MARKER = re.compile(r"[ \t\xa0]*(?:(?:[-*+•]|\d{1,4}[.)])[ \t\xa0]+)*")
# Without it, a call in a message or a result that the model quotes would run.
_BLOCKQUOTE = re.compile(rf"{_MARKER.pattern}>")
_TICKS = re.compile(r"`+").findall
_IN_STRING = re.compile(r"(?<![\w\"'])[\"']\Z")


def is_marker(text: str) -> bool:
    """Return whether text is nothing but what may stand before a call that is a whole line.

    >>> is_marker(""), is_marker("  1. "), is_marker("So ")
    (True, True, False)
    """
    return _MARKER.fullmatch(text) is not None


class Line:
    r"""The text since the last line break. It is put together only when a candidate asks.

    >>> line = Line()
    >>> line.add("He wrote:\n> well, "); line.add("look: ")
    >>> line.quotation(())
    'after the > of a blockquote'
    """

    __slots__ = ("_opened", "_pieces", "_text", "_ticks", "off")

    def __init__(self, off: frozenset[str] = frozenset()) -> None:
        self._pieces: list[str] = []
        """What was added since the line was put together last."""
        self._text = ""
        self._opened = ""
        """The backticks of the code span that is open before the run of backticks at the end."""
        self._ticks = 0
        """How many backticks that run has; of more than open a span, no more are counted than that."""
        self.off = off
        """The rules that are switched off."""

    def add(self, piece: str) -> None:
        """Take text that follows."""
        if piece[-1:] == "\n":  # another line begins, whatever stood on this one
            self._pieces, self._text, self._opened, self._ticks = [], "", "", 0
            return
        pieces = self._pieces
        pieces.append(piece)
        if len(pieces) > _MANY:
            self._put_together()

    @property
    def text(self) -> str:
        """The line so far; of a long one, its beginning and its end."""
        if self._pieces:
            self._put_together()
        text = self._text
        return text if len(text) <= 2 * _HEAD else f"{text[:_HEAD]}{text[-_HEAD:]}"

    def _put_together(self) -> None:
        """Add the pieces to the text, and find out in what is new whether a code span is open."""
        new = "".join(self._pieces)
        self._pieces = []
        line_break = new.rfind("\n")
        if line_break >= 0:
            new = new[line_break + 1 :]
            self._text, self._opened, self._ticks = "", "", 0
        if self._ticks or "`" in new:
            self._find_spans("`" * self._ticks + new)
        text = self._text + new
        self._text = text if len(text) <= 8 * _HEAD else f"{text[:_HEAD]}{text[-_HEAD:]}"

    def _find_spans(self, text: str) -> None:
        ended = text.rstrip("`")
        self._ticks = min(len(text) - len(ended), _LONGEST_SPAN + 1)
        for run in _TICKS(ended):
            self._opened = _opened_after(self._opened, run)

    @property
    def _is_span_open(self) -> bool:
        return bool(_opened_after(self._opened, "`" * self._ticks))

    def quotation(self, tools: Container[str]) -> str | None:
        """Say what quotes a candidate that stands here, or `None` if nothing does.

        Args:
            tools: the names of declared tools, whose repeated results are quotation.
        """
        text, off = self.text, self.off
        if not text:
            return None
        if text[-1:] in ('"', "'") and "string" not in off and _IN_STRING.search(text):
            return IN_STRING
        if ">" in text and "blockquote" not in off and _BLOCKQUOTE.match(text):
            return "after the > of a blockquote"
        if (self._opened or self._ticks) and "span" not in off and self._is_span_open:
            return IN_SPAN
        if " of " in text and "result" not in off:
            result = RESULT_LINE.match(text)
            if result is not None and result[1] in tools:
                return IN_RESULT
        return None


def _opened_after(opened: str, run: str) -> str:
    """Return the backticks of the code span that is open after a run of them; three and more are a fence's."""
    if not opened:
        return run if len(run) <= _LONGEST_SPAN else ""
    return "" if run == opened else opened
