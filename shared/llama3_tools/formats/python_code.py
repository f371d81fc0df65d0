"""What stands around pythonic calls: code of which they are a part (rule 11), or nothing else on their line."""

from __future__ import annotations

import re

from llama3_tools.formats.base import Candidate
from llama3_tools.reading.python_literals import read_run
from llama3_tools.reading.source import Reading, Source

__all__ = ["begins_line", "ends_line", "goes_on_as_code", "is_code_before"]

_CODE_BEFORE = re.compile(
    r"[\w)\[\]\"'`]\Z|[=(\u201c\u2018\u201e\u00ab]\s*\Z|(?:\b(?:return|yield)|[\r\n][ \t]*assert)\s\Z"
    r"|[\w)\]\"'][ \t]+(?:[+*/%|&@]\s*|< )\Z|\blambda\b[ \w,]*:\s*\Z|\w\(\*{1,2}\Z"
    r"| = [\w.]{1,12} (?:and|or)\s\Z"
)
"""What stands before brackets that are code or quoted: an index, an assignment, an operand, an argument."""
_GOES_ON_BEFORE = re.compile(r"[=(,+*/%]\s*\\\n\Z")
"""What lets a line of code go on in the next."""
_WORD_BEFORE = re.compile(r"\b(?:in|if|elif|while|and|or|not)\s\Z")
"""A word of prose or of code: what stands behind the brackets tells."""
_ITEM_BEFORE = {
    ")": re.compile(r"\w\([^()\n\r]*,\s*\Z"),
    "]": re.compile(r",\s*\Z"),
    "}": re.compile(r"[\"']\s*:\s*\Z"),
}
"""What stands before an argument, an element or a value, by the bracket that closes behind it."""

_BEHIND = r"[(:]|\.\w|\[(?:[\d:\"'-]|\w[\w .-]{0,31}\])"
_MAY_BE_BEHIND = r"\.|\[(?:\w[\w .-]{0,31})?"
_CODE_BEHIND = re.compile(_BEHIND)
"""What stands behind such brackets: a call, a method, an index, or a link."""
_MAY_BE_CODE = re.compile(rf"(?:{_MAY_BE_BEHIND})?\Z")
_CODE_BEHIND_WORD = re.compile(rf"{_BEHIND}|[ \t]{{0,8}}(?::|else\b)")
_MAY_BE_CODE_BEHIND_WORD = re.compile(rf"(?:{_MAY_BE_BEHIND}|[ \t]{{1,8}}(?:e(?:l(?:se?)?)?)?)?\Z")

_TOKEN_BEFORE = re.compile(r"(?:(?:_(?:tag|id|text|start|end)|eot|eom)\|>|start\|>(?:assistant)?)\s*\Z")
_BLANKS = re.compile(r"[ \t]*")
_LINE_END = {False: re.compile(r"[\n\r]|<\|"), True: re.compile(r"[\n\r]|<[|/]|```")}
"""What ends a line behind a call, bare or in a wrapper."""
_MAY_BE_LINE_END = re.compile(r"(?:<|`{1,2})?\Z")


def begins_line(source: Source, candidate: Candidate, start: int) -> bool:
    """Tell whether a line begins here, or what counts as one: inside a wrapper, behind a call, a tag or a token."""
    if candidate.scope.wrappers or candidate.is_after_call or start == source.behind_tag:
        return True
    if source.before.endswith(("\n", "\r")):
        return True
    return not source.lead.strip() or _TOKEN_BEFORE.search(source.lead) is not None


def is_code_before(source: Source, *, begins_line: bool) -> bool:
    """Tell whether what stands before brackets makes them a part of code."""
    return (_GOES_ON_BEFORE if begins_line else _CODE_BEFORE).search(source.lead) is not None


def goes_on_as_code(source: Source) -> Reading[bool]:
    """Tell whether code goes on behind the brackets, or a link."""
    is_behind_word = _WORD_BEFORE.search(source.lead) is not None
    code = _CODE_BEHIND_WORD if is_behind_word else _CODE_BEHIND
    may_be_code = _MAY_BE_CODE_BEHIND_WORD if is_behind_word else _MAY_BE_CODE
    while not source.finished:
        if code.match(source.text, source.pos):
            return True
        if source.ended or not may_be_code.match(source.text, source.pos):
            item = _ITEM_BEFORE.get(source.text[source.pos : source.pos + 1])
            return item is not None and item.search(source.lead) is not None
        yield None
    return False


def ends_line(source: Source, *, before_tag: bool) -> Reading[bool]:
    """Step over blanks, and tell whether the line ends behind them, or what could follow a call begins."""
    yield from read_run(source, _BLANKS)
    line_end = _LINE_END[before_tag]
    while not source.finished:
        if line_end.match(source.text, source.pos):
            return True
        if source.ended or not _MAY_BE_LINE_END.match(source.text, source.pos):
            return False
        yield None
    return True
