"""Listings: code that is shown, up to the fence that closes it (rule 9)."""

from __future__ import annotations

import re

from llama3_tools.formats.base import IsText, Outcome
from llama3_tools.source import Reading, Source

__all__ = ["read_listing"]

_LONGEST_CLOSING = 64


def read_listing(source: Source, fence: str, column: int) -> Reading[Outcome]:
    """Read code up to and with its closing fence, or to the end of the output.

    The closing fence is at least as long as the opening one. It begins its line, indented by less than four more than
    the opening one and without a language, or it ends the last line of the code. Any other is code.

    Args:
        source: where to read, at the end of the line of the opening fence.
        fence: the opening fence.
        column: how far from the start of its line it stands.
    """
    run = f"{fence[0]}{{{len(fence)},16}}"
    begins_line = rf"[\r\n](?:[ \t]{{0,{column + 3}}}|[ \t]{{0,8}}>[ \t>]{{0,8}}){run}(?=[^\w{fence[0]}])"
    ends_line = rf"(?<=[^\s{fence[0]}]){run}[ \t]{{0,8}}(?=[\r\n])"
    closing = re.compile(f"{begins_line}|{ends_line}")
    while True:
        match = closing.search(source.text, source.pos)
        if match or source.ended:
            source.pos = match.end() if match else len(source.text)
            return IsText(source.offset)
        source.pos = max(source.pos, len(source.text) - _LONGEST_CLOSING)
        yield source.base + len(source.text)  # text in any case
