"""Candidates: JSON objects, dicts of Python and pythonic calls, from their bracket to their end (rules 1, 6, 11)."""

from __future__ import annotations

from llama3_tools.calls.attempts import attempted_name, has_call_keys
from llama3_tools.calls.reader import Found
from llama3_tools.calls.repair import Mending
from llama3_tools.calls.shapes import WrittenCall, read_call, refuse_empty
from llama3_tools.formats.protocol_tokens import PYTHON_TAG
from llama3_tools.formats.pythonic import METHOD, arguments_in_json
from llama3_tools.literals.json_object import NO_JSON_VALUE, JsonObject, parse_object, parse_whole
from llama3_tools.literals.json_tokens import JsonTokens
from llama3_tools.literals.python_tokens import PythonTokens
from llama3_tools.literals.refusal import Refusal
from llama3_tools.stream.broken import NOTHING_BROKE, BrokenBrackets
from llama3_tools.stream.candidate import Candidate
from llama3_tools.stream.place import ORDINARY, Place
from llama3_tools.stream.states import GO_ON, IN_CANDIDATE, IN_PROSE, IN_REPAIR, IN_WRAPPER, NEED_MORE, Step
from llama3_tools.stream.turn import (
    PART_OF_BROKEN,
    Turn,
    is_data_at,
    is_element_of_data,
    is_in_brackets,
    is_too_long,
    let_go,
    make_bare,
    put_text,
    tool_named,
)
from llama3_tools.stream.window import LOOK_BEHIND
from llama3_tools.stream.wrappers import (
    CODE,
    CUT_OFF,
    FENCE,
    HOLDS_OTHER,
    LINE,
    LIST,
    NAMED,
    Held,
    Wrapper,
    first_name,
)
from llama3_tools.stream.wrapping import begin_code, break_too_long, break_wrappers, close, hold, holds_call
from llama3_tools.values import RejectionReason

__all__ = ["begin_json", "begin_python", "begin_pythonic", "let_flow", "read_candidate", "read_repair"]

_FAILURES = 16
"""After so many failures of the scanner in C, only the token reader reads: each failure may cost a look at all text."""

_SINGLE_QUOTES = Refusal(RejectionReason.MALFORMED, "keys and strings have to stand in double quotes, as in JSON")
_FAR_AFTER_TOKEN = 64


def note_place(turn: Turn, at: int) -> None:
    """Note what stands before a candidate: it may have left the window by the time the candidate ends."""
    if turn.fresh.token is None and turn.broken is NOTHING_BROKE and turn.data_end is None:
        turn.place = ORDINARY
        return
    window, fresh = turn.window, turn.fresh
    after = fresh.offset - window.base
    is_near = fresh.token == PYTHON_TAG and at - after <= _FAR_AFTER_TOKEN
    is_after_python_tag = is_near and not window.text[after:at].strip()
    is_data = not turn.wrappers and (
        (turn.broken.values_are_data and is_data_at(turn, window.base + at)) or is_element_of_data(turn, at)
    )
    turn.place = Place(is_after_python_tag, is_data)


def begin_json(turn: Turn, at: int) -> None:
    """Read an object of JSON: by the scanner in C if that can, or else token by token."""
    window = turn.window
    text = window.text
    note_place(turn, at)
    if turn.failures < _FAILURES and text.find("}", at) > 0:
        parsed = parse_object(text, at)
        start = turn.wrappers[0].start if turn.wrappers else window.base + at
        if parsed is not None and window.base + parsed.end - start <= turn.limits.max_call_length:
            window.pos = parsed.end
            end_json(turn, parsed, window.base + at)
            return
        turn.failures += parsed is None
    hold_candidate(turn, JsonTokens(), at)


def begin_pythonic(turn: Turn, start: int, at: int, name: str) -> None:
    """Read a pythonic call from its parenthesis on."""
    window = turn.window
    tokens = PythonTokens(as_they_are=name.endswith(METHOD))
    begin_python(turn, tokens, start, name).kept.add(window.text[start:at])
    window.pos = at


def begin_python(turn: Turn, tokens: PythonTokens, at: int, name: str | None = None) -> Candidate:
    """Begin to read a dict of Python, or a pythonic call, at an index of the window; return the candidate."""
    note_place(turn, at)
    return hold_candidate(turn, tokens, at, name)


def hold_candidate(turn: Turn, tokens: JsonTokens | PythonTokens, at: int, name: str | None = None) -> Candidate:
    """Begin to read token by token what stands at an index of the window; return the candidate."""
    window = turn.window
    before = window.text[max(at - LOOK_BEHIND, 0) : at]
    tag = turn.wrappers[-1].name if turn.wrappers and turn.wrappers[-1].kind is NAMED else None
    turn.candidate = candidate = Candidate(tokens, window.base + at, before, name=name, tag=tag)
    turn.state = IN_CANDIDATE
    window.pos = at
    return candidate


def read_candidate(turn: Turn) -> Step:
    """Read on token by token, up to where the candidate ends or breaks."""
    window, candidate = turn.window, turn.candidate
    assert candidate is not None  # noqa: S101  # the state says so
    tokens, text, pos = candidate.tokens, window.text, window.pos
    window.pos = end = tokens.read(text, pos, window.base, ended=window.ended)
    if candidate.flows:
        put_text(turn, window.base + pos, text[pos:end])
    else:
        candidate.kept.add(text[pos:end])
    if not tokens.is_complete and tokens.refusal is None:
        return NEED_MORE
    if turn.wrappers and is_too_long(turn, window.pos):
        break_too_long(turn)
    if not candidate.flows and window.offset - candidate.start > turn.limits.max_call_length:
        let_flow(turn, candidate)
    turn.candidate = None
    end_candidate(turn, candidate)
    return GO_ON


def end_candidate(turn: Turn, candidate: Candidate) -> None:
    """Take a candidate that ended or broke."""
    tokens = candidate.tokens
    if tokens.refusal is not None:
        if not begin_mending(turn, candidate, tokens.refusal):
            give_up(turn, candidate, tokens.refusal)
    elif candidate.flows:
        turn.state = IN_PROSE
    elif isinstance(tokens, JsonTokens):
        whole = candidate.text
        parsed = parse_object(whole, 0, checked=True)
        if parsed is not None:
            end_json(turn, parsed, candidate.start)
        else:
            refuse(turn, Refusal(RejectionReason.MALFORMED, NO_JSON_VALUE), candidate.start, whole, candidate)
    elif candidate.is_pythonic:
        end_pythonic(turn, candidate, tokens, candidate.text)
    else:
        end_literal(turn, candidate, tokens, candidate.text)


def begin_mending(turn: Turn, candidate: Candidate, refusal: Refusal) -> bool:
    """Begin to find out what malformed JSON was meant to be, if that is asked for."""
    start = candidate.start
    if not turn.reader.repair or candidate.is_pythonic or candidate.flows or start < turn.unrepairable_to:
        return False
    before = "" if turn.wrappers else candidate.before
    outer = turn.wrappers[0].start if turn.wrappers else start
    length = turn.limits.max_call_length - (start - outer)
    mending = Mending(
        turn.reader, start, before, name=candidate.tag, is_after_call=turn.content.is_after_call, length=length
    )
    turn.mending = mending, candidate, refusal
    turn.window.rewind(start, candidate.text, 0, candidate.before)
    turn.state = IN_REPAIR
    return True


def read_repair(turn: Turn) -> Step:
    """Read on in what may be mended."""
    window = turn.window
    assert turn.mending is not None  # noqa: S101  # the state says so
    mending, candidate, refusal = turn.mending
    mended = mending.read(window.text, window.pos, ended=window.ended)
    if mended is None:
        return NEED_MORE
    turn.mending = None
    is_repeated = mended and turn.repeats and turn.repeats.have(mended.found, turn.content.tool_calls, turn.queue)
    if mended and not is_repeated:
        window.pos += len(mended.text)
        format_ = "json" if isinstance(mended.found, WrittenCall) else "envelope"
        end = candidate.start + len(mended.text)
        wrapper = turn.wrappers[-1] if turn.wrappers else None
        if wrapper is not None and wrapper.deviation is not None and isinstance(mended.found, WrittenCall):
            mended = mended._replace(found=mended.found._replace(deviations=(wrapper.deviation,)))
        add_call(turn, Held(mended.found, candidate.start, end, format_, mended.text, mended.text))
        return GO_ON
    turn.unrepairable_to = mending.reached
    window.pos += candidate.kept.length
    if isinstance(candidate.tokens, PythonTokens) and candidate.tokens.is_complete:
        refuse_literal(turn, candidate, candidate.tokens, candidate.text)
    else:
        give_up(turn, candidate, refusal)
    return GO_ON


def let_flow(turn: Turn, candidate: Candidate) -> None:
    """Release the text of a candidate that is too long for a call: no wrapper around it is open any more (rule 14)."""
    written = candidate.text[: turn.limits.max_call_length]
    is_meant = has_call_keys(written) or candidate.is_pythonic
    let_go(turn, candidate, name_in(turn, candidate, written), is_meant=is_meant)


def name_in(turn: Turn, candidate: Candidate, written: str) -> str | None:
    """Return the name of the tool that a candidate seems to call."""
    if candidate.is_pythonic:
        return pythonic_name(turn, candidate)
    return candidate.tag or attempted_name(written)


def pythonic_name(turn: Turn, candidate: Candidate) -> str:
    """Return the name of the tool that a pythonic call means, or the name that is written if it means none."""
    name = candidate.name or ""
    return tool_named(turn, name) or name


def give_up(turn: Turn, candidate: Candidate, refusal: Refusal) -> None:
    """Go on after a candidate that broke: at the token that broke it (rule 6)."""
    window, tokens, start = turn.window, candidate.tokens, candidate.start
    turn.broken = turn.broken.and_candidate()
    if candidate.flows:
        turn.state = IN_PROSE
        return
    if refusal.reason is RejectionReason.TRUNCATED:
        candidate.kept.add(window.text[window.pos :])
        window.pos = len(window.text)
        at = candidate.kept.length
    else:
        at = tokens.resume - start
    whole = candidate.text
    window.rewind(start, whole, at, candidate.before)
    is_escaped = window.text.startswith("\\", window.pos)  # JSON within a string of JSON
    if isinstance(tokens, JsonTokens) and not tokens.has_key and not is_escaped and not is_for_calls(turn):
        break_wrappers(turn)  # a brace in prose
        put_text(turn, start, whole[:at])
        return
    if not candidate.is_pythonic:
        turn.broken = turn.broken.and_json()
    if isinstance(tokens, PythonTokens):  # how far a string was read that breaks depends on the chunks
        whole = whole[:at]
    refuse(turn, refusal, start, whole, candidate, length=at)


def end_json(turn: Turn, parsed: JsonObject, start: int) -> None:
    """Take an object that is complete: the machine stands after it."""
    wrapper = turn.wrappers[-1] if turn.wrappers else None
    found: Found | Refusal
    if wrapper is None:
        found = turn.reader.read(parsed)
    elif wrapper.kind is NAMED:
        found = read_arguments(turn, parsed, wrapper)
        if wrapper.deviation is not None and isinstance(found, Refusal):
            # A misspelt tag that fails is text: its object is read as a bare call.
            held = turn.reader.read(parsed)
            if not isinstance(held, Refusal):
                found = held
                break_wrappers(turn, by_text=False)
    else:
        found = turn.reader.read(parsed, tool_name=wrapper.tag is not None and wrapper.tag.reads_tool_name)
    if type(found) is Refusal:
        if not parsed.members and wrapper is None and not turn.place.is_after_python_tag:  # `{}` in prose
            put_text(turn, start, parsed.json)
            turn.state = IN_PROSE
            return
        refuse(turn, found, start, parsed.json)
        return
    format_ = "json" if type(found) is WrittenCall else "envelope"
    if type(found) is list and parsed.start:
        found = [
            part
            if isinstance(part, str)
            else part._replace(start=part.start - parsed.start, end=part.end - parsed.start)
            for part in found
        ]
    add_call(turn, Held(found, start, start + parsed.end - parsed.start, format_, parsed.json))  # type: ignore[arg-type]


def read_arguments(turn: Turn, parsed: JsonObject, wrapper: Wrapper) -> WrittenCall | Refusal:
    """Read the object in a tag that names the tool: the arguments, or the whole call once more."""
    name = wrapper.name or ""
    if parsed.flaw:
        return Refusal(RejectionReason.MALFORMED, parsed.flaw, name)
    tools, members = turn.reader.tools, parsed.members
    deviations = () if wrapper.deviation is None else (wrapper.deviation,)
    written = WrittenCall(name, members, parsed.json, deviations)
    held = read_call(parsed, tools) if "name" in members or "function" in members else None
    if isinstance(held, WrittenCall) and held.name == name:
        tool = turn.reader.declared.get(name)
        properties = (tool.parameters.get("properties") or {}) if tool else {}
        if members.keys().isdisjoint(properties):
            written = held._replace(deviations=(*deviations, "a whole call stands in the tag"))
    elif isinstance(held, Refusal) and held.reason is RejectionReason.CONFLICTING_ARGUMENTS:
        return held
    return turn.reader.checked(written)


def end_literal(turn: Turn, candidate: Candidate, tokens: PythonTokens, whole: str) -> None:
    """Take a dict of Python that is complete: no call unless it is repaired, but perhaps an attempt (rule 15)."""
    if not begin_mending(turn, candidate, _SINGLE_QUOTES):
        refuse_literal(turn, candidate, tokens, whole)


def refuse_literal(turn: Turn, candidate: Candidate, tokens: PythonTokens, whole: str) -> None:
    """Report a dict of Python, and what it seems to call."""
    parsed = parse_whole(tokens.positional[0])
    found = turn.reader.read(parsed) if parsed else None
    name = found.name if isinstance(found, Refusal) else first_name(found or [])
    detail = f"{_SINGLE_QUOTES.detail}, at offset {candidate.start + 1}"
    refuse(turn, Refusal(RejectionReason.MALFORMED, detail, name), candidate.start, whole)


def end_pythonic(turn: Turn, candidate: Candidate, tokens: PythonTokens, whole: str) -> None:
    """Take the arguments of a pythonic call that are complete."""
    name = pythonic_name(turn, candidate)
    tool = turn.reader.declared.get(name)
    json = arguments_in_json(tokens, tool)
    found: WrittenCall | Refusal
    if isinstance(json, Refusal):
        found = json
    elif turn.broken.lines_are_data or is_in_brackets(turn):
        found = Refusal(RejectionReason.NOT_A_CALL, PART_OF_BROKEN)
    else:
        parsed = parse_object(json, 0, checked=True)
        assert parsed is not None  # noqa: S101  # the tokens are written as JSON
        if parsed.flaw:
            found = Refusal(RejectionReason.MALFORMED, parsed.flaw)
        else:
            found = turn.reader.checked(WrittenCall(name, parsed.members, json))
        is_line = turn.wrappers and turn.wrappers[-1].kind is LINE
        if is_line and not parsed.members and isinstance(found, WrittenCall):
            found = refuse_empty(name, turn.reader.tools) or found
    if isinstance(found, Refusal):
        refuse(turn, found, candidate.start, whole, candidate)
    else:
        add_call(turn, Held(found, candidate.start, candidate.start + len(whole), "pythonic", whole))


def add_call(turn: Turn, held: Held) -> None:
    """Take a call: it waits if wrappers are open; else it is made."""
    if turn.wrappers:
        hold(turn, held)
        turn.state = IN_WRAPPER
        wrapper = turn.wrappers[-1]
        is_element = wrapper.kind is LINE and turn.brackets is not None and turn.brackets.is_list
        if is_element or (wrapper.kind is NAMED and not wrapper.closing):
            close(turn)
        return
    turn.state = IN_PROSE
    make_bare(turn, held)


def refuse(  # noqa: PLR0913 (what is known of it)
    turn: Turn,
    refusal: Refusal,
    start: int,
    whole: str,
    candidate: Candidate | None = None,
    *,
    length: int | None = None,
) -> None:
    """Report a candidate that is no call, and let its text be text.

    Args:
        turn: the turn.
        refusal: why it is no call.
        start: its offset.
        whole: all that was read of it.
        candidate: what was read token by token, if it was.
        length: how much of it is text now, if it broke: the search goes on after that.
    """
    text = whole[:length]
    name = refusal.name
    if name is None and candidate is not None:
        name = name_in(turn, candidate, whole)
    if is_code(turn, name, whole, candidate):
        begin_code(turn, text)
        return
    refusal = refusal._replace(name=name)
    is_meant = is_attempt(turn, refusal, text, whole, candidate)
    wrapper = turn.wrappers[-1] if turn.wrappers else None
    kind, is_first = (None, False) if wrapper is None else (wrapper.kind, not wrapper.has_call)
    failure = CUT_OFF if refusal.reason is RejectionReason.TRUNCATED else HOLDS_OTHER
    break_wrappers(turn, failure, by_text=kind is FENCE and is_first and not is_meant)
    if candidate is not None and candidate.is_pythonic:
        note_brackets(turn, candidate, is_line=kind is LINE)
    if turn.place.is_data or (kind is LIST and is_first and not is_meant):
        turn.data_end = start + len(text)
    report(turn, refusal, start, text, is_meant=is_meant)
    put_text(turn, start, text)


def note_brackets(turn: Turn, candidate: Candidate, *, is_line: bool) -> None:
    """Note the brackets that a pythonic call leaves open as it breaks: what stands in them is not called (rule 6)."""
    in_string = isinstance(candidate.tokens, PythonTokens) and candidate.tokens.is_in_string
    depth, is_list = (turn.brackets.depth, turn.brackets.is_list) if turn.brackets else (0, False)
    turn.brackets = BrokenBrackets(depth, is_list=is_list or not is_line, in_string=in_string)


def report(turn: Turn, refusal: Refusal, start: int, text: str, *, is_meant: bool) -> None:
    """Report the text of a candidate at an offset as rejected, or as quoted if it is."""
    name, end = refusal.name, start + len(text)
    why = turn.line.quotation(turn.reader.declared)
    is_escaped = text == "{"  # JSON in a string of JSON breaks at its first backslash
    if turn.quotation is not None:  # a listing, which is searched when it closes
        turn.quotation.pieces.add(text)
    elif why is not None and (name is not None or is_meant or is_escaped):
        turn.rejections.add_quoted(start, end, why, name)
    else:
        turn.rejections.add(start, end, refusal, is_meant=is_meant)


def is_attempt(turn: Turn, refusal: Refusal, text: str, whole: str, candidate: Candidate | None) -> bool:
    """Return whether the model meant to call by what is no call (rule 15)."""
    is_named = refusal.name in turn.reader.declared
    if is_for_calls(turn):
        return True
    if candidate is None or not candidate.is_pythonic:
        return is_named or has_call_keys(whole)
    is_line = bool(turn.wrappers) and turn.wrappers[-1].kind is LINE
    return is_named and (not is_line or refusal.reason is RejectionReason.MISSING_ARGUMENTS or "=" in text)


def is_code(turn: Turn, name: str | None, whole: str, candidate: Candidate | None) -> bool:
    """Return whether a candidate after <|python_tag|> is code: neither a call nor an attempt at one (rule 11)."""
    if not turn.wrappers or turn.wrappers[0].kind is not CODE or holds_call(turn.queue):
        return False
    is_pythonic = candidate is not None and candidate.is_pythonic
    is_named = name in turn.reader.declared
    return not is_named and (is_pythonic or not has_call_keys(whole))


def is_for_calls(turn: Turn) -> bool:
    """Return whether a candidate stands in a tag, or after a token, whose only use is calls."""
    return any(wrapper.is_for_calls for wrapper in turn.wrappers) or turn.place.is_after_python_tag
