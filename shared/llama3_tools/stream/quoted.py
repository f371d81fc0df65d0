"""The calls in quotation: found, so that they can be reported, and never called (rule 9)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llama3_tools.calls.attempts import attempted_name
from llama3_tools.calls.reader import CallReader
from llama3_tools.formats.base import NAME
from llama3_tools.formats.code_interpreter import CODE_INTERPRETER
from llama3_tools.formats.json_calls import CALL_KEYS
from llama3_tools.formats.protocol_tokens import PYTHON_TAG
from llama3_tools.formats.pythonic import METHOD, PYTHONIC_NAME
from llama3_tools.literals.json_object import parse_object

__all__ = ["find_quoted"]

_S = r"[ \t\n\r]{0,64}"
_CANDIDATE = re.compile(
    rf"(?P<json>\{{{_S}[\"']{CALL_KEYS}[\"']{_S}:)|<function(?:=|\.|\(| name=[\"']?)(?P<tag>{NAME})"
    rf"|(?:^[ \t>]{{0,8}}(?:(?:[-*+•]|\d{{1,4}}[.)])[ \t]{{1,4}})?[`*]{{0,2}}|(?<=\[)|(?<=\|>))\[?"
    rf"(?P<name>{PYTHONIC_NAME})[ \t]{{0,4}}(?:\(|\r?\n{_S}(?=\{{))"
    rf"|(?P<code>{re.escape(PYTHON_TAG)})(?!{_S}[\[{{<])",
    re.MULTILINE,
)
_FAR = 256
_FAILURES = 16


def find_quoted(text: str, reader: CallReader) -> Iterator[tuple[int, int, str | None]]:
    """Yield where candidates stand in quotation, and the tool that each names.

    It looks for no more than objects whose first key is a call's, declared names in a tag or where a call may be, and
    what follows <|python_tag|>.

    >>> list(find_quoted('Like {"name": "f", "parameters": {}}.', CallReader()))
    [(5, 36, 'f')]
    """
    pos = failures = 0
    tools = reader.tools or {}
    while (match := _CANDIDATE.search(text, pos)) is not None:
        start, pos = match.start("json"), match.end()
        if start < 0:
            if match["code"]:
                other = _CANDIDATE.match(text, pos)
                if CODE_INTERPRETER in tools and (other is None or other["name"] not in tools):
                    yield match.start(), pos, CODE_INTERPRETER
                continue
            name = match["tag"] or match["name"]
            tool = name if name in tools else name.removesuffix(METHOD)
            if tool in tools:
                yield (match.start() if match["tag"] else match.start("name")), match.end(match.lastgroup or 0), tool
            continue
        parsed = None
        if failures < _FAILURES:
            parsed = parse_object(text, start)
            failures += parsed is None
        pos = parsed.end if parsed else pos
        name_found = attempted_name(text[start : pos if parsed else start + _FAR])
        if name_found is not None or "arguments" in match["json"] or "parameters" in match["json"]:
            yield start, pos, name_found
