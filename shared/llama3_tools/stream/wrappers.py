"""What is held back while wrappers are open: a stack of what closes them, and one queue of what they hold (rule 9).

When the outermost wrapper closes, the calls in the queue are made and the rest of it vanishes. If anything but a call
comes first, the wrappers are text, and what they hold is read as if it stood bare.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from llama3_tools.calls.reader import Found, Placed
from llama3_tools.calls.shapes import WrittenCall
from llama3_tools.formats.base import WireFormat

__all__ = [
    "BOLD",
    "CODE",
    "CUT_OFF",
    "FENCE",
    "FENCE_ENDS",
    "HOLDS_OTHER",
    "LINE",
    "LIST",
    "NAMED",
    "PART_OF_CODE",
    "SPAN",
    "TAG",
    "Failure",
    "Held",
    "Queue",
    "Wrapper",
    "WrapperKind",
    "count_of",
    "first_name",
    "format_in",
    "names_of",
    "text_of",
    "written_in",
]


class WrapperKind(Enum):
    """What kind of wrapper it is: they fail in different ways."""

    LIST = "brackets: a bad element makes them text, and hides no call beside it"
    TAG = "a tag: the end of the turn closes it, too"
    NAMED = "a tag or a line that names the tool: it holds the arguments"
    FENCE = "a code fence: if code stands in it, it is quotation"
    SPAN = "a code span that is a whole line: if it is none, it is quotation"
    BOLD = "bold that is a whole line"
    LINE = "pythonic calls that are a whole line: if they are none, they are prose"
    CODE = "what follows <|python_tag|>: if it is no call, it is code"


# As names of their own, as `stream/states.py` says.
LIST, TAG, NAMED, FENCE, SPAN, BOLD, LINE, CODE = WrapperKind


class Failure(Enum):
    """Why wrappers turn out to be text."""

    HOLDS_OTHER = "something stands in them that they cannot hold"
    PART_OF_CODE = "a list is a part of code"
    CUT_OFF = "a limit ended the output in them"
    FENCE_ENDS = "the fence that is open ends after something else than calls"


HOLDS_OTHER, PART_OF_CODE, CUT_OFF, FENCE_ENDS = Failure


@dataclass(slots=True)
class Wrapper:
    """A wrapper that is open."""

    kind: WrapperKind
    start: int
    """The offset of its opening."""
    opening: str
    closing: str
    format: str | None
    """The format of the calls in it, if it is the outermost that has one."""
    first: int
    """The index in the queue of what it holds."""
    name: str | None = None
    """The tool that it names."""
    deviation: str | None = None
    """How it is misspelled."""
    is_for_calls: bool = False
    """Whether its only use is calls, so that what fails in it is an attempt."""
    tag: WireFormat | None = None
    """What tag it is, if it is one."""
    has_call: bool = False
    """Whether it holds a call."""


@dataclass(slots=True)
class Held:
    """Calls that wait for the wrappers around them."""

    found: Found
    start: int
    end: int
    format: str
    text: str
    """As the model wrote them, with the tag around them once that is closed and names the tool."""
    repaired_from: str | None = None
    is_closed: bool = False
    """Whether a wrapper around it has closed: it is a call, whatever becomes of those further out."""
    is_delimited: bool = False
    """Whether a delimiter follows, or another element, if the wrapper fails."""


Queue: TypeAlias = "list[str | Held]"
"""What the wrappers hold back, in order and without gaps: their own text, what stands between calls, and calls."""


def text_of(queue: Queue) -> str:
    """Return a queue as the model wrote it."""
    return "".join(part if isinstance(part, str) else part.text for part in queue)


def written_in(found: Found) -> list[WrittenCall]:
    """Return the calls."""
    return [found] if isinstance(found, WrittenCall) else [part.written for part in found if isinstance(part, Placed)]


def names_of(found: Found) -> list[str]:
    """Return the names of the tools that are called."""
    return [written.name for written in written_in(found)]


def count_of(found: Found) -> int:
    """Return how many calls it is."""
    return 1 if type(found) is WrittenCall else len(names_of(found))


def first_name(found: Found) -> str | None:
    """Return the name of the first tool that is called, if one is."""
    return next(iter(names_of(found)), None)


def format_in(held: Held, wrapper: Wrapper) -> str:
    """Return the format of a call in a wrapper: that of the outermost wrapper that has one, unless it is pythonic."""
    return held.format if held.format == "pythonic" or wrapper.format is None else wrapper.format
