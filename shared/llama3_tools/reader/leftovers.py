"""Odd forms that name a declared tool, in leftover text: they are reported, as nothing is silent (principle 7)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from llama3_tools.limits import LONGEST_NAME
from llama3_tools.reader.markup import METHOD

REACH = LONGEST_NAME + 128
"""How much of the text before it may belong to what is found."""

_SIGN = re.compile(r"[({\[})\]=:<\"'“0-9]").search
_NAME = rf"[^\W\d](?:[\w.:/-]{{0,{LONGEST_NAME - 2}}}\w)?"
_QUOTE = r"[\"'“”‘’]"  # noqa: RUF001
# Each form has one end, whatever is cut: so a stream finds what one shot finds.
# The name alone is matched, so that each name is tried, whatever is before it.
_LEFT = re.compile(
    r"(?:[<\[][|\w]{0,16}(?:tool|TOOL|func|call|python_tag)[|\w]{0,16}[>\]]|<invoke name=)"
    rf"[\s\"']{{0,4}}({_NAME})(?=\s{{0,4}}[<\[:\"']())"  # <tool_call>NAME</tool_call>, [TOOL_REQUEST]NAME[…
    rf"|(?<![\w.:/-])({_NAME})(?=(?:"
    r"\(\s{0,4}(?:\w{1,64}\s{0,4}=|[\"'{\[\d)])"  # NAME(key=…, NAME()
    r"|\s{0,4}[{\[]\s?[\"'{“]"  # NAME {"key": …
    r"|\{\s{0,4}\w{1,64}\s{0,4}[:=]"  # NAME{key: …
    r"|\[[^\[\]\n\"'{]{1,64}\]"  # NAME[value]
    r"|\s{0,4}[\"'`*:=,>\\][\"'`*:=,>\s\\]{0,8}[({\[]"  # ["NAME", {…}], NAME: {…}, **NAME**⏎{…}
    r"|[\"']\s{0,4}[}]"  # {'arguments': …, 'name': 'NAME'}
    r"|[,\s]\s{0,4}\w{1,64}="  # NAME key=…
    r"|(?:[\"'],\s{0,4}[\"']?|,\s{0,4}[\"'])\w{1,64}[\"']?\s{0,4}:)())"  # {'name': 'NAME', 'key': …
)
_WORDS = r"[^\n{}.!?]{0,48}"
_LABELLED = re.compile(  # Action: NAME⏎Action Input: {"key": …, NAME with arguments: {"key": …
    rf"(?<![\w.:/-])({_NAME})(?![\w.:/-]*\w)"
    rf"(?={_WORDS}(?:\r?\n{_WORDS}){{0,2}}\{{\s{{0,4}}{_QUOTE}?(\w{{1,64}}){_QUOTE}?\s{{0,4}}[:=]())"
)
_LAST_PART = re.compile(r"[^.:/]*\Z").search


class Leftover(NamedTuple):
    """The name of a declared tool, with what could be its arguments after it."""

    name: str
    start: int
    end: int
    key: str = ""
    """The first key of the object, if words are between it and the name: it has to be a parameter of the tool."""


def leftovers(text: str, begin: int, start: int, end: int, names: Collection[str]) -> Iterator[Leftover]:
    """Yield the odd forms that end between the indexes `start` and `end`, and do not begin before `begin`.

    >>> list(leftovers("['now', {", 0, 0, 9, {"now"}))
    [Leftover(name='now', start=2, end=5, key='')]
    """
    if _SIGN(text, start, end) is None:
        return
    for match in _LEFT.finditer(text, max(start - REACH, begin), end):
        group = 1 if match[1] else 3
        if match.end(group + 1) > start and (one := _known(match[group], names)):
            yield Leftover(one, *match.span(group))
    brace = text.find("{", start, end)
    if brace < 0 and text.find("{", max(start - 80, begin), start) < 0:
        return
    for match in _LABELLED.finditer(text, max(start - REACH, begin), end):
        if match.end(3) > start and (one := _known(match[1], names)):
            yield Leftover(one, match.start(1), match.end(1), match[2])


def _known(name: str, names: Collection[str]) -> str:
    """Return the declared name that is written, perhaps with a prefix or `.call`."""
    for one in (name, name.removesuffix(METHOD), _LAST_PART(name)[0]):  # type: ignore[index]  # a name has a last part
        if one in names:
            return one
    return ""
