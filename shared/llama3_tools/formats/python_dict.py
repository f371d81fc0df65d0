"""A call written as a dict of Python's, `{'name': 'f', …`: no JSON, so no call, but an attempt at one (rule 6)."""

from __future__ import annotations

import re

from llama3_tools.calls.reader import CallReader
from llama3_tools.calls.repair import INSIDE
from llama3_tools.reading.source import Reading, Source
from llama3_tools.values import Rejection, RejectionReason, shortened

__all__ = ["read_python_dict"]

_SPACE = r"[ \t\n\r]{0,64}"
_NAME = re.compile(rf"\{{{_SPACE}'(?:name|function)'{_SPACE}:{_SPACE}'([^'\\\n]{{1,64}})'")
_MAY_BE_NAME = re.compile(
    rf"\{{{_SPACE}(?:'(?:(?:[nf]\w{{0,7}})?|(?:name|function)'{_SPACE}(?::{_SPACE}(?:'[^'\\\n]{{0,64}})?)?))?\Z"
)
_KEY = r"(?:name|function|tool_name|type|id|arguments|parameters|tool_calls?)"
_ANY_KEY = re.compile(rf"\{{{_SPACE}'({_KEY})'{_SPACE}:")
_MAY_BE_KEY = re.compile(rf"\{{{_SPACE}(?:'(?:\w{{0,10}}|{_KEY}'{_SPACE})?)?\Z")


def read_python_dict(source: Source, start: int, calls: CallReader) -> Reading[Rejection | None]:
    """Tell whether a call was meant by what begins at a brace; `None` for data, for code and for prose.

    Args:
        source: where to read. Afterwards it stands at the brace.
        start: the offset of the brace.
        calls: has the declared tools. In a tag or a fence, the name may be any; in a tag, it may stand further behind.
    """
    source.rewind(start)
    is_in_tag = start == source.in_call_tag
    while not source.ended and (
        _MAY_BE_NAME.match(source.text, source.pos) or (is_in_tag and _MAY_BE_KEY.match(source.text, source.pos))
    ):
        yield None
    written = _NAME.match(source.text, source.pos)
    name = written[1] if written else None
    if is_in_tag:
        written = written or _ANY_KEY.match(source.text, source.pos)
    elif not source.open_fences and start != source.behind_tag:
        is_part = source.before.endswith("`") or INSIDE.search(source.lead)
        written = None if is_part or name not in (calls.tools or ()) else written
    if written is None:
        return None
    key = written[0].split("'")[1]
    detail = f"{key!r} has to stand in double quotes, as in JSON: {shortened(written[0])}"
    return Rejection((start, start + len(written[0])), RejectionReason.MALFORMED, detail, name, is_in_tag=is_in_tag)
