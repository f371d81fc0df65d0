"""What begins where a call may be: objects, names, fences, tags that name a tool or open quotation."""

from __future__ import annotations

import re
from collections.abc import Callable

from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.attempts import Evidence, Shape
from llama3_tools.reader.candidates import ArgumentsReader, Candidate, ObjectReader, Outcome
from llama3_tools.reader.content import CALL, TEXT
from llama3_tools.reader.json_calls import WrittenCall, plain_call
from llama3_tools.reader.markup import METHOD
from llama3_tools.reader.quotation import IN_RESULT, IN_THOUGHTS
from llama3_tools.reader.regions import IN_TAG, IN_TAG_OF_LINE, OTHER_TURN, Region, region_of_tag
from llama3_tools.reader.rules import BUILT_IN
from llama3_tools.reader.surroundings import FREE, PART
from llama3_tools.reader.turn import GAP, State, Turn
from llama3_tools.values import RejectionReason

_XML = re.compile(r"\s*<[A-Za-z]").match
_NO_PART_OF_NAME = ":.-/"
"""What a name in text may have inside, but not at its end."""
_LINE, _MOST_INDENT = 64, 3
"""How much of a line anyone looks at before a call, and how far that may be indented: more is code in Markdown."""


def begin_object(turn: Turn, at: int, named: Candidate | None = None) -> State | None:
    """Begin with the object at an index: a call, or the arguments of a tool that is named before it."""
    window, markup = turn.window, turn.markup
    text, base = window.text, window.base
    may_scan = turn.candidates.may_scan(at)
    is_bare = may_scan and named is None and turn.quotation.region is None and window.is_simple
    if is_bare and (plain := plain_call(text, at)) is not None:
        written, end = plain
        if (
            turn.rules.checked(written) is written
            and not turn.has_enough
            and end - at <= turn.candidates.most
            and (turn.content.last is CALL or (markup.why_quoted(at) is None and markup.place_of(at) is not PART))
            and markup.opened not in turn.rules.declared  # `<search>{…}`: its arguments
            and not window.is_aborted
        ):
            window.pos = end
            return turn.call(written, base + at, base + end, "json", text[at:end])
    candidate = named or _named_by_tag(turn, base + at) or Candidate(base + at, base + at, "json")
    return turn.begin(candidate, ObjectReader(turn.candidates, may_scan=may_scan))


def _named_by_tag(turn: Turn, start: int) -> Candidate | None:
    """Return the object at an offset as the arguments of a declared tool, if the tag before it is its name."""
    name = turn.markup.opened
    if not name or name not in turn.rules.names or not turn.markup.text.rstrip().endswith(">"):
        return None
    begin = turn.window.base + turn.window.pos
    return Candidate(begin, start, name, name, ("the tag is the name of the tool",))


def _begin_function(turn: Turn, match: re.Match[str]) -> State | None:
    """Begin with a tag that names a tool: its arguments follow."""
    at, end = match.span()
    window, markup = turn.window, turn.markup
    text, base, name, inside = window.text, window.base, match["tool"], match["inside"]
    declared = turn.rules.declared
    if name not in declared and name.rstrip(_NO_PART_OF_NAME) in declared:
        name = name.rstrip(_NO_PART_OF_NAME)
    is_correct = match[0] in (f"<function={name}>", f'<function name="{name}">')
    stands_alone = _is_alone(turn, at)
    markup.add(match[0], at)
    if inside == "{" and (is_correct or declared):
        begin, stop = match.span("tool")
        deviations = () if is_correct else (f"the tag is written {text[at:begin]}NAME{text[stop:end]}{{…}}",)
        brace = text.index("{", end)
        return begin_object(turn, brace, Candidate(base + at, base + brace, "function", name, deviations))
    if inside == "</function>" and is_correct and name in declared and not declared[name].requires_arguments:
        candidate = Candidate(base + at, base + at, "function", quoted=markup.quoted)
        return turn.decide(candidate, Outcome(base + text.index(inside, end), WrittenCall(name, {}, "{}")))
    is_xml = inside == "<" and _XML(text, end) is not None
    is_meant = name in declared or (is_correct and (stands_alone or is_xml))
    is_free = markup.quoted is None
    if is_meant and is_free:
        refusal = Refusal(RejectionReason.MALFORMED, "expected an object in the tag", name)
        evidence = Evidence(Shape.TAG, markup.before, in_markup=True)
        turn.rejections.add(base + at, base + end, refusal, evidence)
        turn.quotation.begin_fence_with_attempt()
    state = turn.put_as_text(end)
    if is_free and (is_meant or is_correct):
        return turn.quote(IN_TAG if stands_alone or is_xml else IN_TAG_OF_LINE)
    return state


def _begin_or_end_fence(turn: Turn, match: re.Match[str]) -> State:
    """Begin a fence, or end it."""
    quotation, markup = turn.quotation, turn.markup
    ticks, rest = match["ticks"], match["info"] + match["rest"].strip()
    if quotation.fence:
        if rest or not ticks.startswith(quotation.fence):
            return turn.put_as_text(match.end())
        is_empty = quotation.fence_is_fresh
        quotation.close_fence()
        if is_empty:
            return turn.put_as_text(match.end())
        turn.settle()
        calls = turn.content.calls
        if turn.content.last is TEXT and calls and 0 <= quotation.fence_from <= calls[-1].span[0]:
            turn.window.pos = match.end()
            turn.content.take_out(turn.window.base + match.end())
            return GAP
        return turn.hold(match[0])
    at = match.start()
    if not markup.text and turn.content.last is not CALL:
        markup.note(at)
    if markup.quoted is not None or not _is_alone(turn, at):
        return turn.put_as_text(match.end("ticks"))
    turn.settle()
    quotation.open_fence(ticks)
    return turn.hold(match[0], opens=True)


def _begin_turn(turn: Turn, match: re.Match[str]) -> State:
    """Begin the turn of another role."""
    turn.settle()
    turn.hold(match[0])
    return turn.quote(OTHER_TURN)


def _begin_thought(turn: Turn, match: re.Match[str]) -> State:
    """Begin reasoning."""
    region = region_of_tag(match["thinks"], IN_THOUGHTS)
    return _begin_quotation(turn, match, region._replace(is_split=turn.rules.options.split_reasoning))


def _begin_quotation(turn: Turn, match: re.Match[str], region: Region) -> State:
    """Begin quotation with a tag. The tag is text, unless it begins reasoning that is split off."""
    turn.settle()
    if turn.quotation.why(match.start()) is not None:
        return turn.put_as_text(match.end())
    state = turn.quote(region)
    if region.is_split:
        turn.window.pos = match.end()
    else:
        turn.put(match.end())
    return state


def _begin_pythonic(turn: Turn, match: re.Match[str]) -> State | None:
    """Begin a pythonic call, if one may be here."""
    markup, name = turn.markup, match["name"]
    if markup.text.rstrip().endswith("["):
        if turn.content.last is not CALL and markup.place is not FREE:
            return turn.text_follows()
        markup.open_list()
    tool = _tool_of(turn, name)
    is_known = tool or markup.in_list or _is_tried_as_call(turn)
    if not is_known or not _may_be_call(turn):
        return turn.text_follows()
    if markup.in_list:
        turn.content.confirm()
    paren = match.end() - 1
    candidate = Candidate(turn.window.base + match.start(), turn.window.base + paren, "pythonic", name)
    return turn.begin(candidate, ArgumentsReader(turn.candidates, name, tool))


def _begin_named(turn: Turn, match: re.Match[str]) -> State | None:
    """Begin with the name of a tool before its arguments, if it may be a call here."""
    at = match.start()
    name = (match["listed"] if match.lastgroup == "bracketed" else match["name"]).rstrip(_NO_PART_OF_NAME)
    is_known = name in turn.rules.names or _is_tried_as_call(turn)
    if not is_known or not _may_be_call(turn):
        return turn.text_follows()
    if "```" in match[0]:
        turn.quotation.open_fence("```", is_fresh=False)
    turn.markup.add(match[0], at)
    begin, start = turn.window.base + at, turn.window.base + match.end()
    deviations = ("the name comes before the arguments",)
    return begin_object(turn, match.end(), Candidate(begin, start, "name", name, deviations))


def _begin_name(turn: Turn, match: re.Match[str]) -> State | None:
    """Wait for the rest of a name, if a declared one begins so."""
    begun = match["begun"].rstrip(_NO_PART_OF_NAME) or match["begun"]
    may_begin = turn.markup.in_list or turn.markup.is_for_calls or turn.rules.may_begin_name(begun)
    return None if may_begin else turn.text_follows()


def _tool_of(turn: Turn, name: str) -> str | None:
    """Return the tool that a pythonic call names, if it is declared or one of Meta's."""
    names = turn.rules.names
    if name in names:
        return name
    base = name.removesuffix(METHOD)
    if base in names:
        return base
    return base if turn.rules.tools is None and (base in BUILT_IN or turn.markup.in_list) else None


def _is_tried_as_call(turn: Turn) -> bool:
    """Return whether any name here is meant as a call, declared or not."""
    return turn.markup.is_for_calls and not turn.is_code_due


def _may_be_call(turn: Turn) -> bool:
    """Return whether a pythonic call may be here: where a line begins, or after some markup or another call."""
    window, markup = turn.window, turn.markup
    if turn.content.last is CALL:
        return True
    if markup.place_of(window.pos) is not FREE:
        return False
    if markup.lets_call_stand:
        return True
    before = window.text[max(window.pos - _LINE, 0) : window.pos]
    line = before[before.rfind("\n") + 1 :]
    begins_line = len(line) < len(before) or window.base + window.pos == len(before)
    return begins_line and len(line.strip("*")) <= _MOST_INDENT and not line.strip(" *")


def _is_alone(turn: Turn, at: int) -> bool:
    """Return whether only markup, or the marker of a list, is on the line before an index."""
    return turn.content.last is CALL or bool(turn.markup.text) or turn.quotation.is_alone(at)


BEGIN: dict[str, Callable[[Turn, re.Match[str]], State | None]] = {
    "function": _begin_function,
    "thought": _begin_thought,
    "response": lambda turn, match: _begin_quotation(turn, match, region_of_tag(match["answers"], IN_RESULT)),
    "turn": _begin_turn,
    "fence": _begin_or_end_fence,
    "call": _begin_pythonic,
    "head": _begin_named,
    "bracketed": _begin_named,
    "begins": _begin_name,
    "more": lambda _turn, _match: None,
}
"""How each thing begins, by the last group of the pattern that matched. `None`: more text has to come."""
