"""The states of the machine, which may follow which, and what a step in one returns.

A function of the machine is one of three things:

- a step, or a part of one, reads on, and returns `GO_ON` or, to wait for text, `NEED_MORE`;
- a question returns its answer, or `None` if it takes more text to know;
- an action returns nothing, or, if its caller has to know, what came of it (`None` as above).
"""

from __future__ import annotations

from enum import Enum

__all__ = [
    "GO_ON",
    "IN_CANDIDATE",
    "IN_CODE",
    "IN_PROSE",
    "IN_QUOTATION",
    "IN_REPAIR",
    "IN_WRAPPER",
    "IS_OVER",
    "NEED_MORE",
    "TRANSITIONS",
    "State",
    "Step",
]


class Step(Enum):
    """What a step says when it returns."""

    GO_ON = "call the step of the state that the turn is in now"
    NEED_MORE = "wait for the next chunk, or for the end of the output"


class State(Enum):
    """Where the machine stands, and what it may turn to."""

    PROSE = "text, in which anything may begin"
    QUOTATION = "text up to what closes it, in which nothing is called"
    CANDIDATE = "an object or the arguments of a call, read token by token"
    WRAPPER = "in a wrapper, after its opening or after a call"
    CODE = "code after <|python_tag|>"
    REPAIR = "malformed JSON: looking for its end"
    OVER = "the turn is over"

    __hash__ = object.__hash__  # each state is one object: Enum's own hash takes a call in Python


TRANSITIONS: dict[State, frozenset[State]] = {
    State.PROSE: frozenset({State.QUOTATION, State.CANDIDATE, State.WRAPPER, State.OVER}),
    State.QUOTATION: frozenset({State.PROSE, State.OVER}),
    State.CANDIDATE: frozenset({State.PROSE, State.QUOTATION, State.WRAPPER, State.CODE, State.REPAIR, State.OVER}),
    State.WRAPPER: frozenset({State.PROSE, State.QUOTATION, State.CANDIDATE, State.CODE, State.OVER}),
    State.CODE: frozenset({State.PROSE, State.QUOTATION, State.OVER}),
    State.REPAIR: frozenset({State.PROSE, State.QUOTATION, State.WRAPPER, State.OVER}),
    State.OVER: frozenset(),
}
"""Which state may follow which. A state may be entered again from itself."""

# A member of an enum takes ten times as long to look up as a name does.
IN_PROSE, IN_QUOTATION, IN_CANDIDATE, IN_WRAPPER, IN_CODE, IN_REPAIR, IS_OVER = State
GO_ON, NEED_MORE = Step
