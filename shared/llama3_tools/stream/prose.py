"""Prose: what may begin in it, and what of it is held back as it may belong to a call (rules 9 to 11)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

from llama3_tools.formats.base import Kind, WireFormat
from llama3_tools.formats.fences import WORDS, end_of_fence
from llama3_tools.formats.prefixes import (
    FUNCTIONARY,
    LINE_MARKS,
    functools_start,
    header_before,
    mark_start,
    prefix_start,
)
from llama3_tools.formats.protocol_tokens import END_OF_TURN, PYTHON_TAG
from llama3_tools.formats.pythonic import is_part_of_code, listed_name, name_before, quoted_name_before
from llama3_tools.formats.quotations import RESPONSE_END, end_of_tag
from llama3_tools.literals.python_tokens import PythonTokens
from llama3_tools.literals.refusal import Refusal
from llama3_tools.stream.broken import depth_after
from llama3_tools.stream.candidates import begin_json, begin_python, begin_pythonic
from llama3_tools.stream.line import is_marker
from llama3_tools.stream.quotation import open_quotation
from llama3_tools.stream.rejections import IN_RESULT, IN_STRING, IN_THOUGHTS
from llama3_tools.stream.states import GO_ON, NEED_MORE, Step
from llama3_tools.stream.turn import (
    Quotation,
    Turn,
    is_in_brackets,
    line_before,
    put_text,
    put_up_to,
    reject,
    tool_named,
)
from llama3_tools.stream.wrappers import BOLD, CODE, FENCE, LINE, LIST, NAMED, SPAN
from llama3_tools.stream.wrapping import begin_named_tag, open_tag, open_wrapper, pass_quoted, reject_tag
from llama3_tools.values import RejectionReason

__all__ = ["read_prose"]

_FAR = 512
"""Longer than what may be the beginning of a format at the end of the text: further before it, all is settled."""

_SURPLUS = re.compile(r"[}\]](?:(?=[ \t]{0,64}(?:[\r\n]|<[|/]))|(?P<more>[ \t]{0,64}<?\Z))").match
_INDENTATIONS = ("", " ", "  ", "   ")
"""What may stand before a call on its line: more is code, as in Markdown."""
_BLOCKQUOTE = re.compile(r"[ \t]{0,3}>[ \t>]{0,8}").fullmatch
_NAME_ENDS = "_.:/- \t\r\n"
_SENTENCE_END = re.compile(r"[.!?:\u2026\u3002\uff01\uff1f\uff1a]\s*\Z")


def read_prose(turn: Turn) -> Step:
    """Look for what a call, a wrapper, a token or quotation begins with."""
    window = turn.window
    if turn.fresh.surplus is not None and skip_surplus(turn) is NEED_MORE:
        return NEED_MORE
    text, at, grammar = window.text, window.pos, turn.grammar
    first, outside = grammar.first.search, grammar.outside
    settled = sys.maxsize if window.ended else len(text) - _FAR
    while (found := first(text, at)) is not None:
        at = found.start()
        patterns = outside[text[at]]
        match = (patterns.ended if at < settled else patterns.going)(text, at)
        if match is None:
            at += 1
            continue
        name = match.lastgroup
        if name == "more":
            put_up_to(turn, before_marker(turn, at))
            return NEED_MORE
        format_ = grammar.formats[name]  # type: ignore[index]  # every alternative has a name
        if _BEGIN[format_.kind](turn, format_, match):
            return GO_ON
        at = match.end()
    put_up_to(turn, len(text) if window.ended else held_tail(turn, text))
    return NEED_MORE


def before_marker(turn: Turn, at: int) -> int:
    """Return where the prefix of a possible call starts: backticks, asterisks, `functools`, or a line with a name."""
    text, pos = turn.window.text, turn.window.pos
    header = declared_header(turn, text, at)
    return max(header.start(), pos) if header is not None else prefix_start(text, at, pos)


def declared_header(turn: Turn, text: str, at: int) -> re.Match[str] | None:
    """Find a line with nothing but the name of a declared tool that ends directly before an index."""
    header = header_before(text, at)
    return header if header is not None and header[1] in turn.pythonic_tools else None


def held_tail(turn: Turn, text: str) -> int:
    """Return the index from which text is held back, as a later call may include it."""
    pos, end = turn.window.pos, len(text)
    last = text[-1]
    if turn.grammar.pythonic and (last.isalnum() or last in _NAME_ENDS):
        if last in " \t\r\n":
            header = declared_header(turn, text, end)
            if header is not None:
                return max(header.start(), pos)
        found = None if turn.reader.ends_in_other_word(text) else name_before(text, end)
        if found is not None and turn.reader.may_begin_name(found[1]):
            start = found.start()
            marked = mark_start(text, start)
            if marked < start or may_stand_at(turn, start):
                return max(marked, pos)
    return prefix_start(text, end, pos)


def skip_surplus(turn: Turn) -> Step:
    """Skip one closing too many directly after a call (rule 9)."""
    window, fresh = turn.window, turn.fresh
    closing = fresh.surplus
    text, pos = window.text, window.pos
    if window.base + pos == fresh.offset:
        char = text[pos : pos + 1]
        while closing and char == closing[0] == "`":  # a longer fence
            pos = window.pos = pos + 1
            fresh.offset, char = window.base + pos, text[pos : pos + 1]
        if not char and not window.ended:
            return NEED_MORE
        if char not in "}]" and not (closing and char == closing[0]):
            fresh.surplus = None
            return GO_ON
        if closing and not window.ended and len(text) - pos < len(closing) and closing.startswith(text[pos:]):
            return NEED_MORE
        if closing and text.startswith(closing, pos):
            window.pos += len(closing)
        else:
            match = _SURPLUS(text, pos)
            if match is not None and match["more"] is not None and not window.ended:
                return NEED_MORE
            if match is not None and not (match["more"] or "").endswith("<") and not is_bracket_open(turn, text[pos]):
                window.pos += 1
        fresh.offset = window.offset
    fresh.surplus = None
    return GO_ON


def is_bracket_open(turn: Turn, closer: str) -> bool:
    """Return whether a bracket that stands on the line as text waits for its closing one."""
    line = turn.line.text
    return line.count("{" if closer == "}" else "[") > line.count(closer)


def begin_object(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Begin an object of JSON, or open the span, bold or line with a name that stands directly before it."""
    at = match.start()
    if (turn.pythonic_tools or turn.window.text[at - 1] in LINE_MARKS) and open_line_wrapper(turn, at):
        return True
    put_up_to(turn, at)
    begin_json(turn, at)
    return True


def begin_literal(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Begin a dict of Python."""
    at = match.start()
    put_up_to(turn, at)
    begin_python(turn, PythonTokens(is_call=False), at)
    return True


def begin_call(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Begin a pythonic call without brackets, if it names a declared tool and a call may stand there."""
    at, window = match.start(), turn.window
    text = window.text
    found = name_before(text, at)
    tool = tool_named(turn, found[1]) if found else None
    if found is None or tool is None:
        return False
    name, start = found[1], found.start()
    if open_line_wrapper(turn, start):
        return True
    if turn.brackets is not None:
        put_up_to(turn, start)  # or each name in broken brackets would count all brackets before it again
    may_stand = start >= window.pos and may_stand_at(turn, start)
    if start < window.pos or not (may_stand or text[start - 1] == "`"):
        reject_quoted_name(turn, at)
        return False
    put_up_to(turn, start)
    if reject_if_quoted(turn, name, start) or not may_stand:
        return False
    open_wrapper(turn, LINE, start, start, "", None)
    begin_pythonic(turn, start, at, name)
    return True


def may_stand_at(turn: Turn, start: int) -> bool:
    """Return whether a pythonic call may stand at an index: where a line begins, after a token, in a broken list."""
    window = turn.window
    if turn.brackets is not None:
        before = window.text[window.pos : start]
        line = f"{turn.line.text}{before}"
        if "\n" not in before and not is_indentation(line):
            is_element = turn.brackets.is_list and line.rstrip().endswith((",", ";"))
            return is_element and depth_after(before, turn.brackets.depth) == 0
    line_start = max(window.text.rfind("\n", 0, start) + 1, turn.fresh.offset - window.base)
    return line_start > 0 and is_indentation(window.text[line_start:start])


def is_indentation(text: str) -> bool:
    """Return whether text is no more than may stand before a call on its line."""
    return text in _INDENTATIONS or _BLOCKQUOTE(text) is not None


def reject_if_quoted(turn: Turn, name: str, start: int) -> bool:
    """Reject the name of a declared tool that stands in quotation on its line; return whether it does."""
    why = turn.line.quotation(turn.reader.declared)
    if why is not None:
        offset = turn.window.base + start
        turn.rejections.add_quoted(offset, offset + len(name), why, tool_named(turn, name))
    return why is not None


def reject_quoted_name(turn: Turn, at: int) -> None:
    """Report a declared name with arguments that stands in a list of strings."""
    window = turn.window
    found = quoted_name_before(window.text, at)
    if found is not None and tool_named(turn, found[1]) is not None:
        turn.rejections.add_quoted(window.base + found.start(1), window.base + at, IN_STRING, found[1])


def begin_list(turn: Turn, format_: WireFormat, match: re.Match[str]) -> bool:
    """Open a list of calls, unless it is a part of code, or quoted."""
    at, text = match.start(), turn.window.text
    if text[at - 1] in LINE_MARKS and open_line_wrapper(turn, at):
        return True
    start = functools_start(text, at, turn.window.pos)
    if format_.may_be_code:
        put_up_to(turn, start)
        why = turn.line.quotation(turn.reader.declared)
        is_code = start == at and turn.window.base + at != turn.fresh.offset and is_part_of_code(turn.line.text)
        if is_code or why is not None or is_in_brackets(turn):
            return pass_list(turn, match, why)
    is_for_calls = match[0].startswith(format_.for_calls)
    open_wrapper(turn, LIST, start, match.end(), "]", None, is_for_calls=is_for_calls)
    return True


def pass_list(turn: Turn, match: re.Match[str], why: str | None) -> bool:
    """Pass a list that is a part of code, or quoted, and report its tool; return whether it is quoted."""
    at, window, end = match.start(), turn.window, match.end()
    found = listed_name(window.text, at)
    assert found is not None  # noqa: S101  # the format says so
    name = tool_named(turn, found[1])
    if name is not None:
        end = found.end()
        if why is None:
            refusal = Refusal(RejectionReason.NOT_A_CALL, "a list that is a part of code", name)
            reject(turn, window.base + at, window.base + end, refusal)
        else:
            turn.rejections.add_quoted(window.base + at, window.base + end, why, name)
    if why is not None:
        pass_quoted(turn, end, "]", why)
    return why is not None


def begin_named_list(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Report a list whose first element is the name of a declared tool: no call in any form, but meant as one."""
    window = turn.window
    name = tool_named(turn, match["listed_name"])
    if name is not None:
        put_up_to(turn, match.start())
        offset = window.offset
        detail = f"a list that begins with the name {name!r}, not a call of it"
        why = turn.line.quotation(turn.reader.declared)
        end = match.end("listed_name")
        if why is not None:
            turn.rejections.add_quoted(offset, window.base + end, why, name)
            pass_quoted(turn, end, "]", why)
            return True
        reject(turn, offset, window.base + end, Refusal(RejectionReason.MALFORMED, detail, name), is_meant=True)
    return False


def begin_tag(turn: Turn, format_: WireFormat, match: re.Match[str]) -> bool:
    """Open a tag around calls."""
    at = match.start()
    if turn.window.text[at - 1] in LINE_MARKS and open_line_wrapper(turn, at):
        return True
    open_tag(turn, format_, at, match[0])
    return True


def begin_function_end(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Report a tag of a declared tool that closes, and held no object."""
    put_up_to(turn, match.start())
    tag, turn.text_tag = turn.text_tag, None
    if tag is not None:
        put_up_to(turn, match.end())
        reject_tag(turn, tag, turn.window.offset)
        return True
    return False


def begin_fence(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Open a code fence: a wrapper if its info word may be that of calls, or else quotation. Pass what is none."""
    window, ticks = turn.window, match["ticks"]
    if ticks is None:
        put_up_to(turn, match.end())
        return True
    info = match["info"].lower()
    if turn.fence_is_open:
        turn.fence_is_open = False
        put_up_to(turn, match.end("ticks"))
        return True
    put_up_to(turn, match.start())
    written = match[0].removeprefix(ticks)
    is_known = written.startswith(match["info"]) and info in WORDS
    is_alone = written.strip() == match["info"] and written.endswith("\n")
    if not (is_alone or (is_known and match["rest"] is None) or is_marker(turn.line.text)) or turn.line.quotation(()):
        put_up_to(turn, match.end("ticks"))
        return True
    if info in WORDS:
        open_wrapper(turn, FENCE, match.start(), match.end(), ticks, "fence", name=info)
        return True
    put_up_to(turn, match.end("ticks"))
    turn.fresh.begin_at(window.offset)
    open_quotation(turn, Quotation(end_of_fence(len(ticks)), window.offset, f"in a fence of {info or 'code'}"))
    return True


def begin_tildes(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Open a fence of tildes, which is quotation, where a line begins or after the marker of a list."""
    if not is_marker(line_before(turn, match.start())):
        return False
    put_up_to(turn, match.end())
    tildes = len(match[0]) - len(match[0].lstrip("~"))
    open_quotation(turn, Quotation(end_of_fence(tildes, "~"), turn.window.offset, "in a fence of tildes"))
    return True


def begin_token(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Take a protocol token, or open what follows <|python_tag|>, which may be code."""
    at = match.start()
    put_up_to(turn, at)
    if turn.grammar.code and is_place_for_code(turn, match[0]):
        open_wrapper(turn, CODE, at, match.end(), "", None, is_for_calls=True)
        return True
    take_token(turn, match[0])
    return True


def is_place_for_code(turn: Turn, token: str) -> bool:
    """Return whether code is meant after a token, rather than the token itself, as in prose about it."""
    if token != PYTHON_TAG or turn.line.quotation(turn.reader.declared) is not None:
        return False
    window = turn.window
    before = turn.line.text
    return (
        window.offset == turn.fresh.offset
        or not before.strip()
        or turn.content.is_after_call
        or _SENTENCE_END.search(before) is not None
    )


def take_token(turn: Turn, token: str) -> None:
    """Take a protocol token: a call may stand after it."""
    turn.window.pos += len(token)
    turn.content.token(token)
    if "\n" in token:
        turn.line.add("\n")
    turn.fresh.after_token(turn.window.offset, token.rstrip())


def begin_other_turn(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Open another's turn, which is quotation."""
    put_up_to(turn, match.start())
    take_token(turn, match[0])
    open_quotation(turn, Quotation(END_OF_TURN, turn.window.offset, "in another's turn"))
    return True


def begin_thought(turn: Turn, format_: WireFormat, match: re.Match[str]) -> bool:
    """Open reasoning, which is quotation."""
    put_up_to(turn, match.start())
    if turn.line.quotation(()) is not None:
        return False
    window = turn.window
    if not turn.splits:
        put_text(turn, window.offset, match[0])
    window.pos = match.end()
    closing = end_of_tag(format_.closings[match[0]])
    open_quotation(turn, Quotation(closing, window.offset, IN_THOUGHTS, is_split=turn.splits))
    return True


def begin_response(turn: Turn, _: WireFormat, match: re.Match[str]) -> bool:
    """Open the result of a tool, which is quotation."""
    put_up_to(turn, match.start())
    if turn.line.quotation(()) is not None:
        return False
    put_up_to(turn, match.end())
    closing = end_of_tag(RESPONSE_END)
    open_quotation(turn, Quotation(closing, turn.window.offset, IN_RESULT))
    return True


def open_line_wrapper(turn: Turn, at: int) -> bool:
    """Open what may be a wrapper that is a whole line, if it stands directly before an index: a span, bold, a name."""
    window = turn.window
    text, pos = window.text, window.pos
    last = text[at - 1]
    if last in LINE_MARKS and at > pos:
        run = len(text[pos:at]) - len(text[pos:at].rstrip(last))
        kind, rule = (SPAN, "span") if last == "`" else (BOLD, "bold")
        is_read = run in LINE_MARKS[last] and rule not in turn.grammar.off
        if is_read and is_marker(line_before(turn, at - run)):
            open_wrapper(turn, kind, at - run, at, last * run, None)
            return True
    elif turn.pythonic_tools and last in " \t\r\n" and text.startswith("{", at) and FUNCTIONARY not in turn.grammar.off:
        header = declared_header(turn, text, at)
        if header is not None and header.start() >= pos:
            open_wrapper(turn, NAMED, header.start(), at, "", FUNCTIONARY, name=header[1])
            return True
    return False


_BEGIN: dict[Kind, Callable[[Turn, WireFormat, re.Match[str]], bool]] = {
    Kind.OBJECT: begin_object,
    Kind.LITERAL: begin_literal,
    Kind.CALL: begin_call,
    Kind.LIST: begin_list,
    Kind.NAMED_LIST: begin_named_list,
    Kind.TAG: begin_tag,
    Kind.NAMED_TAG: begin_named_tag,
    Kind.FUNCTION_END: begin_function_end,
    Kind.FENCE: begin_fence,
    Kind.TILDES: begin_tildes,
    Kind.TOKEN: begin_token,
    Kind.OTHER_TURN: begin_other_turn,
    Kind.THOUGHT: begin_thought,
    Kind.RESPONSE: begin_response,
}
"""What each kind of format does where it begins in prose.

It returns `True` to go on where the window stands then, in the state that the turn is in then, and `False` to search on
after the match.
"""
