"""What follows in a wrapper: delimiters, and then a call, another wrapper, or what closes it (rules 2, 3 and 9)."""

from __future__ import annotations

import re
from collections.abc import Callable

from llama3_tools.calls.shapes import WrittenCall, refuse_empty
from llama3_tools.formats import A_CALL, Patterns
from llama3_tools.formats.base import Kind, WireFormat
from llama3_tools.formats.fences import WORDS
from llama3_tools.formats.function_tag import FORMAT, MISSPELLED_CLOSINGS
from llama3_tools.formats.pythonic import goes_on_as_code
from llama3_tools.literals.python_tokens import PythonTokens
from llama3_tools.stream.candidates import begin_json, begin_python, begin_pythonic
from llama3_tools.stream.content import Token
from llama3_tools.stream.delimiters import DELIMITERS
from llama3_tools.stream.states import GO_ON, NEED_MORE, Step
from llama3_tools.stream.turn import Turn, is_too_long, reject, tool_named
from llama3_tools.stream.wrappers import (
    BOLD,
    CUT_OFF,
    FENCE,
    FENCE_ENDS,
    HOLDS_OTHER,
    LINE,
    LIST,
    NAMED,
    PART_OF_CODE,
    SPAN,
    TAG,
    Held,
    Wrapper,
)
from llama3_tools.stream.wrapping import (
    begin_named_tag,
    break_too_long,
    break_wrappers,
    close,
    close_at,
    hold,
    holds_pythonic,
    open_tag,
    open_wrapper,
)

__all__ = ["read_wrapper"]

_FAR = 512
_NEAR = 1024
"""How near the limit of a call is where what stands beyond it may decide: nothing looks as far ahead."""
_DELIMITERS = DELIMITERS.match

_MOST_WRAPPERS = 16

_LINE_END = re.compile(r"[^\S\r\n]*;?[^\S\r\n]*(?:(?=[\r\n]|<[|/]|```)|(?P<more>(?:<|`{1,2})?\Z))").match
_AFTER_LINE = re.compile(r"[^\S\r\n]*(?:(?=[\r\n])|(?P<more>\Z))").match
_CLOSED_BY_TEXT = (TAG, FENCE, NAMED)
"""The wrappers that what closes them closes after a call, whatever follows it."""
_WITHOUT_SURPLUS = (LIST, LINE, SPAN)
"""The wrappers in which a bracket after a call is no slip."""


def read_wrapper(turn: Turn) -> Step:  # noqa: C901, PLR0911, PLR0912 (one case for each thing that may follow)
    """Read what follows in a wrapper: delimiters, and then a call, another wrapper, or what closes it."""
    window, wrapper = turn.window, turn.wrappers[-1]
    text, pos = window.text, window.pos
    room = turn.latest_end - window.base - pos
    if room < _NEAR and (len(text) - pos > room + 1 or (len(text) - pos > room and window.ended)):
        return read_near_limit(turn)
    if wrapper.kind is LINE:
        is_closed = close_line(turn)
        if is_closed is None:
            return NEED_MORE
        if is_closed:
            return GO_ON
    at = _DELIMITERS(text, pos).end()  # type: ignore[union-attr]  # it takes nothing, too
    if at > pos and not wrapper.has_call and not text[pos:at].isspace():
        break_wrappers(turn)
        return GO_ON
    if is_too_long(turn, at):
        break_too_long(turn)
        return GO_ON
    if at == len(text):
        return wait_or_end(turn, at)
    if wrapper.has_call and wrapper.kind in _CLOSED_BY_TEXT and text.startswith(wrapper.closing, at):
        if at > pos:
            turn.queue.append(text[pos:at])
        close_at(turn, at, wrapper.closing)
        return GO_ON
    if wrapper.kind is FENCE and is_cut_off(turn, wrapper, at):
        if not window.ended:
            return NEED_MORE
        if turn.is_complete:
            close_at(turn, pos, text[pos:])
        else:
            break_wrappers(turn, CUT_OFF)
        return GO_ON
    patterns = turn.grammar.inside.get(text[at], A_CALL)
    match = (patterns.ended if window.ended else patterns.going)(text, at)
    if match is None:
        return read_other(turn, wrapper, patterns, at)
    if match.lastgroup == "more":
        return NEED_MORE
    if at > pos:
        turn.queue.append(text[pos:at])
        window.pos = at
    return follow(turn, wrapper, match, at)


def read_near_limit(turn: Turn) -> Step:
    """Read what follows in a wrapper, with no more of it than a stream sees that holds back no more (rule 14)."""
    with turn.window.cut_at(turn.latest_end + 1):
        step = read_wrapper(turn)
    if step is NEED_MORE:
        break_too_long(turn)
    return GO_ON


def wait_or_end(turn: Turn, at: int) -> Step:
    """Take delimiters up to an index at which the text ends, and the end of the output, if that has come."""
    window = turn.window
    if at > window.pos:
        turn.queue.append(window.text[window.pos : at])
        window.pos = at
    if not window.ended:
        return NEED_MORE
    end_wrappers(turn)
    return GO_ON


def read_other(turn: Turn, wrapper: Wrapper, patterns: Patterns, at: int) -> Step:
    """Read what the wrapper cannot hold: it breaks, unless the output ends within what closes it.

    Args:
        turn: the turn, in which delimiters may stand before it.
        wrapper: the innermost wrapper.
        patterns: what may begin with its first character.
        at: its index.
    """
    window = turn.window
    text, pos = window.text, window.pos
    if window.ended and is_cut_off(turn, wrapper, at) and turn.is_complete:
        close_at(turn, pos, text[pos:])
        return GO_ON
    begins = None if turn.is_complete or not window.ended else patterns.going(text, at)
    is_begun = begins is not None and begins.lastgroup == "more"
    return break_unless_surplus(turn, wrapper, pos, is_cut_off=is_begun)


def is_cut_off(turn: Turn, wrapper: Wrapper, at: int) -> bool:
    """Return whether the text ends, so far, within what closes the wrapper."""
    closing, text = wrapper.closing, turn.window.text
    return wrapper.has_call and len(text) - at < len(closing) and closing.startswith(text[at:])


def break_unless_surplus(turn: Turn, wrapper: Wrapper, pos: int, *, is_cut_off: bool = False) -> Step:
    """Break the wrapper at what is nothing that it may hold, unless that is one bracket too many."""
    skipped = skip_surplus_inside(turn, wrapper, pos)
    if skipped is None:
        return NEED_MORE
    if not skipped:
        break_wrappers(turn, CUT_OFF if is_cut_off else HOLDS_OTHER)
    return GO_ON


def follow(turn: Turn, wrapper: Wrapper, match: re.Match[str], at: int) -> Step:
    """Go on in a wrapper with what stands at an index of the window."""
    kind = match.lastgroup or ""
    if kind == "end":
        return read_closing(turn, wrapper, match["end"], at)
    if kind == "call":
        begin_call_inside(turn, wrapper, match, at)
    else:
        format_ = turn.grammar.formats[kind]
        _TAKE.get(format_.kind, take_opening)(turn, wrapper, format_, match)
    return GO_ON


def take_object(turn: Turn, wrapper: Wrapper, _: WireFormat, match: re.Match[str]) -> None:
    """Begin an object of JSON, if it is read there: one in a tag that names the tool."""
    if (wrapper.kind is NAMED and wrapper.has_call) or not (turn.grammar.json or is_in_tag(turn)):
        break_wrappers(turn)
    else:
        begin_json(turn, match.start())


def take_literal(turn: Turn, wrapper: Wrapper, _: WireFormat, match: re.Match[str]) -> None:
    """Begin a dict of Python, unless the arguments of a call are due."""
    if wrapper.kind is NAMED:
        break_wrappers(turn)
    else:
        begin_python(turn, PythonTokens(is_call=False), match.start())


def take_tag(turn: Turn, wrapper: Wrapper, format_: WireFormat, match: re.Match[str]) -> None:
    """Open a tag, or close one: after a call, the same tag once more closes it."""
    if wrapper.has_call and wrapper.opening in format_.closings:
        close(turn)
    else:
        take_opening(turn, wrapper, format_, match)


def take_opening(turn: Turn, wrapper: Wrapper, format_: WireFormat, match: re.Match[str]) -> None:
    """Open a wrapper, if one may stand there."""
    if is_misspelled_closing(turn, wrapper, match[0]):
        close_at(turn, match.start(), match[0])
    elif wrapper.kind is NAMED or (wrapper.kind in (LINE, SPAN) and wrapper.has_call):
        break_wrappers(turn)
    else:
        open_inside(turn, format_, match)


def is_misspelled_closing(turn: Turn, wrapper: Wrapper, written: str) -> bool:
    """Return whether this closes the tag of a declared tool as Llama misspells it, after a call."""
    is_declared_tag = wrapper.kind is NAMED and wrapper.name in turn.reader.declared
    return is_declared_tag and wrapper.has_call and written in MISSPELLED_CLOSINGS


def is_in_tag(turn: Turn) -> bool:
    """Return whether a tag that holds JSON is open, in which JSON is read whatever was asked for."""
    return any(one.kind is NAMED if one.tag is None else one.tag.holds_json for one in turn.wrappers)


def open_inside(turn: Turn, format_: WireFormat, match: re.Match[str]) -> None:
    """Open a wrapper in a wrapper."""
    kind, wrappers, at, end = format_.kind, turn.wrappers, match.start(), match.end()
    if len(wrappers) >= _MOST_WRAPPERS:
        break_wrappers(turn)
    elif kind is Kind.LIST:
        open_wrapper(turn, LIST, at, end, "]", None)
    elif kind is Kind.TAG and not any(wrapper.opening == match[0] for wrapper in wrappers):
        open_tag(turn, format_, at, match[0])
    elif (
        kind is not Kind.NAMED_TAG
        or any(wrapper.kind is NAMED for wrapper in wrappers)
        or not begin_named_tag(turn, format_, match)
    ):
        break_wrappers(turn)


def begin_call_inside(turn: Turn, wrapper: Wrapper, match: re.Match[str], at: int) -> None:
    """Begin a pythonic call in a wrapper: in a list whatever it names, elsewhere of a declared tool."""
    name = match["call"][:-1].rstrip(" \t")
    is_read = turn.grammar.pythonic and wrapper.kind is not NAMED
    if is_read and (wrapper.kind is LIST or tool_named(turn, name) is not None):
        begin_pythonic(turn, at, match.end("call") - 1, name)
    else:
        break_wrappers(turn)


def read_closing(turn: Turn, wrapper: Wrapper, written: str, at: int) -> Step:
    """Read what may close the wrapper."""
    window = turn.window
    if written != wrapper.closing:
        return read_other_closing(turn, wrapper, written, at)
    if not wrapper.has_call:
        close_empty(turn, wrapper, at)
        return GO_ON
    if wrapper.kind in (SPAN, BOLD):
        return close_at_line_end(turn, wrapper, at)
    if wrapper.kind is LIST and holds_pythonic(turn.queue) and len(turn.wrappers) == 1:
        is_code = goes_on_as_code(window.text, at + len(written), ended=window.ended)
        if is_code is None:
            return NEED_MORE
        if is_code:
            break_wrappers(turn, PART_OF_CODE)
            return GO_ON
    close_at(turn, at, written)
    return GO_ON


def read_other_closing(turn: Turn, wrapper: Wrapper, written: str, at: int) -> Step:
    """Read what does not close the wrapper as it should: one closing too many in it, or a misspelled one."""
    window, fresh = turn.window, turn.fresh
    if written == fresh.surplus and window.base + at == fresh.offset:
        turn.queue.append(written)
        window.pos = at + len(written)
    elif is_misspelled_closing(turn, wrapper, written):
        close_at(turn, at, written)
    else:
        return break_unless_surplus(turn, wrapper, at)
    return GO_ON


def close_at_line_end(turn: Turn, wrapper: Wrapper, at: int) -> Step:
    """Close a span or bold at an index, if its line ends there: else it is none that is a whole line."""
    window = turn.window
    after = _AFTER_LINE(window.text, at + len(wrapper.closing))
    if after is not None and after["more"] is not None and not window.ended:
        return NEED_MORE
    if after is None:
        break_wrappers(turn)
    elif is_too_long(turn, after.end()):
        break_too_long(turn)
    else:
        close_at(turn, at, wrapper.closing)
    return GO_ON


def close_empty(turn: Turn, wrapper: Wrapper, at: int) -> None:
    """Take a wrapper that closes around nothing: a call without arguments, if it names a tool that needs none."""
    name, window = wrapper.name, turn.window
    if wrapper.kind is not NAMED or name is None or wrapper.deviation is not None:
        break_wrappers(turn)
        return
    refusal = refuse_empty(name, turn.reader.tools)
    if refusal is None:
        held = Held(WrittenCall(name, {}, "{}"), wrapper.start, window.base + at, FORMAT, "")
        hold(turn, held)
        close_at(turn, at, wrapper.closing)
    elif name in turn.reader.declared:
        break_wrappers(turn, by_text=False)
        reject(turn, wrapper.start, window.base + at, refusal, is_meant=True)
    else:
        break_wrappers(turn)


def take_token(turn: Turn, wrapper: Wrapper, format_: WireFormat, match: re.Match[str]) -> None:
    """Take a protocol token in a wrapper: after a call it closes what is open, before one it is passed."""
    window, token, at = turn.window, match[0], match.start()
    if wrapper.has_call and wrapper.kind is SPAN:
        break_wrappers(turn)
    elif wrapper.has_call:
        while turn.wrappers:  # close() sets has_call of the next one out
            close(turn)
    elif format_.kind is Kind.OTHER_TURN or wrapper.kind is not TAG:
        break_wrappers(turn)
    else:
        turn.queue.append(Token(token))
        window.pos = at + len(token)


def take_fence(turn: Turn, wrapper: Wrapper, _: WireFormat, match: re.Match[str]) -> None:
    """Take a fence in a wrapper: it opens one in a tag, or closes one that fails."""
    ticks = match["ticks"] or match["fence"]
    info = (match["info"] or "").lower()
    fences = [one for one in turn.wrappers if one.kind is FENCE]
    is_in_fence, is_closing = bool(fences), not info and any(ticks.startswith(one.closing) for one in fences)
    if (is_in_fence and not is_closing) or wrapper.kind is NAMED:
        break_wrappers(turn)
    elif match["ticks"] is None or wrapper.has_call or is_closing or info not in WORDS or wrapper.kind is LIST:
        break_wrappers(turn, FENCE_ENDS if is_closing else HOLDS_OTHER)
    else:
        open_wrapper(turn, FENCE, match.start(), match.end(), ticks, "fence", name=info)


def close_line(turn: Turn) -> bool | None:
    """Close a line of pythonic calls if it ends here, after a call.

    Returns:
        Whether the line was closed, or was too long; `None` if it takes more text to know.
    """
    window = turn.window
    match = _LINE_END(window.text, window.pos)
    if match is None or not turn.queue or not isinstance(turn.queue[-1], Held):
        return False  # after a delimiter, another call has to follow
    if match["more"] is not None and not window.ended:
        return None
    if is_too_long(turn, match.end()):
        break_too_long(turn)
        return True
    if match["more"]:
        return False
    close(turn)
    return True


def skip_surplus_inside(turn: Turn, wrapper: Wrapper, pos: int) -> bool | None:
    """Skip one bracket too many directly after a call, before what closes the wrapper (rule 9).

    Returns:
        Whether there was one; `None` if it takes more text to know.
    """
    window = turn.window
    text = window.text
    is_after_call = bool(turn.queue) and isinstance(turn.queue[-1], Held)
    if not is_after_call or wrapper.kind in _WITHOUT_SURPLUS or text[pos : pos + 1] not in ("}", "]", ">"):
        return False
    rest = text[pos + 1 : pos + _FAR].lstrip()
    closings = (wrapper.closing, "<|") if wrapper.closing else ("<|",)
    if not rest.startswith(closings) and (rest or not window.ended):
        is_open = not window.ended and any(closing.startswith(rest) for closing in closings)
        return None if is_open else False
    turn.queue.append(text[pos])
    window.pos = pos + 1
    return True


def end_wrappers(turn: Turn) -> None:
    """Take the end of the output: what is open around calls is closed, if the model ended its turn."""
    while turn.wrappers and turn.wrappers[-1].has_call and (turn.is_complete or turn.wrappers[-1].kind is LINE):
        close(turn)
    if turn.wrappers:
        break_wrappers(turn, HOLDS_OTHER if turn.is_complete else CUT_OFF)


_TAKE: dict[Kind, Callable[[Turn, Wrapper, WireFormat, re.Match[str]], None]] = {
    Kind.OBJECT: take_object,
    Kind.LITERAL: take_literal,
    Kind.TAG: take_tag,
    Kind.TOKEN: take_token,
    Kind.OTHER_TURN: take_token,
    Kind.FENCE: take_fence,
}
"""What each kind of format does where it begins in a wrapper; what is not listed opens one, or breaks it."""
