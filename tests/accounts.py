"""Accounts for every character of an output, by rules 3, 4, 9, 10 and 12: what was read of it has to be all of it.

White space aside, a character is content, a part of a thought or of a call, or it is one of what may vanish, in a place
where that may. The places are told here once more, from what came out, without the code that put it there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from llama3_tools import Event, Extractor, ReasoningDelta, ToolCall, ToolCallReady
from llama3_tools.formats.protocol_tokens import TOKEN_PATTERN

__all__ = ["CLOSINGS", "all_is_accounted_for"]

_START, _PROSE, _CALL, _SPENT, _CALL_OR_END, _CALL_DUE = range(6)
"""Where the reading stands: before all content; behind some of it; behind a call; behind that and the one `;` that it
takes along; where nothing but a call or the end may follow, as a token vanished; or nothing but a call."""

CLOSINGS = {
    **{f"<{name}>": f"</{name}>" for name in ("tool", "TOOL", "tool-use", "tools", "function")},
    **{f"<{name}>": f"</{name}>" for name in ("tool_call", "TOOLCALL", "functioncall", "function_call")},
    "<functioncall ": ">",
    "<functioncall\n": ">",
    "<|python_start|>": "<|python_end|>",
}
"""What wrappers open with, fences aside, and what closes each."""
_ONCE_MORE = ("</function>", "</functioncall>")
"""What models close a tag with that `>` has closed."""
_REOPENING = ("<functioncall>", "<function_call>", "<functioncall ", "<functioncall\n")
_FENCE = re.compile(
    r"(?P<fence>`{3,16}|~{3,16})(?:[ \t]{0,8}(?:json|tool_call|python3?|py)(?![\w+#.-]))?", re.IGNORECASE
)
_ATTRIBUTES = re.compile(r"[ \t{][^\r\n]*(?=[\r\n])")
_TOKEN = re.compile(rf"{TOKEN_PATTERN}|<\|python_start\|>")
_CUT_OFF = re.compile(r"<\|(?:start_header_id|header_start)\|>[^<>|]{0,32}(?:<[a-z_|]*)?\Z|<(?:\|[a-z_|]*)?\Z|[`~]+\Z")
_ENVELOPES = ("tool_call", "tool_calls")


class _Account(NamedTuple):
    """How far the account is."""

    taken: int = 0
    """How many of the calls and the characters of the content were found."""
    thought: int = 0
    """How many of the characters of the reasoning."""
    pos: int = 0
    place: int = _START
    is_list: bool = False
    """Whether the brackets of a list are open: they vanish in pairs."""
    is_thought: bool = False
    """Whether that is inside of a thought that is split off."""
    opened: tuple[str, ...] = ()
    """The openings of the wrappers around, outermost first."""


def all_is_accounted_for(text: str, extractor: Extractor) -> None:
    """Hold what a stream gives of a text to be all of it, and no more; an error says how far that is so."""
    options = extractor.__getstate__()
    stream = extractor.stream()
    events = stream.feed(text) + stream.flush()
    content = list(_items(events))
    thoughts = "".join("".join(event.text.split()) for event in events if isinstance(event, ReasoningDelta))
    if any(_is_repaired_envelope(item) for item in content):  # whose message nobody knows
        return
    furthest = 0
    seen, waiting = set[_Account](), [_Account(is_thought=options.split_reasoning and options.starts_reasoning)]
    while waiting:
        account = waiting.pop()
        if account in seen:
            continue
        seen.add(account)
        furthest = max(furthest, account.pos)
        if account.pos < len(text):
            waiting += reversed(list(_steps(text, content, thoughts, account, splits=options.split_reasoning)))
        elif (account.taken, account.thought) == (len(content), len(thoughts)) and _may_end(account):
            return
    raise AssertionError(f"nothing accounts for {text[furthest:]!r}, behind {text[:furthest]!r}")


def _items(events: Iterable[Event]) -> Iterator[str | ToolCall]:
    """Give the calls, and the content character by character, without white space."""
    for event in events:
        if isinstance(event, ToolCallReady):
            yield event.tool_call
        elif not isinstance(event, ReasoningDelta):
            yield from "".join(event.text.split())


def _is_repaired_envelope(item: str | ToolCall) -> bool:
    return isinstance(item, ToolCall) and any(name in (item.repaired_from or "") for name in _ENVELOPES)


def _may_end(account: _Account) -> bool:
    return not account.is_list and account.place != _CALL_DUE


def _steps(
    text: str, content: Sequence[str | ToolCall], thoughts: str, account: _Account, *, splits: bool
) -> Iterator[_Account]:
    """Give what the next character may be, the likeliest first."""
    pos, place, opened = account.pos, account.place, account.opened
    char, item = text[pos], content[account.taken] if account.taken < len(content) else None
    is_inside = account.is_list or bool(opened)
    if isinstance(item, ToolCall) and item.span[0] == pos and not account.is_thought:
        yield account._replace(taken=account.taken + 1, pos=item.span[1], place=_CALL)
    if char.isspace():
        yield account._replace(pos=pos + 1)
        return
    if account.is_thought:
        yield from _thinking(text, thoughts, account)
        return
    if item == char and not is_inside and place not in (_CALL_OR_END, _CALL_DUE):
        yield account._replace(taken=account.taken + 1, pos=pos + 1, place=_PROSE)
    if char == "{":
        yield from _envelopes(text, content, account)
    if splits and not is_inside and (opening := _tag_at(text, pos, "<think>")):
        then = _PROSE if place == _CALL_OR_END else place
        yield account._replace(pos=pos + opening, place=then, is_thought=True)
    yield from _wrapping(text, account)
    yield from _vanishing(text, account)


def _thinking(text: str, thoughts: str, account: _Account) -> Iterator[_Account]:
    pos = account.pos
    if thoughts.startswith(text[pos], account.thought):
        yield account._replace(thought=account.thought + 1, pos=pos + 1)
    closing = _tag_at(text, pos, "</think>", is_cut_off=True)
    opening = 0 if text[:pos].strip() else _tag_at(text, pos, "<think>", is_cut_off=True)  # written once more
    if closing:
        yield account._replace(pos=pos + closing, is_thought=False)
    if opening:
        yield account._replace(pos=pos + opening)


def _tag_at(text: str, pos: int, tag: str, *, is_cut_off: bool = False) -> int:
    """Give how long the tag is that stands here, or at the end of the output what is left of it; 0 for none."""
    rest = text[pos : pos + len(tag)]
    return len(rest) if rest == tag or (is_cut_off and tag.startswith(rest)) else 0


def _vanishing(text: str, account: _Account) -> Iterator[_Account]:
    """Step over brackets, protocol tokens and delimiters."""
    pos, place, is_list, opened = account.pos, account.place, account.is_list, account.opened
    char, is_behind_call = text[pos], place in (_CALL, _SPENT)
    if char == "[" and not is_list:
        yield account._replace(pos=pos + 1, place=_CALL_DUE, is_list=True)
    elif char == "]" and is_list and is_behind_call:
        yield account._replace(pos=pos + 1, place=_CALL, is_list=False)
    elif char in ";,":
        yield from _delimiting(char, account)
    elif is_behind_call and text[pos - 1] == ">":
        closings = (_tag_at(text, pos, tag, is_cut_off=True) for tag in _ONCE_MORE)
        yield from (account._replace(pos=pos + closing) for closing in closings if closing)
    token = _TOKEN.match(text, pos)
    if token is not None and not is_list:
        then = _CALL_OR_END if place == _PROSE else place
        yield account._replace(pos=token.end(), place=then)
        if is_behind_call:  # it may close wrappers, also where it stays: as the beginning of what is too long
            ends = (token.end(), pos)
            yield from (account._replace(pos=end, opened=opened[:left]) for left in range(len(opened)) for end in ends)
    if (is_behind_call or opened) and _CUT_OFF.match(text, pos):
        yield account._replace(pos=len(text))


def _delimiting(char: str, account: _Account) -> Iterator[_Account]:
    """Step over a delimiter: between two calls, or the one `;` behind a call."""
    behind, place = account._replace(pos=account.pos + 1), account.place
    if account.is_list:
        if char == "," and place == _CALL:
            yield behind
    elif account.opened:
        if place == _CALL:
            yield behind
    elif place in (_CALL, _SPENT, _CALL_DUE):
        if char == ";" and place == _CALL:
            yield behind._replace(place=_SPENT)
        yield behind._replace(place=_CALL_DUE)


def _wrapping(text: str, account: _Account) -> Iterator[_Account]:
    """Step over the openings and the closings of wrappers."""
    pos, place, opened = account.pos, account.place, account.opened
    if account.is_list:
        return
    if opened and place in (_CALL, _SPENT):
        for end in _closings(text, pos, opened[-1]):
            yield account._replace(pos=end, place=_CALL, opened=opened[:-1])
        if _closing_of(opened[-1]).startswith(text[pos:]):  # cut off: it is open still
            yield account._replace(pos=len(text))
        if opened[-1] in _REOPENING and text.startswith(opened[-1], pos):
            yield account._replace(place=_CALL, opened=opened[:-1])
    inner = account._replace(place=_CALL_DUE)
    for opening in CLOSINGS:
        if text.startswith(opening, pos):
            yield inner._replace(pos=pos + len(opening), opened=(*opened, opening))
    fence = _FENCE.match(text, pos)
    if fence is not None:
        inner = inner._replace(opened=(*opened, fence["fence"]))
        attributes = _ATTRIBUTES.match(text, fence.end())
        yield from (inner._replace(pos=found.end()) for found in (fence, attributes) if found)


def _closings(text: str, pos: int, opening: str) -> Iterator[int]:
    """Give where what closes a wrapper may end."""
    closing = _closing_of(opening)
    if text.startswith(closing, pos):
        if closing == opening:  # a fence may be closed by a longer one
            yield len(text) - len(text[pos:].lstrip(opening[0]))
        yield pos + len(closing)


def _closing_of(opening: str) -> str:
    return CLOSINGS.get(opening, opening)


def _envelopes(text: str, content: Sequence[str | ToolCall], account: _Account) -> Iterator[_Account]:
    """Step over an envelope whose message and calls come next."""
    try:
        members, end = json.JSONDecoder(object_pairs_hook=list).raw_decode(text, account.pos)
    except (ValueError, RecursionError):  # no JSON, or nested too deep for a call
        return
    at = account.taken
    if sum(key in _ENVELOPES for key, _ in members) != 1:
        return
    for key, value in members:
        if key in ("message", "content"):
            for char in "".join((value or "").split()) if isinstance(value, str | None) else "\0":
                if at == len(content) or content[at] != char:
                    return
                at += 1
        elif key in _ENVELOPES:
            while at < len(content):
                item = content[at]
                if not isinstance(item, ToolCall) or item.span[0] >= end:
                    break
                at += 1
    yield account._replace(taken=at, pos=end, place=_CALL)
