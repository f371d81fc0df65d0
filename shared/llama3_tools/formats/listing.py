"""Listings: code that is shown, up to the fence that closes it (rule 9)."""

from __future__ import annotations

import re

from llama3_tools.formats.base import IsText, Outcome
from llama3_tools.reading.source import Reading, Source

__all__ = ["read_listing"]

_LONGEST_BOUND = 64


def read_listing(source: Source, fence: str, column: int, *, nests: bool) -> Reading[Outcome]:
    """Read code up to and with its closing fence, or to the end of the output.

    The closing fence is at least as long as the opening one. It begins its line, indented by less than four more than
    the opening one and without a language, or it ends the last line of the code. Any other is code.

    Args:
        source: where to read, at the end of the line of the opening fence.
        fence: the opening fence.
        column: how far from the start of its line it stands.
        nests: whether a fence with a language opens one inside, as models write Markdown in Markdown.
    """
    run = f"{fence[0]}{{{len(fence)},16}}"
    line_start = rf"[\r\n](?:[ \t]{{0,{column + 3}}}|[ \t]{{0,8}}>[ \t>]{{0,8}}){run}"
    line_end = rf"(?<=[^\s{fence[0]}]){run}[ \t]{{0,8}}(?=[\r\n])"
    inner = rf"({line_start})(?=\w)|" if nests else ""
    bound = re.compile(rf"{inner}{line_start}(?=[^\w{fence[0]}])|{line_end}")
    levels = 1
    source.let_go()
    while True:
        match = bound.search(source.text, source.pos)
        if match:
            source.pos = match.end()
            levels += 1 if match.lastindex else -1
        elif source.ended:
            source.pos, levels = len(source.text), 0
        else:
            source.pos = max(source.pos, len(source.text) - _LONGEST_BOUND)
            yield source.base + len(source.text)  # text in any case
        if not levels:
            return IsText(source.offset)
