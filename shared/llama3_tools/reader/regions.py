"""The regions of quotation (principle 4): what closes each."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from llama3_tools.reader.grammar import Match
from llama3_tools.reader.markup import HEADER, HEADER_END, IM_START, OBJECT_BEGINS, beginnings


class Region(NamedTuple):
    """A region of quotation."""

    why: str
    search: tuple[Match, Match]
    """Searches for what closes it, and for objects, in text that may go on, and in text that has ended."""
    is_split: bool = False
    """Whether it is reasoning that is split off."""


@lru_cache(maxsize=64)
def _region(why: str, close: str, begins: str) -> Region:
    """Return a region that ends with a pattern; `begins` matches the beginnings of that."""
    found = rf"(?P<close>{close})|\{{(?=[{OBJECT_BEGINS}])(?P<object>)"
    more = rf"(?:{begins}|\{{)\Z(?P<more>)"
    return Region(why, (re.compile(f"{more}|{found}", re.MULTILINE).search, re.compile(found, re.MULTILINE).search))


def region_of_tag(tag: str, why: str) -> Region:
    """Return the region up to a closing tag."""
    closing = f"</{tag}>"
    return _region(why, re.escape(closing), beginnings(closing))


def region_of_fence(ticks: str, why: str) -> Region:
    """Return the region up to the line that closes a fence."""
    mark = rf"{re.escape(ticks)}{re.escape(ticks[0])}{{0,16}}[ \t]{{0,8}}"
    return _region(why, rf"^[ \t]{{0,8}}{mark}$", r"^[ \t]{0,8}[`~]{0,32}[ \t]{0,8}")


OTHER_TURN = _region(
    "in a turn of another role",
    rf"{HEADER}\s{{0,8}}assistant\s{{0,8}}{HEADER_END}|{IM_START}assistant(?![A-Za-z])",
    r"<(?:\|[a-z_]{0,16}(?:\|(?:>\s{0,8}[a-z]{0,9}\s{0,8}(?:<(?:\|[a-z_]{0,14}\|?)?)?)?)?)?",
)
"""The turn of another role, from its header to the assistant's next one."""
_NAMED = "in a tag that names its tool"
IN_TAG = region_of_tag("function", _NAMED)
"""The inside of a `<function=NAME>` without an object."""
IN_TAG_OF_LINE = _region(_NAMED, r"</function>|(?=\n)", beginnings("</function>"))
"""The same within a sentence, which may only mention the tag: it ends with the line."""
