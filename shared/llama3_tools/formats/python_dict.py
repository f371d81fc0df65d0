"""A call written as a dict of Python's, `{'name': 'f', …`: no JSON, so no call, but an attempt at one (rule 6)."""

from __future__ import annotations

import re

from llama3_tools.calls import CallReader
from llama3_tools.repair import INSIDE
from llama3_tools.source import Reading, Source
from llama3_tools.values import Rejection, RejectionReason, shortened

__all__ = ["read_python_dict"]

_SPACE = r"[ \t\n\r]{0,64}"
_NAME = re.compile(rf"\{{{_SPACE}'(?:name|function)'{_SPACE}:{_SPACE}'([^'\\\n]{{1,64}})'")
_MAY_BE_NAME = re.compile(
    rf"\{{{_SPACE}(?:'(?:\w{{0,8}}|(?:name|function)'{_SPACE}(?::{_SPACE}(?:'[^'\\\n]{{0,64}})?)?))?\Z"
)
_TAG_BEFORE = re.compile(r"<(?:tool_call|TOOLCALL|tools?|TOOL|tool-use|function|function_?call)[>\s]\s*\Z")


def read_python_dict(source: Source, start: int, calls: CallReader) -> Reading[Rejection | None]:
    """Tell whether a call was meant by what begins at a brace; `None` for data, for code and for prose.

    Args:
        source: where to read. Afterwards it stands at the brace.
        start: the offset of the brace.
        calls: has the declared tools. In a tag or a fence, the name may be any.
    """
    source.rewind(start)
    while not source.ended and _MAY_BE_NAME.match(source.text, source.pos):
        yield None
    written = _NAME.match(source.text, source.pos)
    if written is None:
        return None
    is_wrapped = source.open_fences or _TAG_BEFORE.search(source.lead)
    is_part = source.before.endswith("`") or INSIDE.search(source.lead)
    if not is_wrapped and (written[1] not in (calls.tools or ()) or is_part):
        return None
    detail = f"'name' has to stand in double quotes, as in JSON: {shortened(written[0])}"
    return Rejection((start, start + len(written[0])), RejectionReason.MALFORMED, detail, written[1])
