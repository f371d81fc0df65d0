"""What stands around a call and makes it a quotation: a code span, or the mark of a blockquote (rule 9)."""

from __future__ import annotations

import re
from collections.abc import Generator

from llama3_tools.source import Source

__all__ = ["quoted_by"]

# White space may stand behind backticks that open a span. Behind a word, they close the one before.
_SPAN_OPENS = re.compile(r"(?:(?<!`)(`{1,2})|(?<![^\s(\[{\"'*_>:-])(`{1,2})(?:[ \n]|\r\n))\Z")
_SPAN_CLOSES = {n: re.compile(rf"`{{{n}}}(?!`)|(?:[ \n]|\r\n)`{{{n}}}(?![\w`])") for n in (1, 2)}
_SPAN_MAY_CLOSE = {n: re.compile(rf"(?:[ \n]|\r\n?)?`{{0,{n}}}\Z") for n in (1, 2)}
_BLOCKQUOTE = re.compile(r"(?:\A|[\r\n])[ \t]{0,3}>[> \t]{0,8}\Z")


def quoted_by(source: Source, before: str) -> Generator[None, None, str | None]:
    """Tell what quotes the call behind which the source stands; `None` where nothing does.

    Args:
        source: where to read on. It is not moved.
        before: the last few characters before the call.
    """
    if _BLOCKQUOTE.search(before):
        return "directly behind the > of a blockquote"
    opening = _SPAN_OPENS.search(before)
    if opening is None:
        return None
    backticks = len(opening[1] or opening[2])
    while not source.ended and _SPAN_MAY_CLOSE[backticks].match(source.text, source.pos):
        yield
    return "directly between backticks" if _SPAN_CLOSES[backticks].match(source.text, source.pos) else None
