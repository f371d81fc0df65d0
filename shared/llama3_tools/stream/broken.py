"""What broke before, and may hide what follows: a part of it is no call (rule 6)."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["NOTHING_BROKE", "Broken", "BrokenBrackets", "TextTag", "depth_after"]

_BRACKETS = re.compile(r"[()\[\]{}]").findall


class Broken(NamedTuple):
    """What broke since the last call. A call that is made ends what broke before it."""

    values_are_data: bool = False
    """Whether a candidate broke: what stands at a member's value may be a part of it."""
    lines_are_data: bool = False
    """Whether JSON with a key, or a tag that names a tool, broke: a line that looks like a pythonic call may stand in
    one of its strings."""

    def and_candidate(self) -> Broken:
        """Return it with a candidate, of which no more is known: it may be a brace in prose."""
        return _JSON_BROKE if self.lines_are_data else _CANDIDATE_BROKE

    def and_json(self) -> Broken:
        """Return it with JSON, or a dict of Python."""
        return _JSON_BROKE

    def and_tag(self) -> Broken:
        """Return it with a tag that names a tool."""
        return _JSON_BROKE if self.values_are_data else _TAG_BROKE


NOTHING_BROKE = Broken()
_CANDIDATE_BROKE = Broken(values_are_data=True)
_TAG_BROKE = Broken(lines_are_data=True)
_JSON_BROKE = Broken(values_are_data=True, lines_are_data=True)


class TextTag(NamedTuple):
    """A tag that failed, and is text; it names a declared tool. It is kept until it closes, or a call is made."""

    start: int
    name: str
    hides_objects: bool = True
    """Whether its line goes on, on which no object is called."""


class BrokenBrackets:
    r"""The brackets of a pythonic call or list that broke, up to the first line break at which none of them is open.

    >>> brackets = BrokenBrackets(is_list=False)
    >>> brackets.end_in("f(a=[1, "), brackets.depth, brackets.hide_objects
    (False, 2, True)
    >>> brackets.end_in("\n"), brackets.hide_objects
    (False, False)
    >>> brackets.end_in("])\n")
    True
    """

    __slots__ = ("_hide_line", "_in_string", "depth", "is_list")

    def __init__(self, depth: int = 0, *, is_list: bool, in_string: bool = False) -> None:
        """Begin with what broke, whose text follows.

        Args:
            depth: how many brackets are open before it.
            is_list: whether it is a list, rather than a call that begins its line.
            in_string: whether it broke in a string, at a line break.
        """
        self.depth = depth
        """How many are open."""
        self.is_list = is_list
        """Whether the next element on this line may be a call."""
        self._in_string = in_string
        self._hide_line = True

    @property
    def hide_objects(self) -> bool:
        """Whether an object that stands here is a part of what broke: on its line, or in its string."""
        return self.depth > 0 and self._hide_line

    def end_in(self, text: str) -> bool:
        """Count the brackets in the text that follows, and return whether it ends them."""
        *lines, rest = text.split("\n")
        for line in lines:
            self.depth = depth_after(line, self.depth)
            if not self.depth:
                return True
            self.is_list, self._hide_line = False, self._in_string
        self.depth = depth_after(rest, self.depth)
        return False


def depth_after(text: str, depth: int) -> int:
    """Return how many brackets are open after a text, if so many are open before it; never below none.

    >>> depth_after("f(a=[1, {", 0), depth_after("}])))", 2)
    (3, 0)
    """
    for bracket in _BRACKETS(text):
        depth = depth + 1 if bracket in "([{" else max(depth - 1, 0)
    return depth
