"""Code after `<|python_tag|>`, up to the next token (rule 11)."""

from __future__ import annotations

from llama3_tools.formats.code_interpreter import CODE_INTERPRETER, CUT_TOKEN, END_OF_CODE, code_call, refuse_code
from llama3_tools.literals.refusal import Refusal
from llama3_tools.stream.candidate import Code
from llama3_tools.stream.states import GO_ON, IN_PROSE, NEED_MORE, Step
from llama3_tools.stream.turn import Turn, let_go, make, put_text, reject
from llama3_tools.stream.wrappers import Held

__all__ = ["read_code"]


def read_code(turn: Turn) -> Step:
    """Read code up to the next token, or to the end of the output."""
    window, code = turn.window, turn.code
    assert code is not None  # noqa: S101  # the state says so
    text, pos = window.text, window.pos
    if not code.flows and is_code_too_long(turn, code):
        let_go(turn, code, code.tool, is_meant=True)
    match = (END_OF_CODE.ended if window.ended else END_OF_CODE.going).search(text, pos)
    if match is None and window.ended and (cut := CUT_TOKEN.search(text, pos)):
        window.cut_end(cut.start())  # the output ends within a token
        text = window.text
    end = len(text) if match is None else match.start()
    piece = text[pos:end]
    window.pos = end
    if code.flows:
        put_text(turn, window.base + pos, piece)
    else:
        code.kept.add(piece)
    if not window.ended and (match is None or match.lastgroup == "more"):
        return NEED_MORE
    turn.code, turn.state = None, IN_PROSE
    if not code.flows:
        written = code.text
        code.let_go()  # so that there is one copy
        end_code(turn, code.start, written, is_closed=match is not None)
    return GO_ON


def is_code_too_long(turn: Turn, code: Code) -> bool:
    """Return whether as much text as a call may have, and one character more, does not say where the code ends."""
    window = turn.window
    bound = code.start + turn.limits.max_call_length + 1 - window.base
    if len(window.text) < bound:
        return False
    match = END_OF_CODE.going.search(window.text, window.pos, bound)
    return match is None or match.lastgroup == "more"


def end_code(turn: Turn, start: int, text: str, *, is_closed: bool) -> None:
    """Take code that is complete: call the code interpreter with it, unless there is none, or it is cut off."""
    found = code_call(text, turn.reader.declared.get(CODE_INTERPRETER))
    if found is None:
        put_text(turn, start, text)
        return
    written, at, length = found
    span = start + at, start + at + length
    refusal = refuse_code(written, is_closed=is_closed, is_complete=turn.is_complete)
    checked = refusal or turn.reader.checked(written)
    if isinstance(checked, Refusal):
        reject(turn, *span, checked, is_meant=True)
        put_text(turn, start, text)
        return
    make(turn, Held(written, *span, "code", text))
