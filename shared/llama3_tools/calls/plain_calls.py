"""What most outputs are: prose, and calls in the commonest shape. It is read in one go, without the machine."""

from __future__ import annotations

from llama3_tools.calls.reader import CallReader, Scope
from llama3_tools.calls.shapes import read_plain_call
from llama3_tools.formats import Reads
from llama3_tools.limits import Limits
from llama3_tools.reading.source import scannable
from llama3_tools.stream.content import Content
from llama3_tools.stream.quotation import may_be_quoted_behind

__all__ = ["take_plain_calls"]

_BARE = Scope("json")


def take_plain_calls(text: str, content: Content, calls: CallReader, reads: Reads, limits: Limits) -> tuple[int, bool]:
    """File the calls that a whole output begins with, and the prose in front of each, up to what takes a reader.

    It files what the machine would, and stops at whatever that would have to ponder.

    Returns:
        The index behind the last call, and whether nothing but prose is left there.
    """
    behind, bare = 0, reads.bare
    at = bare.find(text, 0)
    if at < 0 or not reads.plain_calls or (json_text := scannable(text)) is None:
        return behind, at < 0
    while at >= 0 and len(content.tool_calls) < limits.calls:
        before = text[behind:at]
        plain = None if may_be_quoted_behind(before) else read_plain_call(json_text, at)
        if plain is None:
            break
        written, end = plain
        if end - at > limits.candidate or not calls.takes_plainly(written.name):
            break
        content.text(before)
        content.call(calls.make(written, (at, end), _BARE))
        behind = end
        at = bare.find(text, behind)
    return behind, at < 0
