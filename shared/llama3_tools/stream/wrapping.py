"""Wrappers: how they open, how they close, and what becomes of what they hold if they fail (rules 2 and 9)."""

from __future__ import annotations

import re

from llama3_tools.calls.shapes import WrittenCall
from llama3_tools.formats.base import WireFormat
from llama3_tools.formats.fences import LISTINGS, end_of_fence
from llama3_tools.formats.function_tag import CLOSING, FORMAT, MISSPELLED_CLOSINGS, named_in
from llama3_tools.formats.quotations import end_of_quote, end_of_tag
from llama3_tools.limits import too_many
from llama3_tools.literals.json_object import parse_whole
from llama3_tools.literals.refusal import Refusal
from llama3_tools.stream.broken import BrokenBrackets, TextTag
from llama3_tools.stream.candidate import Code
from llama3_tools.stream.content import Token
from llama3_tools.stream.delimiters import DELIMITERS
from llama3_tools.stream.quotation import open_quotation
from llama3_tools.stream.rejections import IN_SPAN
from llama3_tools.stream.states import IN_CANDIDATE, IN_CODE, IN_PROSE, IN_WRAPPER
from llama3_tools.stream.turn import (
    Quotation,
    Turn,
    is_data_at,
    made_of,
    make,
    make_bare,
    put_text,
    put_up_to,
    reject,
    take_made,
)
from llama3_tools.stream.wrappers import (
    CODE,
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
    Failure,
    Held,
    Queue,
    Wrapper,
    WrapperKind,
    count_of,
    first_name,
    format_in,
    text_of,
)
from llama3_tools.values import RejectionReason, ToolCall

__all__ = [
    "begin_code",
    "begin_named_tag",
    "break_too_long",
    "break_wrappers",
    "close",
    "close_at",
    "hold",
    "holds_call",
    "holds_pythonic",
    "open_tag",
    "open_wrapper",
    "pass_quoted",
    "reject_tag",
]

_DELIMITING = frozenset(",;\n")
_BRACE = re.compile(r"\s*\{").match
_XML_ARGUMENT = re.compile(r"\s*(?=<[ap])").match
"""`<parameter=…>`, `<param …>` or `<arg …>`, as far as it has to have come when the tag around it breaks."""


def open_wrapper(  # noqa: PLR0913, PLR0917 (what a wrapper is)
    turn: Turn,
    kind: WrapperKind,
    start: int,
    end: int,
    closing: str,
    format_: str | None,
    name: str | None = None,
    deviation: str | None = None,
    *,
    is_for_calls: bool = False,
    tag: WireFormat | None = None,
) -> None:
    """Open a wrapper between two indexes of the window, unless it is quoted."""
    window, queue = turn.window, turn.queue
    if not turn.wrappers:
        put_up_to(turn, start)
        why = turn.line.quotation(turn.reader.declared)
        if why is not None:
            if kind is NAMED:
                turn.rejections.add_quoted(window.offset, window.base + end, why, name)
            pass_quoted(turn, end, closing, why)
            return
        if turn.broken.values_are_data and kind is LIST and is_data_at(turn, window.base + start):
            put_up_to(turn, end)
            return
    offset, opening = window.base + start, window.text[start:end]
    if not turn.wrappers:
        turn.latest_end = offset + turn.limits.max_call_length
    turn.wrappers.append(
        Wrapper(kind, offset, opening, closing, format_, len(queue), name, deviation, is_for_calls, tag)
    )
    if opening:
        queue.append(opening)
    window.pos = end
    turn.state = IN_WRAPPER


def open_tag(turn: Turn, tag: WireFormat, start: int, opening: str) -> None:
    """Open a tag at an index of the window."""
    is_for_calls, end = opening.startswith(tag.for_calls), start + len(opening)
    open_wrapper(turn, TAG, start, end, tag.closings[opening], tag.name, is_for_calls=is_for_calls, tag=tag)


def hold(turn: Turn, held: Held) -> None:
    """Let a call wait for the wrappers around it."""
    turn.queue.append(held)
    turn.wrappers[-1].has_call = True
    if turn.repeats is not None:
        turn.repeats.hold(held, turn.queue)


def pass_quoted(turn: Turn, end: int, closing: str, why: str) -> None:
    """Pass the opening of a wrapper that is quoted; what stands in one between quotation marks is quoted, too."""
    window = turn.window
    quote = turn.line.text[-1:]
    put_text(turn, window.offset, window.text[window.pos : end])
    window.pos = end
    if quote in ("'", '"'):
        open_quotation(turn, Quotation(end_of_quote(closing, quote), window.offset, why))


def close_at(turn: Turn, at: int, closing: str) -> None:
    """Close the innermost wrapper with what stands at an index."""
    window = turn.window
    turn.queue.append(closing)
    window.pos = at + len(closing)
    close(turn)


def close(turn: Turn) -> None:
    """Close the innermost wrapper: it vanishes. The calls are made once none is open."""
    window, queue = turn.window, turn.queue
    end = window.base + window.pos
    if end > turn.latest_end or turn.is_broken_off:
        break_wrappers(turn, by_text=False)
        return
    wrapper = turn.wrappers.pop()
    if wrapper.kind is NAMED:
        close_named(turn, wrapper)
    if turn.wrappers:
        for held in queue[wrapper.first :]:
            if type(held) is Held and not held.is_closed:
                held.is_closed, held.format = True, format_in(held, wrapper)
        turn.wrappers[-1].has_call = True
    else:
        turn.queue, turn.state = [], IN_PROSE
        waiting = [part for part in queue if type(part) is Held]
        if reject_excess(turn, waiting):
            put_queue(turn, queue, wrapper.start)
            return
        try:
            made: list[ToolCall | str] = []
            for held in waiting:
                made += made_of(turn, held, format_in(held, wrapper))
        except BaseException:  # of id_factory
            put_queue(turn, queue, wrapper.start)
            raise
        take_made(turn, waiting[-1].end, made)
    closing = wrapper.closing if wrapper.tag is None else wrapper.tag.surplus.get(wrapper.closing, wrapper.closing)
    turn.fresh.after_wrapper(end, closing)


def reject_excess(turn: Turn, waiting: list[Held]) -> bool:
    """Report the calls of a wrapper, if the turn may not have so many more (rule 14); return whether it may not."""
    count = sum([count_of(held.found) for held in waiting])
    if len(turn.content.tool_calls) + count <= turn.limits.max_calls:
        return False
    for held in waiting:
        reject(turn, held.start, held.end, Refusal(*too_many(turn.limits), first_name(held.found)))
    return True


def put_queue(turn: Turn, queue: Queue, start: int) -> None:
    """Let all that the wrappers hold be text, which begins at an offset."""
    put_text(turn, start, text_of(queue))


def close_named(turn: Turn, wrapper: Wrapper) -> None:
    """Extend the span of the call to the whole tag."""
    queue = turn.queue
    index = next(i for i in range(wrapper.first, len(queue)) if isinstance(queue[i], Held))
    held = queue[index]
    assert isinstance(held, Held)  # noqa: S101  # as it was looked for
    held.text = text_of(queue[wrapper.first :])
    closing = queue[-1] if wrapper.closing and len(queue) > index + 1 else ""
    if closing in MISSPELLED_CLOSINGS and isinstance(held.found, WrittenCall):
        deviation = f"the tag is closed by {closing}"
        held.found = held.found._replace(deviations=(*held.found.deviations, deviation))
    held.start, held.end = wrapper.start, turn.window.offset if wrapper.closing else held.end
    queue[wrapper.first :] = [held]


def break_wrappers(turn: Turn, why: Failure = HOLDS_OTHER, *, by_text: bool = True) -> None:
    """Turn to prose: let the wrappers be text, if any are open, and read what they hold as if it stood bare.

    Args:
        turn: the turn.
        why: why they are text.
        by_text: whether text breaks them, which may then be code, or a listing of it. `False` if they are too long, or
            if a rejected candidate breaks them; but `True` if that is the first thing in a fence, and no attempt.
    """
    if not turn.wrappers:
        turn.state = IN_PROSE
        return
    outer, inner = turn.wrappers[0], turn.wrappers[-1]
    if outer.kind is CODE and by_text and (not holds_call(turn.queue) or holds_pythonic(turn.queue)):
        begin_code(turn)
        return
    wrappers, queue = leave_wrappers(turn)
    if outer.kind is CODE:
        turn.fresh.after_token(outer.start + len(outer.opening), outer.opening)
    holds_no_object = inner.kind is NAMED and by_text and not inner.has_call
    if holds_no_object and inner.name in turn.reader.declared:
        turn.text_tag = TextTag(inner.start, inner.name or "")
        turn.broken = turn.broken.and_tag()
    fence = next((one for one in wrappers if one.kind is FENCE), None)
    may_be_code = by_text and ((inner is fence and not inner.has_call) or holds_pythonic(queue))
    is_listing = may_be_code and why is not FENCE_ENDS and may_be_listing(turn, fence)
    if fence is not None:
        open_fence(turn, fence, is_listing=is_listing and why is not CUT_OFF)
    mark_delimited(turn, queue, by_text=by_text)
    deal_out(turn, wrappers, queue, why, is_listing=is_listing)
    if by_text and inner.kind is not NAMED and any(one.is_for_calls for one in wrappers) and not holds_call(queue):
        reject_brace(turn, outer.start, why)
    if any(one.kind is LIST for one in wrappers) and turn.pythonic_tools and not has_ended_line(queue):
        turn.brackets = BrokenBrackets(is_list=True)
    if holds_no_object and inner.closing:
        quote_arguments(turn, inner)


def reject_brace(turn: Turn, start: int, why: Failure) -> None:
    """Report a brace that begins no object, after what its only use is calls (rule 15)."""
    window = turn.window
    brace = _BRACE(window.text, window.pos)
    if brace is not None and turn.quotation is None and turn.line.quotation(turn.reader.declared) is None:
        end = window.base + brace.end()
        reason = RejectionReason.TRUNCATED if why is CUT_OFF else RejectionReason.MALFORMED
        reject(turn, start, end, Refusal(reason, f"expected an object of JSON at offset {end - 1}"), is_meant=True)


def reject_tag(turn: Turn, tag: TextTag | Wrapper, end: int) -> None:
    """Report a tag that names the tool, up to an offset: it holds no object (rule 15)."""
    refusal = Refusal(RejectionReason.MALFORMED, "expected an object in the tag", tag.name)
    reject(turn, tag.start, end, refusal, is_meant=True)


def quote_arguments(turn: Turn, tag: Wrapper) -> None:
    """Let arguments in XML be quotation: without it, a call in `<parameter=text>…</parameter>` would run."""
    window = turn.window
    argument = None if "broken_data" in turn.grammar.off else _XML_ARGUMENT(window.text, window.pos)
    if argument is not None and turn.quotation is None:
        turn.text_tag = None
        reject_tag(turn, tag, window.base + argument.end())
        open_quotation(turn, Quotation(end_of_tag(CLOSING), window.offset, "in a tag with arguments in XML"))


def break_too_long(turn: Turn) -> None:
    """Let the wrappers be text, as they are too long; a candidate in them is read on as if it stood bare (rule 14)."""
    break_wrappers(turn, by_text=False)
    if turn.candidate is not None:
        turn.state = IN_CANDIDATE


def has_ended_line(queue: Queue) -> bool:
    """Return whether a line break stands after the last call that waits."""
    for part in reversed(queue):
        if isinstance(part, Held):
            break
        if "\n" in part:
            return True
    return False


def deal_out(turn: Turn, wrappers: list[Wrapper], queue: Queue, why: Failure, *, is_listing: bool) -> None:
    """Take what wrappers held that are text as if it stood bare."""
    is_span = any(one.kind is SPAN for one in wrappers)
    start = wrappers[0].start
    for place, part in enumerate(queue):
        if isinstance(part, Held):
            wrapper = next((one for one in reversed(wrappers) if one.first <= place), wrappers[0])
            try:
                unwrap(turn, part, wrapper, why, is_quoted=is_span, is_listing=is_listing)
            except BaseException:  # of id_factory
                put_queue(turn, queue[place + 1 :], part.start + len(part.text))
                raise
            start = part.start + len(part.text)
            continue
        if type(part) is Token or part.startswith("<|"):
            turn.content.token(part)
        else:
            put_wrapper(turn, start, part)
        start += len(part)


def open_fence(turn: Turn, fence: Wrapper, *, is_listing: bool) -> None:
    """Let the fence of a wrapper be text, which the next fence closes; or quotation, if code is listed in it."""
    if not is_listing:
        turn.fence_is_open = True
        return
    start = fence.start + len(fence.opening)
    open_quotation(turn, Quotation(end_of_fence(len(fence.closing)), start, "in a listing of code"))


def may_be_listing(turn: Turn, fence: Wrapper | None) -> bool:
    """Return whether there is a fence in which code may stand: unnamed or `python`, and its first line is its own."""
    is_open = fence is not None and fence.name in LISTINGS and fence.opening.endswith("\n")
    return is_open and "listing" not in turn.grammar.off


def mark_delimited(turn: Turn, queue: Queue, *, by_text: bool) -> None:
    """Say of each call that waits whether a delimiter or a line break follows it, or something else than text."""
    gap = DELIMITERS.match(turn.window.text, turn.window.pos)
    is_delimited = not by_text or (gap is not None and not _DELIMITING.isdisjoint(gap[0]))
    for part in reversed(queue):
        if isinstance(part, Held):
            part.is_delimited = is_delimited or part.is_closed
            is_delimited = not _DELIMITING.isdisjoint(part.text)
        else:
            is_delimited = is_delimited or not _DELIMITING.isdisjoint(part)


def put_wrapper(turn: Turn, start: int, text: str) -> None:
    """Put the text of a wrapper that failed, which begins at an offset."""
    if turn.quotation is not None and start >= turn.quotation.start:
        turn.quotation.pieces.add(text)
    put_text(turn, start, text)


def leave_wrappers(turn: Turn) -> tuple[list[Wrapper], Queue]:
    """Leave all wrappers, and return them with what they hold."""
    left = turn.wrappers, turn.queue
    turn.wrappers, turn.queue, turn.state = [], [], IN_PROSE
    turn.fresh.surplus = None
    return left


def holds_call(queue: Queue) -> bool:
    """Return whether a call waits."""
    return any(isinstance(part, Held) for part in queue)


def holds_pythonic(queue: Queue) -> bool:
    """Return whether a pythonic call waits."""
    return any(isinstance(part, Held) and part.format == "pythonic" for part in queue)


def unwrap(  # noqa: PLR0913 (what is known of it)
    turn: Turn, held: Held, wrapper: Wrapper, why: Failure, *, is_quoted: bool, is_listing: bool
) -> None:
    """Take a call out of wrappers that are text.

    Args:
        turn: the turn.
        held: the call.
        wrapper: the wrapper directly around it.
        why: why they are text.
        is_quoted: whether one of them is a code span.
        is_listing: whether one is a fence in which code may stand.
    """
    name = first_name(held.found)
    is_pythonic, is_cut_off = held.format == "pythonic", why is CUT_OFF
    is_in_line = wrapper.kind is LINE
    if turn.quotation is not None:
        put_wrapper(turn, held.start, held.text)
    elif turn.is_broken_off:
        make(turn, held)  # which reports it
    elif is_quoted:
        turn.rejections.add_quoted(held.start, held.end, IN_SPAN, name)
        put_text(turn, held.start, held.text)
    elif is_cut_off and (is_listing or (is_pythonic and not is_in_line)):  # what follows might have made it code
        refusal = Refusal(RejectionReason.TRUNCATED, "the output ends inside the wrapper around it", name)
        reject(turn, held.start, held.end, refusal, is_meant=True)
        put_text(turn, held.start, held.text)
    elif why is PART_OF_CODE:
        reject_as_code(turn, held, "a list that is a part of code")
    elif is_pythonic and (not held.is_delimited or (is_in_line and not held.is_closed)):
        reject_as_code(turn, held, "the line goes on after it, as prose or as code")
    elif wrapper.kind is NAMED and not held.is_closed:
        unwrap_named(turn, held, wrapper, is_cut_off=is_cut_off)
    elif held.format == "json" and not held.is_closed:
        make_bare(turn, held)
        turn.fresh.surplus = None
    else:
        make(turn, held)


def reject_as_code(turn: Turn, held: Held, detail: str) -> None:
    """Report what is written as a call, but is none."""
    refusal = Refusal(RejectionReason.NOT_A_CALL, detail, first_name(held.found))
    reject(turn, held.start, held.end, refusal)
    put_text(turn, held.start, held.text)


def unwrap_named(turn: Turn, held: Held, wrapper: Wrapper, *, is_cut_off: bool) -> None:
    """Take what stands in a tag that does not close: a call in it counts, arguments do not."""
    parsed = parse_whole(held.text)
    found = turn.reader.read(parsed) if parsed and not is_cut_off else None
    if found is not None and not isinstance(found, Refusal):
        held.found = found
        make_bare(turn, held)
        return
    reason = RejectionReason.TRUNCATED if is_cut_off else RejectionReason.MALFORMED
    refusal = Refusal(reason, f"expected {wrapper.closing or 'the end of the line'} at offset {held.end}", wrapper.name)
    reject(turn, wrapper.start, held.end, refusal, is_meant=True)
    put_text(turn, held.start, held.text)


def begin_code(turn: Turn, read: str = "") -> None:
    """Take what follows <|python_tag|>, and is no call in another form, as code.

    Args:
        turn: the turn.
        read: what was read of it, and waits in no queue.
    """
    wrappers, queue = leave_wrappers(turn)
    tag = wrappers[0]
    turn.content.token(tag.opening)
    turn.code = Code(tag.start + len(tag.opening))
    turn.code.kept.add(text_of(queue[1:]) + read)
    turn.state = IN_CODE


def begin_named_tag(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Open a tag that names the tool, unless it is misspelt and no tools are known; return whether it was opened."""
    name, deviation = named_in(match)
    if deviation is not None and turn.reader.tools is None and not turn.reader.lenient:
        return False
    open_wrapper(
        turn, NAMED, match.start(), match.end(), CLOSING, FORMAT, name=name, deviation=deviation, is_for_calls=True
    )
    return True
