"""Odd forms that name a declared tool, in text that was not read as calls: they are reported (principle 7)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from llama3_tools.limits import LONGEST_NAME
from llama3_tools.reader.markup import METHOD

REACH = LONGEST_NAME + 32
"""How much of the text before it may belong to what is found."""

_SIGN = re.compile(r"[({\[}=:<\"'0-9]").search
_NAME = rf"[^\W\d](?:[\w.:/-]{{0,{LONGEST_NAME - 2}}}\w)?"
# Each form has one end, whatever is cut: so a stream finds what one shot finds.
_LEFT = re.compile(
    r"(?:[<\[][|\w]{0,16}(?:tool|TOOL|func|call|python_tag)[|\w]{0,16}[>\]]|<invoke name=)"
    rf"[\s\"']{{0,4}}({_NAME})\s{{0,4}}[<\[:\"']"  # <tool_call>NAME</tool_call>, [TOOL_REQUEST]NAME[…
    rf"|(?<![\w.:/-])({_NAME})(?:"
    r"\(\s{0,4}(?:\w{1,64}\s{0,4}=|[\"'{\[\d])"  # NAME(key=…
    r"|\s{0,4}[{\[]\s?[\"'{]"  # NAME {"key": …
    r"|\s{0,4}[\"'`*:=,>\\][\"'`*:=,>\s\\]{0,8}[({\[]"  # ["NAME", {…}], NAME: {…}, **NAME**⏎{…}
    r"|[\"']\s{0,4}[}]"  # {'arguments': …, 'name': 'NAME'}
    r"|[,\s]\s{0,4}\w{1,64}="  # NAME key=…
    r"|(?:[\"'],\s{0,4}[\"']?|,\s{0,4}[\"'])\w{1,64}[\"']?\s{0,4}:)"  # {'name': 'NAME', 'key': …
)


class Leftover(NamedTuple):
    """The name of a declared tool before what could be its arguments."""

    name: str
    start: int
    end: int


def leftovers(text: str, begin: int, start: int, end: int, names: Collection[str]) -> Iterator[Leftover]:
    """Yield the odd forms that end between the indexes `start` and `end`, and do not begin before `begin`.

    >>> list(leftovers("['now', {", 0, 0, 9, {"now"}))
    [Leftover(name='now', start=2, end=5)]
    """
    if _SIGN(text, start, end) is None:
        return
    for match in _LEFT.finditer(text, max(start - REACH, begin), end):
        if match.end() <= start:
            continue
        name = match[1] or match[2]
        for one in (name, name.removesuffix(METHOD), name.rpartition(".")[2]):
            if one in names:
                begins = match.start(1) if match[1] else match.start(2)
                yield Leftover(one, begins, begins + len(name))
                break
