"""The machine: its states, and what is read in each.

A chunk is added to the window. Then the step of the state reads on and returns the next state, until more text is
needed. `openings` begins what follows a gap; `turn` decides what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader import content as last
from llama3_tools.reader.markup import LIST_END, OBJECT_BEGINS
from llama3_tools.reader.openings import BEGIN, begin_object
from llama3_tools.reader.turn import BROKEN_OFF, CANDIDATE, GAP, REGION, TEXT, State, Turn
from llama3_tools.reader.window import MOST_KEPT
from llama3_tools.values import Extraction, RejectionReason

_MAY_GO_ON = frozenset(" \t\n\r;,<[*->f")
"""What a run of markup may go on with: a run has at most 64 pieces. `f` begins `functools[`."""


def read(turn: Turn, chunk: str = "") -> None:
    """Read on, as far as text has arrived, with a further chunk."""
    window = turn.window
    if window.pos > MOST_KEPT:
        turn.forget()
    window.add(chunk)
    step, next_states = _STEPS[turn.state]
    while (following := step(turn)) is not None:
        assert following in next_states  # noqa: S101
        turn.state = following
        step, next_states = _STEPS[following]
    waiting = turn.content.waiting
    if waiting:
        held = window.base + len(window.text) - waiting[0].call.span[0]
        if held > turn.rules.limits.max_call_length:
            turn.settle()


def finish(turn: Turn, *, complete: bool, aborted: bool = False) -> Extraction:
    """Read to the end of the output, as no more will come."""
    content, rejections, window = turn.content, turn.rejections, turn.window
    turn.grammar = turn.rules.grammars[1]
    window.end(complete=complete, aborted=aborted)
    if aborted:
        turn.settle(lambda _: BROKEN_OFF)
    read(turn)
    turn.settle()
    end = window.base + len(window.text)
    content.end(end)
    if turn.quotation.region is None:
        rejections.look_over(len(window.text))
    else:
        content.end_quotation(end)
    found = rejections.in_order(content.calls)
    return Extraction(content.whole(), tuple(content.calls), found, content.reasoning)


def _read_text(turn: Turn) -> State | None:
    """Search text for what may begin something."""
    window = turn.window
    text = window.text
    found = turn.grammar.first(text, max(window.pos, window.searched - window.base))
    if found is None:
        turn.put(len(text))
        return None
    end = found.start()
    if end > window.pos:
        turn.put(end)
    if end + 1 == len(text) and not window.ended:
        return None
    if text[end] == "{":
        return begin_object(turn, end)
    if text[end] == "*" and turn.content.is_bold:
        window.searched = window.base + end + 2  # it ends bold in the text
        return TEXT
    return GAP


def _read_gap(turn: Turn) -> State | None:  # noqa: C901, PLR0911 (what may follow, one after the other)
    """Hold what may be between calls, and look at what follows."""
    window, markup, content = turn.window, turn.markup, turn.content
    text, pos, grammar = window.text, window.pos, turn.grammar
    is_after_text = content.last is last.TEXT and not (markup.text or markup.in_list)
    match_run = grammar.run_after_text if is_after_text else grammar.run
    run: re.Match[str] = match_run(text, pos)  # type: ignore[assignment]  # it may match nothing
    end = run.end()
    if end > pos:
        turn.hold_run(run)
    char = text[end : end + 1]
    if not char:
        return None
    if char == "{" and turn.rules.reads_json:
        following = text[end + 1 : end + 2]
        if not (following or window.ended):
            return None
        return begin_object(turn, end) if following and following in OBJECT_BEGINS else turn.text_follows()
    if end > pos and char in _MAY_GO_ON:
        return GAP  # a run is bounded: there may be more of it
    if char in "]})>*/" and content.last is last.CALL:
        if char == "]" and markup.in_list:
            return _end_list(turn)
        closing = _closing(turn, char)
        if closing:
            turn.hold(closing)
            turn.quotation.end_call(window.base + window.pos)
            return GAP
    match = grammar.others[char](text, end) if char in grammar.others else None
    if match is None and grammar.name is not None and (char.isalpha() or char == "_"):
        match = grammar.name(text, end)
    if match is None:
        return turn.text_follows()
    return BEGIN[match.lastgroup](turn, match)  # type: ignore[index]


def _end_list(turn: Turn) -> State | None:
    """End a list of pythonic calls."""
    window, markup = turn.window, turn.markup
    match = LIST_END[window.ended](window.text, window.pos)
    if match is not None and match.lastgroup == "more":
        return None
    markup.close_list()
    if match is None:
        refusal = Refusal(RejectionReason.NOT_A_CALL, "a list that is a part of code")
        turn.settle(lambda one: refusal if one.call.format == "pythonic" else None)
        return turn.text_follows()
    if markup.opened or turn.quotation.fence:
        turn.content.confirm()
    else:
        turn.settle()
    return turn.hold("]")


def _closing(turn: Turn, char: str) -> str:
    """Return what goes with the call before it: the end of bold or a tag, a bracket too many; `""` if nothing."""
    window = turn.window
    text, pos = window.text, window.pos
    if char == "*":
        is_next = window.base + pos == turn.quotation.line_from
        return "**" if is_next and text.startswith("**", pos) and not turn.content.is_bold else ""
    if char == "/":
        return "/>" if text.startswith("/>", pos) else ""
    if turn.quotation.fence_is_fresh or not turn.content.may_close(char):
        return ""
    # A `>` that is not directly after it may be a comparison or an arrow.
    return char if char != ">" or text[pos - 1 : pos] in tuple(">})]") else ""


def _read_region(turn: Turn) -> State | None:
    """Search quotation for what closes it, and for candidates."""
    window, region = turn.window, turn.quotation.region
    assert region is not None  # noqa: S101  # the state says so
    found = region.search[window.ended](window.text, window.pos)
    at = len(window.text) if found is None else found.start()
    if at > window.pos:
        turn.put(at)
    if found is None or found.lastgroup == "more":
        return None
    if found.lastgroup == "object":
        return begin_object(turn, at)
    return turn.end_region(found.end())


def _read_candidate(turn: Turn) -> State | None:
    """Let the candidate that is open read on."""
    candidate = turn.candidate
    assert candidate and candidate.reader  # noqa: S101, PT018  # the state says so
    outcome = candidate.reader.read(candidate)
    return None if outcome is None else turn.decide(candidate, outcome)


class _Step(NamedTuple):
    """What is done in a state, and which states may come next."""

    read: Callable[[Turn], State | None]
    """Reads on; returns the next state, or `None` if more text has to come."""
    following: tuple[State, ...]


_STEPS = {
    TEXT: _Step(_read_text, (TEXT, GAP, CANDIDATE)),
    GAP: _Step(_read_gap, (GAP, TEXT, REGION, CANDIDATE)),
    REGION: _Step(_read_region, (REGION, GAP, CANDIDATE)),
    CANDIDATE: _Step(_read_candidate, (CANDIDATE, GAP, TEXT, REGION)),
}
