"""What may stand directly before a call and goes with it: a line with its name, `functools`, marks around a line."""

from __future__ import annotations

import re

from llama3_tools.formats.base import LOOK_BEHIND, WORD_NAME, beginnings

__all__ = ["FUNCTIONARY", "LINE_MARKS", "functools_start", "header_before", "mark_start", "prefix_start"]

FUNCTIONARY = "functionary"
"""The format of the arguments after a line with nothing but the name of their tool, and the name of that rule."""
_ARROWS = ">>>"
"""What may stand before that name, anywhere on a line."""
_HEADER = re.compile(rf"(?:(?<=\n)|{_ARROWS})({WORD_NAME})[ \t]{{0,4}}\r?\n[ \t\r\n]{{0,8}}\Z").match
_BLANKS = " \t\r\n"

LINE_MARKS = {"`": (1, 2), "*": (2,)}
"""What may stand around calls that fill a line, and how many of it: a code span, and bold."""

_FUNCTOOLS = "functools"
_IS_FUNCTOOLS = re.compile(rf"(?<!\w){_FUNCTOOLS}").match
_PREFIX = re.compile(
    rf"[`*]{{1,2}}\Z|{_ARROWS[0]}{{1,{len(_ARROWS)}}}\Z|(?<!\w)(?:{beginnings(f'{_FUNCTOOLS}[')})\Z"
).search
_PREFIX_ENDS = f"{''.join(LINE_MARKS)}{_ARROWS[0]}{_FUNCTOOLS}"
_LONGEST_PREFIX = len(_FUNCTOOLS)


def header_before(text: str, at: int) -> re.Match[str] | None:
    r"""Find a line with nothing but a name, or with `>>>` before it, that ends directly before an index.

    >>> header_before("I look.>>>search\n{", 17)[1]
    'search'
    """
    if text[at - 1] not in _BLANKS:
        return None
    first = max(at - LOOK_BEHIND, 0)
    name = text[first:at].rstrip()
    if "\n" not in text[first + len(name) : at]:
        return None
    return _HEADER(text, first + max(name.rfind("\n") + 1, name.rfind(_ARROWS)), at)


def functools_start(text: str, at: int, first: int) -> int:
    """Return where `functools` begins that ends at an index, not before another; that index, if there is none.

    >>> functools_start("So functools[", 12, 0), functools_start("myfunctools[", 11, 0)
    (3, 11)
    """
    start = at - len(_FUNCTOOLS)
    return start if start >= first and _IS_FUNCTOOLS(text, start) else at


def mark_start(text: str, at: int) -> int:
    r"""Return where `>>>`, backticks or asterisks begin that end where a name begins; that index, if there are none.

    >>> mark_start("\n``f", 3), mark_start("*f", 1), mark_start("!>>>f", 4)
    (1, 1, 1)
    """
    if text.startswith(_ARROWS, at - len(_ARROWS)):
        return at - len(_ARROWS)
    before = text[at - 2 : at]
    if before in ("``", "**"):
        return at - 2
    return at - 1 if before.endswith("`") else at


def prefix_start(text: str, at: int, first: int) -> int:
    """Return where what may be such a prefix begins that ends at an index, not before another; or that index.

    >>> prefix_start("Well: func", 10, 0), prefix_start("Well: **", 8, 0), prefix_start("Well", 4, 0)
    (6, 6, 4)
    """
    if text[at - 1] not in _PREFIX_ENDS:
        return at
    found = _PREFIX(text, max(at - _LONGEST_PREFIX, first), at)
    return found.start() if found else at
