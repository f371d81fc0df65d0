"""The state of one turn, and what all parts of the machine do with it: text, rejections, and calls that are made."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from llama3_tools.calls.reader import BUILT_IN, CallReader, Placed
from llama3_tools.calls.repair import Mending
from llama3_tools.calls.shapes import WrittenCall
from llama3_tools.formats import Grammar
from llama3_tools.formats.base import Closing
from llama3_tools.formats.pythonic import METHOD
from llama3_tools.limits import Limits, too_long, too_many
from llama3_tools.literals.refusal import Refusal
from llama3_tools.options import ReadOptions
from llama3_tools.stream.broken import NOTHING_BROKE, Broken, BrokenBrackets, TextTag
from llama3_tools.stream.candidate import Candidate, Code, HeldBack
from llama3_tools.stream.content import Content
from llama3_tools.stream.line import Line
from llama3_tools.stream.place import ORDINARY, FreshPlace, Place
from llama3_tools.stream.rejections import Rejections
from llama3_tools.stream.repeats import Repeats
from llama3_tools.stream.states import IN_PROSE, State
from llama3_tools.stream.window import LOOK_BEHIND, Window
from llama3_tools.stream.wrappers import Held, Queue, Wrapper, count_of, first_name, names_of
from llama3_tools.text.growing_text import GrowingText
from llama3_tools.tools.declared import Tool
from llama3_tools.values import RejectionReason, ToolCall

__all__ = [
    "PART_OF_BROKEN",
    "Quotation",
    "Turn",
    "is_data_at",
    "is_element_of_data",
    "is_in_brackets",
    "is_too_long",
    "let_go",
    "line_before",
    "made_of",
    "make",
    "make_bare",
    "put_text",
    "put_up_to",
    "reject",
    "take_made",
    "tool_named",
]

PART_OF_BROKEN = "a part of data, or of a malformed object or call"
Made: TypeAlias = "Sequence[ToolCall | str]"
"""Calls that were made, and the messages between them."""

_BROKEN_OFF = RejectionReason.TRUNCATED, "the stream broke off before it was certain to be a call"
_NO_NAMES: Mapping[str, Tool] = {}
_GAP = re.compile(r"\s*,\s*")
_WORD = re.compile(r"\w").search
_KEY_BEFORE = re.compile(r'"[ \t\n\r]*:\Z').search


class Quotation:
    """Quotation that is open."""

    __slots__ = ("closing", "is_split", "opening", "pieces", "start", "why")

    def __init__(
        self,
        closing: Closing,
        start: int,
        why: str,
        *,
        is_split: bool = False,
        opening: str = "",
    ) -> None:
        self.closing = closing
        self.start = start
        """The offset from which on it was not searched yet."""
        self.why = why
        """What the rejections in it say."""
        self.is_split = is_split
        """Whether it is reasoning to be split off."""
        self.pieces = GrowingText()
        """What was not searched yet."""
        self.opening = opening
        """What vanishes if the quotation begins with it once more."""


@dataclass(slots=True, eq=False)
class Turn:
    """The state of one turn: each part of the machine reads it, and moves it on."""

    reader: CallReader
    """What decides whether some JSON is a call, and makes it."""
    grammar: Grammar
    limits: Limits
    splits: bool
    """Whether reasoning is split off."""
    pythonic_tools: Mapping[str, Tool]
    """The declared tools that may be called in Python's way, by name."""
    window: Window
    content: Content
    line: Line
    rejections: Rejections
    wrappers: list[Wrapper] = field(default_factory=list)
    latest_end: int = 0
    """The offset up to which the wrappers that are open may reach: more is longer than a call (rule 14)."""
    queue: Queue = field(default_factory=list)
    state: State = IN_PROSE
    candidate: Candidate | None = None
    code: Code | None = None
    quotation: Quotation | None = None
    fence_is_open: bool = False
    """Whether a fence is open that is text, so that the next one closes it."""
    fresh: FreshPlace = field(default_factory=FreshPlace)
    place: Place = ORDINARY
    broken: Broken = NOTHING_BROKE
    brackets: BrokenBrackets | None = None
    text_tag: TextTag | None = None
    """The last tag that is text, as it holds no object, though it names a declared tool."""
    data_end: int | None = None
    """The offset after the last element of an array of data, the next of which is data, too."""
    failures: int = 0
    """How often the scanner in C has failed."""
    mending: tuple[Mending, Candidate, Refusal] | None = None
    """What may be mended, and why it was refused."""
    repeats: Repeats | None = None
    """The well-formed calls, if malformed ones are mended."""
    unrepairable_to: int = 0
    """The offset up to which a repair was tried in vain: nothing before it is tried again, so the work is linear."""
    has_words: bool = False
    """Whether there is text outside of candidates and quotation."""
    is_complete: bool = True
    """Whether the model ended its turn, rather than a limit."""
    is_broken_off: bool = False
    """Whether the stream broke off, so that nothing more is called."""
    trace: list[tuple[int, int, bool]] | None = None
    """Where text stands that is content or reasoning, and whether it is quotation: kept if this is set to a list."""

    @classmethod
    def of(cls, reader: CallReader, grammar: Grammar, options: ReadOptions, *, keep_content: bool) -> Turn:
        """Begin a turn."""
        return cls(
            reader,
            grammar,
            options.limits,
            options.split_reasoning,
            reader.declared if grammar.pythonic else _NO_NAMES,
            Window(),
            Content(is_kept=keep_content),
            Line(grammar.off),
            Rejections(options.limits.max_rejections),
            repeats=Repeats(reader) if reader.repair else None,
        )


def put_text(turn: Turn, start: int, text: str, *, is_prose: bool = False) -> None:
    """Put text into the content, and move on what depends on the text so far.

    That is the line, `trace`, `text_tag` and `brackets`.

    Args:
        turn: the turn.
        start: the offset of the text.
        text: the text to add.
        is_prose: whether it is neither a candidate's nor quoted, so that it may set `has_words`.
    """
    if not text:
        return
    turn.content.text(text)
    turn.line.add(text)
    if turn.trace is not None:
        turn.trace.append((start, start + len(text), turn.quotation is not None))
    if turn.text_tag is not None and turn.text_tag.hides_objects and "\n" in text:
        turn.text_tag = turn.text_tag._replace(hides_objects=False)
    if is_prose and not turn.has_words:
        turn.has_words = _WORD(text) is not None
    if turn.brackets is not None and turn.brackets.end_in(text):
        turn.brackets = None


def put_up_to(turn: Turn, at: int) -> None:
    """Put the text up to an index of the window, as prose."""
    window = turn.window
    if at > window.pos:
        put_text(turn, window.base + window.pos, window.text[window.pos : at], is_prose=True)
        window.pos = at


def reject(turn: Turn, start: int, end: int, refusal: Refusal, *, is_meant: bool = False) -> None:
    """Report a rejection."""
    turn.rejections.add(start, end, refusal, is_meant=is_meant)


def let_go(turn: Turn, held: HeldBack, name: str | None, *, is_meant: bool) -> None:
    """Report what is too long for a call, and release its text (rule 14)."""
    end = held.start + turn.limits.max_call_length
    reject(turn, held.start, end, Refusal(*too_long(turn.limits), name), is_meant=is_meant)
    put_text(turn, held.start, held.text)
    held.let_go()


def line_before(turn: Turn, at: int) -> str:
    """Return the text of the line up to an index of the window."""
    window = turn.window
    text = window.text[window.pos : at]
    after_break = text.rfind("\n") + 1
    return text[after_break:] if after_break else turn.line.text + text


def is_too_long(turn: Turn, at: int) -> bool:
    """Return whether the wrappers that are open would be longer than a call if they reached to an index (rule 14)."""
    return turn.window.base + at > turn.latest_end


def tool_named(turn: Turn, name: str) -> str | None:
    """Return the tool that a pythonic name means: a declared one, or one of Meta's if those were asked for by name."""
    if name in turn.pythonic_tools:
        return name
    base = name.removesuffix(METHOD)
    if base != name and (base in turn.pythonic_tools or (base in BUILT_IN and turn.grammar.any_pythonic)):
        return base
    return None


def make(turn: Turn, held: Held) -> None:
    """Make the calls of what was found, unless they are too many or the stream broke off."""
    found = held.found
    is_too_many = len(turn.content.tool_calls) + count_of(found) > turn.limits.max_calls
    if is_too_many or turn.is_broken_off:
        refusal = too_many(turn.limits) if is_too_many else _BROKEN_OFF
        reject(turn, held.start, held.end, Refusal(*refusal, first_name(found)), is_meant=True)
        put_text(turn, held.start, held.text)
        return
    try:
        made = made_of(turn, held, held.format)
    except BaseException:  # of id_factory
        put_text(turn, held.start, held.text)
        raise
    take_made(turn, held.end, made)


def made_of(turn: Turn, held: Held, format_: str) -> Made:
    """Return the calls of what was found, and the messages between them. An exception of `id_factory` goes through."""
    reader, found = turn.reader, held.found
    if isinstance(found, WrittenCall):
        return (reader.make(found, (held.start, held.end), format_, held.repaired_from),)
    return [
        reader.make(part.written, (held.start + part.start, held.start + part.end), format_, held.repaired_from)
        if isinstance(part, Placed)
        else part
        for part in found
    ]


def take_made(turn: Turn, end: int, made: Made) -> None:
    """Take calls and messages into the content; the last of them ends at an offset."""
    turn.content.calls(made)
    turn.line.add("}")  # so a marker or a span before it no longer begins the line
    turn.broken = NOTHING_BROKE
    turn.text_tag = None
    turn.fresh.begin_at(end)
    turn.place = ORDINARY


def make_bare(turn: Turn, held: Held) -> None:
    """Make the calls of an object that stands bare, unless it is quoted or a part of broken JSON."""
    why = turn.line.quotation(turn.reader.declared)
    if why is not None:
        names = names_of(held.found)
        if names:
            turn.rejections.add_quoted(held.start, held.end, why, names[0])
        put_text(turn, held.start, held.text)
    elif is_part_of_broken(turn):
        refusal = Refusal(RejectionReason.NOT_A_CALL, PART_OF_BROKEN, first_name(held.found))
        reject(turn, held.start, held.end, refusal)
        put_text(turn, held.start, held.text)
        if turn.place.is_data:
            turn.data_end = held.end
    elif not turn.grammar.json and held.format != "pythonic":
        put_text(turn, held.start, held.text)
    else:
        make(turn, held)
        turn.fresh.after_bare_call()


def is_part_of_broken(turn: Turn) -> bool:
    """Return whether an object that was read is a part of what broke, and so is not called (rule 6)."""
    tag, brackets = turn.text_tag, turn.brackets
    hides = (tag is not None and tag.hides_objects) or (brackets is not None and brackets.hide_objects)
    return turn.place.is_data or hides


def is_in_brackets(turn: Turn) -> bool:
    """Return whether brackets are open of a pythonic call or list that broke: in them no pythonic call is one."""
    return turn.brackets is not None and turn.brackets.depth > 0


def is_element_of_data(turn: Turn, at: int) -> bool:
    """Return whether an index of the window follows the element of an array of data, after a comma."""
    if turn.data_end is None:
        return False
    window = turn.window
    after = turn.data_end - window.base
    return at - LOOK_BEHIND <= after <= at and _GAP.fullmatch(window.text, after, at) is not None


def is_data_at(turn: Turn, offset: int) -> bool:
    """Return whether the value of a member stands at an offset, with any number of brackets before it (rule 6).

    Without it, a part of a broken object would run: `{"tags": ["a",], "example": {CALL}}`.
    """
    at = offset - turn.window.base
    if at <= 0 or "broken_data" in turn.grammar.off:
        return False
    before = turn.window.text[max(at - LOOK_BEHIND, 0) : at]
    written = before.rstrip("[ \t\n\r")
    return _KEY_BEFORE(written) is not None if written else len(before) == LOOK_BEHIND
