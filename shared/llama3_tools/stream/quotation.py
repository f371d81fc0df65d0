"""Quotation: text that flows on to what closes it, and in which nothing is called (rule 9)."""

from __future__ import annotations

from llama3_tools.stream.quoted import find_quoted
from llama3_tools.stream.states import GO_ON, IN_PROSE, IN_QUOTATION, NEED_MORE, Step
from llama3_tools.stream.turn import Quotation, Turn, put_text
from llama3_tools.text.growing_text import GrowingText

__all__ = ["end_quotation", "open_quotation", "read_quotation"]

_MOST_QUOTED = 65536


def open_quotation(turn: Turn, quotation: Quotation) -> None:
    """Open quotation."""
    turn.quotation = quotation
    if quotation.is_split:
        turn.content.begin_thought()
    turn.state = IN_QUOTATION


def read_quotation(turn: Turn) -> Step:
    """Let text flow up to what closes the quotation."""
    window, quotation = turn.window, turn.quotation
    assert quotation is not None  # noqa: S101  # the state says so
    if quotation.opening and skip_opening(turn, quotation) is NEED_MORE:
        return NEED_MORE
    text, pos = window.text, window.pos
    match = (quotation.closing.ended if window.ended else quotation.closing.going).search(text, pos)
    end = len(text) if match is None else match.start()
    take_quoted(turn, quotation, text[pos:end])
    if match is None or match.lastgroup == "more":
        return NEED_MORE
    end_quotation(turn)
    if not quotation.is_split:
        put_text(turn, window.offset, match[0])
    window.pos = match.end()
    turn.fresh.begin_at(window.offset)
    turn.state = IN_PROSE
    return GO_ON


def take_quoted(turn: Turn, quotation: Quotation, piece: str) -> None:
    """Let the next piece of quotation flow, and keep it to be searched."""
    window = turn.window
    if not piece:
        return
    if quotation.is_split:
        turn.content.reasoning(piece)
        if turn.trace is not None:
            turn.trace.append((window.offset, window.offset + len(piece), True))
    else:
        put_text(turn, window.offset, piece)
    window.pos += len(piece)
    quotation.pieces.add(piece)
    while quotation.pieces.length > _MOST_QUOTED:
        text = quotation.pieces.joined()
        search_quoted(turn, quotation, text[:_MOST_QUOTED])
        quotation.pieces = GrowingText(text[_MOST_QUOTED:])


def search_quoted(turn: Turn, quotation: Quotation, text: str) -> None:
    """Report the calls in what was quoted."""
    for start, end, name in find_quoted(text, turn.reader) if turn.grammar.calls else ():
        turn.rejections.add_quoted(quotation.start + start, quotation.start + end, quotation.why, name)
    quotation.start += len(text)


def end_quotation(turn: Turn) -> None:
    """End the quotation that is open, and report the calls in it."""
    quotation, turn.quotation = turn.quotation, None
    if quotation is not None:
        search_quoted(turn, quotation, quotation.pieces.joined())


def skip_opening(turn: Turn, quotation: Quotation) -> Step:
    """Skip the opening tag that the model writes although the prompt ended with it."""
    window = turn.window
    rest = window.text[window.pos :].lstrip()
    if not window.ended and len(rest) < len(quotation.opening) and quotation.opening.startswith(rest):
        return NEED_MORE
    if rest.startswith(quotation.opening):
        window.pos = len(window.text) - len(rest) + len(quotation.opening)
    quotation.opening = ""
    return GO_ON
