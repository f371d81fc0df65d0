"""The state of one turn, and what is done with text, markup and calls that wait."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from llama3_tools.literals.python_scalars import is_unicode
from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.content import Content, Waiting
from llama3_tools.reader.grammar import Grammar
from llama3_tools.reader.leftovers import REACH, leftovers
from llama3_tools.reader.markup import METHOD
from llama3_tools.reader.quotation import IN_STRING, Line
from llama3_tools.reader.regions import Region
from llama3_tools.reader.rejections import Rejections
from llama3_tools.reader.rules import BUILT_IN, Rules
from llama3_tools.reader.switches import is_off
from llama3_tools.values import RejectionReason

__all__ = ["LOOK_BEHIND", "Candidate", "Head", "State", "Turn"]

LOOK_BEHIND = 256
"""How much of the text before it says whether something is quoted, or a part of something."""
_KEPT = 2 * LOOK_BEHIND
"""How much of what was read the window keeps, for those who look back."""
_WORD = re.compile(r"\w").search
_MOST_NAMES = 64


class State(Enum):
    """Where the machine stands."""

    TEXT = "in text: searches for what may begin something"
    GAP = "where a call may stand: takes markup and white space"
    REGION = "in quotation: candidates in it are reported"
    OBJECT = "in an object of JSON"
    ARGUMENTS = "in the parentheses of a pythonic call"
    MENDING = "in an object that broke, and may be repaired"
    CODE = "after <|python_tag|>, where nothing else is called"

    __hash__ = object.__hash__  # each state is one object: Enum's own hash takes a call in Python


# As names of their own: a member of an enum takes ten times as long to look up.
TEXT, GAP, REGION, OBJECT, ARGUMENTS, MENDING, CODE = State


JSON, PYTHON = "JSON", "Python"


class Head(NamedTuple):
    """What names the tool before its arguments."""

    name: str
    format: str
    start: int
    """The offset at which it begins."""
    deviations: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Candidate:
    """What is read, is not complete yet, and may be a call."""

    begin: int
    """The offset of its first character: of what names the tool, if that stands before it."""
    start: int
    """The offset of its brace or parenthesis, or of the first character of code."""
    format: str
    reader: Any
    """What reads it across chunks."""
    name: str | None = None
    """The tool that what stands before it names."""
    head: Head | None = None
    quoted: str | None = None
    """Why it is quoted, if it is."""
    is_part: bool = False
    """Whether it is a part of something."""
    pieces: list[str] = field(default_factory=list)
    """What was read of it, and has left the window."""


@dataclass(slots=True, eq=False)
class Turn:
    """The state of one turn; `candidates` and `machine` read it, and move it on."""

    rules: Rules
    """What is read, and which tools may be called."""
    content: Content
    """What is certain, and what is held: markup, and calls that wait."""
    grammar: Grammar
    rejections: Rejections
    line: Line = field(default_factory=Line)

    text: str = ""
    """The window: what was not read yet, and some of what was."""
    pos: int = 0
    """How much of the window was read."""
    base: int = 0
    """The offset of the window."""
    searched: int = 0
    """The index in the window up to which text was searched for what may begin something, or less."""
    ended: bool = False
    """Whether no more text will come."""
    is_complete: bool = True
    """Whether the model ended the turn, rather than a limit."""
    is_aborted: bool = False
    """Whether the stream broke off."""
    is_simple: bool | None = None
    """Whether no object in the window has half a surrogate pair; `None`: nobody asked yet."""

    state: State = GAP
    candidate: Candidate | None = None
    """What is open and may be a call."""
    region: Region | None = None
    """The quotation that is open."""

    markup: str = ""
    """The markup since the last text or call."""
    is_inside: bool = False
    """Whether the markup is a part of something."""
    quoted: str | None = None
    """Why that markup is quoted, if it is."""
    may_be_code: bool = False
    """Whether that markup stands where code may begin."""
    opened: str = ""
    """The name of the last tag before a call, while it is open: calls in it wait for its end."""
    fence: str = ""
    """The backticks of the fence that is open."""
    fence_is_fresh: bool = False
    """Whether nothing but markup came since it was opened."""
    in_list: bool = False
    """Whether a list of pythonic calls is open."""

    gap_from: int = 0
    """The offset after the last text or call: what stands from there is held."""
    line_from: int = 0
    """The offset after the last call or quotation: there the line begins anew."""
    data_end: int = -1
    """The offset after the last object that is a part of data: one after its comma is, too."""
    looked_over: int = 0
    """The offset up to which text was looked over for what is left."""
    string_end: int = -1
    """The offset after the last candidate in quotes: one after its comma stands in them, too."""
    broken: str = ""
    """What broke last, `JSON` or `PYTHON`: what comes after it may stand in one of its strings. Of JSON, that is no
    reason not to call JSON: models write an object again that they left open."""
    has_words: bool = False
    """Whether there is text that is no quotation."""
    failures: int = 0
    """How often the scanner in C stumbled."""
    unclosed: frozenset[int] = frozenset()
    """The offsets of brackets that the end of the output leaves open: nothing there can be repaired."""

    def take_chunk(self, chunk: str) -> None:
        """Take the next chunk; of what was read, keep little."""
        if self.pos > _KEPT:
            self._forget(self.pos - LOOK_BEHIND)
        self.text += chunk
        self.is_simple = None

    def _forget(self, cut: int) -> None:
        """Forget the window up to an index; an open candidate keeps what it needs."""
        text, base, candidate = self.text, self.base, self.candidate
        begin = cut if candidate is None else min(max(candidate.begin - base, 0), cut)
        self.line.read(text, base, begin, self.line_from)
        if candidate is not None and begin < cut:
            candidate.pieces.append(text[begin:cut])
        self.text, self.base = text[cut:], base + cut
        self.pos -= cut
        self.searched = max(self.searched - cut, 0)

    def put(self, end: int) -> None:
        """Take text up to an index of the window."""
        text, pos = self.text, self.pos
        piece = text[pos:end]
        self.pos = end
        self.gap_from = self.base + end
        if self.region is not None and self.region.is_split:
            self.content.thought(piece, self.base + end)
            return
        self.content.text(piece, self.base + end)
        if self.region is None and not self.has_words:
            self.has_words = _WORD(piece) is not None
        self.report_leftovers(end)

    def report_leftovers(self, end: int) -> None:
        """Report what names a declared tool in an odd form, in text that was not looked over, up to an index."""
        names, base, text = self.rules.names, self.base, self.text
        if not names or is_off("leftovers"):
            return
        begin = max(self.line_from - base, 0)
        start = max(self.looked_over - base, begin)
        self.looked_over = base + end
        if len(names) <= _MOST_NAMES:
            looked_at = text[max(start - REACH, begin) : end]
            if not any(name in looked_at for name in names):
                return
        for left in leftovers(text, begin, start, end, names):
            if self.rejections.covers(base + left.start):
                continue
            if self.broken is JSON and self.rejections.name_last(left.name):
                continue  # of an object that broke before its name
            at = left.start - (text[left.start - 1 : left.start] in ("'", '"'))  # the quotes of the name quote nothing
            quoted = self.why_quoted(at)
            refusal = Refusal(RejectionReason.NOT_A_CALL, f"{left.name!r} in a form that is no call", left.name)
            if quoted is not None:
                refusal = Refusal(RejectionReason.QUOTED, quoted, left.name)
            self.rejections.add(
                base + left.start, base + left.end, refusal, is_meant=not (self.broken and self.rejections.has_attempt)
            )

    def why_quoted(self, at: int) -> str | None:
        """Return why what begins at an index of the window is quoted, if it is."""
        if self.region is not None:
            return self.region.why
        if self.base + at == self.line_from or is_off("lines"):
            return None
        if self.string_end >= self.base and not self.text[self.string_end - self.base : at].strip(" \t,;"):
            return IN_STRING
        self.line.read(self.text, self.base, at, self.line_from)
        return self.line.quotation(self.text[at - 1 : at], self.rules.declared)

    def begin_region(self, region: Region) -> bool:
        """Begin quotation at the place where the window was read to."""
        self.region, self.state = region, REGION
        self.markup = ""
        if region.is_split:
            self.content.begin_thought(self.base + self.pos)
        self.content.begin_quotation(self.base + self.pos)
        return True

    def end_region(self, end: int) -> bool:
        """Take what closes quotation: text, but for the tag of reasoning that is split off."""
        assert self.region is not None  # noqa: S101  # one is open
        if self.region.is_split:
            self.pos = end
        else:
            self.put(end)
        self.line_from = self.base + end
        self.content.end_quotation(self.line_from)
        self.region, self.state = None, GAP
        return True

    def tool_of(self, name: str) -> str | None:
        """Return the tool that a pythonic call names, if it is declared, or one of Meta's."""
        names = self.rules.names
        if name in names:
            return name
        base = name.removesuffix(METHOD)
        if base in names:
            return base
        return base if self.rules.tools is None and (base in BUILT_IN or self.in_list) else None

    def settle(self, refuse: Callable[[Waiting], Refusal | None] | None = None) -> None:
        """Deal with the calls that wait: each is made, unless it is refused."""

        def stays_text(waiting: Waiting) -> bool:
            refusal = refuse(waiting) if refuse else None
            if refusal is None:
                return False
            is_meant = refusal.reason is RejectionReason.TRUNCATED
            self.rejections.add(*waiting.call.span, refusal._replace(name=waiting.call.name), is_meant=is_meant)
            self.has_words = True
            return True

        self.content.settle(stays_text)

    def confirm(self) -> None:
        """Take the pythonic calls that wait for what follows them for calls: it lets them be."""
        content = self.content
        for waiting in content.waiting[content.confirmed :]:
            waiting.is_sure = True
        content.confirmed = len(content.waiting)

    def may_be_simple(self) -> bool:
        """Return whether no object in the window has half a surrogate pair, so that most need no closer look."""
        text = self.text
        self.is_simple = is_simple = "\\u" not in text and (text.isascii() or is_unicode(text))
        return is_simple
