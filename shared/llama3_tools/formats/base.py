"""What a wire format is: how it begins, and what the machine does where it begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from llama3_tools.limits import LONGEST_NAME

__all__ = [
    "LOOK_BEHIND",
    "NAME",
    "NAME_BEGINS",
    "NAME_CHAR",
    "SPACE",
    "WORD_NAME",
    "Closing",
    "Kind",
    "WireFormat",
    "beginnings",
    "literals",
    "require_no_end",
    "tag",
]

SPACE = r"[ \t\n\r]{0,128}"
"""White space between two tokens of JSON, as far as anyone looks ahead."""

NAME_CHAR = r"[\w.:/-]"
"""A character in the name of a tool."""
NAME = rf"{NAME_CHAR}{{1,{LONGEST_NAME}}}"
"""The name of a tool, where what stands around it says that it is one."""
NAME_BEGINS = rf"{NAME_CHAR}{{0,{LONGEST_NAME}}}"
"""As much of one as has come."""
WORD_NAME = rf"[^\W\d]{NAME_CHAR}{{0,{LONGEST_NAME - 1}}}"
"""The name of a tool, where nothing but its place says that it may be one: it begins with a letter or `_`."""

LOOK_BEHIND = LONGEST_NAME + 32
"""How much of the text before a place is looked at, at most: a name, and what may stand around it."""


_GROUPS = frozenset({"call", "end", "more"})
"""The groups of patterns that are no formats. The machine looks for them, so that no format can have their names."""
_IS_NAME = re.compile(r"[a-z][a-z0-9_]*").fullmatch
_SHORTEST_TEXT, _LONGEST_TEXT = 2, 128
"""How long a literal text is; the patterns that are not literal are bounded so that they reach no further."""


class Kind(Enum):
    """What the machine does with what begins."""

    OBJECT = "reads an object of JSON"
    LITERAL = "reads a dict of Python, which is never a call, but may be an attempt at one"
    CALL = "reads the arguments of a pythonic call, if a call may stand there"
    LIST = "opens a list of calls"
    NAMED_LIST = "reports a list that begins with the name of a tool, which is no call"
    TAG = "opens a tag around calls"
    NAMED_TAG = "opens a tag that names the tool"
    FUNCTION_END = "closes a tag that names the tool, if one is open as text"
    FENCE = "opens a code fence: a wrapper, or quotation"
    TILDES = "opens a fence of tildes, which is quotation"
    TOKEN = "takes a protocol token"  # noqa: S105 (a token of the model's)
    OTHER_TURN = "opens another's turn, which is quotation"
    THOUGHT = "opens reasoning, which is quotation"
    RESPONSE = "opens the result of a tool, which is quotation"

    __hash__ = object.__hash__  # each kind is one object: Enum's own hash takes a call in Python


@dataclass(frozen=True, slots=True)
class WireFormat:
    """How something begins that the machine has to know of, as two patterns."""

    name: str
    """The name of the rule, by which it can be switched off, and of its group in the pattern that looks for it."""
    kind: Kind
    opening: str
    """The pattern of its beginning. Each alternative begins with a literal character, or a set of them."""
    beginnings: str
    """The pattern of text at the end of a chunk that may still become its beginning, if `texts` does not cover it."""
    first: str
    """The character with which it begins."""
    second: str
    """The pattern of the character that follows it; empty if that may be any."""
    closings: Mapping[str, str] = field(default_factory=dict)
    """What closes it, by how it was opened."""
    asked_for_as: str | None = None
    """The name by which it can be asked for, one of `FormatName`; `None`: it is always read beside calls."""
    for_calls: tuple[str, ...] = ()
    """What openings begin with that are used for calls only: what fails after them is an attempt (rule 15)."""
    is_inside: bool = True
    """Whether it may stand inside a wrapper."""
    texts: tuple[str, ...] = ()
    """Literal openings. A stream holds back text at its end with which one of them may begin."""
    opening_ended: str = ""
    """The pattern of its beginning once the output has ended; empty if it is the same."""
    may_be_code: bool = False
    """Whether it may be a part of code, by what stands before it."""
    is_read_in_tags: bool = False
    """Whether it is read in the tags that hold it, whatever was asked for."""
    holds_json: bool = True
    """Of a tag: whether that is what it holds."""
    reads_tool_name: bool = False
    """Of a tag: whether `tool_name` counts as `name` in it."""
    surplus: Mapping[str, str] = field(default_factory=dict)
    """Of a tag: what may close it once more, by what closed it, if that is another text."""

    def __post_init__(self) -> None:
        """Refuse a name, or what closes it, if the machine could not read that.

        >>> WireFormat("my-tag", Kind.TAG, "<my-tag>", "", "<", "m", {"<my-tag>": "</my-tag>"})
        Traceback (most recent call last):
        ...
        ValueError: no format can be named 'my-tag': ... such as 'my_tag' for <my-tag>
        """
        _require_name(self.name)
        for closing in self.closings.values():
            _require_readable(closing, "close")


@dataclass(frozen=True, slots=True)
class Closing:
    """What closes quotation: the pattern while more may come, and the pattern once the output has ended."""

    going: re.Pattern[str]
    ended: re.Pattern[str]

    @staticmethod
    def of(whole: str, beginnings: str) -> Closing:
        r"""Compile both: text that matches `beginnings` at the end of what has come is held back.

        >>> closing = Closing.of("</a>", "<(?:/a?)?")
        >>> closing.going.search("text</").lastgroup, closing.ended.search("text</")
        ('more', None)
        """
        return Closing(re.compile(rf"(?P<more>(?:{beginnings})\Z)|{whole}"), re.compile(whole))


def beginnings(*texts: str) -> str:
    """Return the pattern of every true beginning of some literal texts.

    >>> beginnings("<ab>", "<ac", "<b")
    '<(?:a(?:b)?)?'
    """
    rests: dict[str, list[str]] = {}
    for text in texts:
        if len(text) > 1:
            rests.setdefault(text[0], []).append(text[1:])
    return "|".join(
        re.escape(char) + (f"(?:{after})?" if (after := beginnings(*rest)) else "") for char, rest in rests.items()
    )


def literals(texts: Iterable[str]) -> str:
    r"""Return the pattern of any of some literal texts.

    >>> literals(["<a>", "[b]"])
    '<a>|\\[b\\]'
    """
    return "|".join(map(re.escape, texts))


def tag(name: str, closings: Mapping[str, str], *, is_for_calls: bool = True) -> WireFormat:
    """Return the format of calls in a tag.

    >>> tag("answer", {"<answer>": "</answer>"}).opening
    '<answer>'
    >>> tag("answer", {"<answer>": ""})
    Traceback (most recent call last):
    ...
    ValueError: '' cannot close a format: name what may close it, even if nothing has to, as the end of a turn does, too

    Args:
        name: the name of the rule, that by which it is asked for, and the `format` of the calls.
        closings: what closes the tag, by each way to open it. All openings begin with the same character.
        is_for_calls: whether its only use is calls, so that what fails in it is an attempt (rule 15).

    Raises:
        ValueError: a name or a text that the machine cannot read. The message says what to write instead.
    """
    openings = sorted(closings, key=len, reverse=True)  # one may begin with another
    for opening in openings:
        _require_readable(opening, "open")
    firsts = sorted({opening[0] for opening in openings})
    if len(firsts) != 1:
        raise ValueError(f"the openings of {name!r} begin with {firsts}: make a tag of those of each character")
    seconds = "".join(re.escape(second) for second in sorted({opening[1] for opening in openings}))
    made = WireFormat(
        name,
        Kind.TAG,
        literals(openings),
        "",
        firsts[0],
        f"[{seconds}]",
        closings,
        asked_for_as=name,
        for_calls=tuple(closings) if is_for_calls else (),
        texts=tuple(openings),
    )
    for opening in openings:
        require_no_end(opening, closings.values())
    return made


def _require_name(name: str) -> None:
    """Refuse a name that cannot be one of a group in a pattern."""
    if name in _GROUPS:
        taken = ", ".join(map(repr, sorted(_GROUPS)))
        raise ValueError(f"no format can be named {name!r}: {taken} are taken; add a word, such as '{name}_tag'")
    if not _IS_NAME(name):
        cure = "write one of lowercase letters, digits and '_', as a group in a pattern has it, such as 'my_tag'"
        raise ValueError(f"no format can be named {name!r}: {cure} for <my-tag>")


def _require_readable(text: str, what: str) -> None:
    """Refuse a text that does not open or close a wrapper wherever one may open or close."""
    if what == "close" and text == ">":
        return
    if not text:
        cure = "name what may close it, even if nothing has to, as the end of a turn does, too"
    elif not _SHORTEST_TEXT <= len(text) <= _LONGEST_TEXT:
        cure = f"write {_SHORTEST_TEXT} to {_LONGEST_TEXT} characters"
    elif text[0].isspace() or text[0] in ",;":
        cure = "begin with no white space, ',' or ';', which go as delimiters before it is looked for"
    elif text[0].isalnum() or text[0] == "_":
        cure = "begin with no letter, digit or '_', as words and the names of pythonic calls do"
    elif text[0] in ">]`*":
        cure = f"begin with no {text[0]!r}, which quotes a line, or closes wrappers of another kind"
    else:
        return
    raise ValueError(f"{text!r} cannot {what} a format: {cure}")


def require_no_end(opening: str, ends: Iterable[str]) -> None:
    """Refuse an opening that begins with what closes a format, as that is looked for first.

    >>> require_no_end("<x>", ["</x>"])

    Raises:
        ValueError: it begins so.
    """
    for end in ends:
        if opening.startswith(end):
            raise ValueError(f"{opening!r} cannot open a format: {end!r} closes one; close it with another text")
