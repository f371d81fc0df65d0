"""The line on which a candidate stands, and what on it is quotation (rule 9)."""

from __future__ import annotations

import re
from collections.abc import Container

from llama3_tools.stream.rejections import IN_RESULT, IN_SPAN, IN_STRING

__all__ = ["Line", "is_marker"]

_HEAD = 256
_MANY = 64

# What may stand before a call that is a whole line: white space, and a list's marker.
_MARKER = re.compile(r"[ \t\xa0]*(?:(?:[-*+•]|\d{1,4}[.)])[ \t\xa0]+)*")
# Without it, a call in a message or a result that the model quotes would run.
_BLOCKQUOTE = re.compile(rf"{_MARKER.pattern}>")
_SPAN = re.compile(r"(?<!`)`{1,2}(?!`)")
_IN_STRING = re.compile(r"(?<![\w\"'])[\"']\Z")
# How `render_tool_result` shows a result to the model: strangers wrote it, and without this a call in one that the
# model repeats would run.
_RESULT = re.compile(r"(?:Result|Error) of ([\w.:/-]{1,128}):")


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

    __slots__ = ("_pieces", "off")

    def __init__(self, off: frozenset[str] = frozenset()) -> None:
        self._pieces: list[str] = []
        self.off = off
        """The rules that are switched off."""

    def add(self, piece: str) -> None:
        """Take text that follows."""
        pieces = self._pieces
        pieces.append(piece)
        if len(pieces) > _MANY:
            self._pieces = [_shortened(self.text)]

    @property
    def text(self) -> str:
        """The line so far; of a long one, what matters of it."""
        text = "".join(self._pieces)
        text = text[text.rfind("\n") + 1 :]
        self._pieces = [text]
        return text

    def quotation(self, tools: Container[str]) -> str | None:
        """Say what quotes a candidate that stands here, or `None` if nothing does.

        Args:
            tools: the names of declared tools, whose repeated results are quotation.
        """
        if not self._pieces or self._pieces[-1].endswith("\n"):
            return None
        text, off = self.text, self.off
        if text[-1:] in ('"', "'") and "string" not in off and _IN_STRING.search(text):
            return IN_STRING
        if ">" in text and "blockquote" not in off and _BLOCKQUOTE.match(text):
            return "after the > of a blockquote"
        if "`" in text and "span" not in off and _is_span_open(text):
            return IN_SPAN
        if " of " in text and "result" not in off:
            result = _RESULT.match(text)
            if result is not None and result[1] in tools:
                return IN_RESULT
        return None


def _is_span_open(text: str) -> bool:
    opened = ""
    for run in _SPAN.findall(text):
        if not opened:
            opened = run
        elif run == opened:
            opened = ""
    return bool(opened)


def _shortened(text: str) -> str:
    """Shorten a long line: keep its head, an open backtick and its end."""
    if len(text) <= 4 * _HEAD:
        return text
    middle = text[_HEAD:-_HEAD]
    opened = "`" if _is_span_open(text[:-_HEAD]) != _is_span_open(text[:_HEAD]) else ""
    return f"{text[:_HEAD]}{'' if '`' not in middle else opened}…{text[-_HEAD:]}"
