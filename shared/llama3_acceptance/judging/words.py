"""Whether an answer without a call is in words: it has words, and no attempt at a call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from llama3_acceptance.judging.json_in_text import Piece, json_pieces
from llama3_tools.reader.json_calls import OTHER_NAMES
from llama3_tools.reader.rejections import has_call_keys
from llama3_tools.tools import Tool
from llama3_tools.values import shortened

__all__ = ["NotInWords", "why_not_in_words"]

_FENCE = re.compile(
    r"^[ \t]*(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^\n]+?)(?<!`)\1(?!`)")
_QUOTED_LINE = re.compile(r"^[ \t]*>[ \t]?(.*)$", re.MULTILINE)
_QUOTATIONS = ((_FENCE, 2), (_SPAN, 2), (_QUOTED_LINE, 1))

_CALL_TAG = re.compile(r"<(?!tools>)\w*(?:tool|func|call)\w*>|<function(?:=|[ ]name=)[^>\n]*>?|\[TOOL_CALLS\]")
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>|<\|[^<>|\s]{1,40}\|>|\[/?TOOL_CALLS\]")
_CODE = re.compile(r"<\|python_tag\|>\s*[A-Za-z_][\w.]*\(")
_STEP = re.compile(
    r"^[^\w\n]*Action(?:[ ](?P<input>Input))?[^\w\n]*:[ \t*_`]*(?P<name>[\w.-]*)(?P<rest>[^\n]*)$", re.MULTILINE
)
_TOOL_LINE = r"^[^\w\n]*(?:Tool|Function)(?:[ ](?:name|call))?[^\w\n]*:[ \t*_`]*(?:{names})(?![\w.-])[^\w\n]*$"
_TOOL_TAG = r"<(?:{names})(?=[\s/>])[^<>\n]{{0,200}}>|<invoke[ ]name=[^>\n]*>?"
_FENCE_MARK = re.compile(r"`{3,}\w*")
_WORD = re.compile(r"\w")
_MADE_UP_RESULT = re.compile(r"<(tool_response|tool_result)\b[^<>\n]{0,40}>.*?(?:</\1>|\Z)", re.DOTALL)
_LOOK = 300
"""How far around a tag or an object a word is looked for, in characters, so that the work is linear in the text."""
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
"""An answer to a person, as words are."""
_CLOSINGS = {"(": ")", "[": "]", "{": "}"}
_NO_ACTION = frozenset({"none", "null", "n/a"})
_STANDS_FOR_NOTHING = frozenset({"null", "None", "undefined"})
_NAME_KEYS = ("name", *OTHER_NAMES)
_NO_NAME = r"(?!)"


class NotInWords(NamedTuple):
    """Why an answer is not in words."""

    detail: str
    """What stands in the place of words, as a sentence goes on after "no answer in words: "."""
    is_cut_off: bool = False
    """Whether the text ends in it."""


def why_not_in_words(content: str, tools: Iterable[Tool], *, written: str = "") -> NotInWords | None:
    """Return why the content of an answer without calls is not in words; `None` if it is.

    What is quoted among words (a code span, a fence, a line after `>`) is not looked at, but for a whole call that no
    word follows. If nothing but quotation is there, it is looked at as well.

    >>> calculate = Tool("calculate", "", {"type": "object", "properties": {"expression": {"type": "string"}}})
    >>> for content in ["It is 4.", '{"expression": "2+2"}', 'calculate {"expression": "2+2"}', "null"]:
    ...     print(why_not_in_words(content, [calculate]))
    None
    NotInWords(detail='the arguments of calculate, without its name: {"expression": "2+2"}', is_cut_off=False)
    NotInWords(detail='the name of a tool, and arguments: calculate {"expression": "2+2"}', is_cut_off=False)
    NotInWords(detail='null', is_cut_off=False)

    Args:
        content: the text of the answer, without thoughts.
        tools: the declared tools.
        written: the whole text, without thoughts. What it has beside the content are protocol tokens.
    """
    code = _CODE.search(written)
    if code:
        return NotInWords(f"code after <|python_tag|>: {shortened(written[code.start() :].strip())}")
    declared = {tool.name: tool for tool in tools}
    unquoted = content
    for quotation, _ in _QUOTATIONS:
        unquoted = quotation.sub(" ", unquoted)
    has_words = _has_words(unquoted)
    shown = unquoted
    if not has_words:
        shown = content
        for quotation, group in _QUOTATIONS:
            shown = quotation.sub(rf"\g<{group}>", shown)
    attempt = next(chain(_quoted_calls(content, declared), _attempts(shown, declared)), None)
    if attempt or _has_words(shown):
        return attempt
    is_cut_off = any(piece.is_cut_off for piece in json_pieces(shown))
    return NotInWords(shortened(content.strip()), is_cut_off) if content.strip() else None


def _has_words(text: str) -> bool:
    """Return whether anything is left beside JSON, tags, a tool's result that the model made up, and `null`."""
    text = _MADE_UP_RESULT.sub(" ", text)
    if text.strip() in _STANDS_FOR_NOTHING:
        return False
    between, at = list[str](), 0
    for piece in json_pieces(text):
        between.append(text[at : piece.start])
        at = piece.end
    rest = " ".join([*between, text[at:]])
    rest = _FENCE_MARK.sub(" ", _ANY_TAG.sub(" ", _CALL_TAG.sub(" ", rest)))
    return any(char.isalnum() for char in rest) or bool(_EMOJI.search(rest))


def _attempts(text: str, tools: Mapping[str, Tool]) -> Iterator[NotInWords]:
    pieces = list(json_pieces(text))
    if re.fullmatch(rf"\W*(?:{_any_of(tools)})[^\w(\[{{]*", text):
        yield NotInWords(f"the name of a tool: {text.strip()}")
    yield from _named_objects(text, pieces, tools)
    yield from _named_values(text, pieces, tools)
    yield from _steps(text, tools)
    yield from _tags(text, tools)
    if has_call_keys(text):
        yield NotInWords(f"the keys of a call: {shortened(text.strip())}")
    yield from _bare_arguments(text, pieces, tools)


def _quoted_calls(text: str, tools: Mapping[str, Tool]) -> Iterator[NotInWords]:
    """Find a call in quotation, with its name and its arguments, after which no word follows."""
    names = re.compile(rf"(?<![\w.])(?:{_any_of(tools)})(?![\w.])") if tools else re.compile("")
    for quotation, group in _QUOTATIONS:
        for match in quotation.finditer(text):
            is_last = not _WORD.search(text, match.end())
            if is_last and has_call_keys(match[group]) and names.search(match[group]):
                yield NotInWords(f"a call in quotation: {shortened(match[0].strip())}")


def _named_objects(text: str, pieces: Iterable[Piece], tools: Mapping[str, Tool]) -> Iterator[NotInWords]:
    """Find `calculate` before an object, and before brackets that fill its line; after a space, if that is all."""
    names = _any_of(tools)
    starts = {piece.start: piece for piece in pieces}
    for match in re.finditer(rf"(?<![\w.])(?:{names})[*_`:= \t]{{0,32}}\n?[ \t]{{0,32}}(?=\{{)", text):
        piece = starts.get(match.end())
        if piece is not None:
            shown = shortened(text[match.start() : piece.end])
            yield NotInWords(f"the name of a tool, and arguments: {shown}", piece.is_cut_off)
    line = rf"^[^\w\n]*(?:[\w \t]{{1,24}}:[ \t]*)?(?:{names})[ \t]?([(\[{{])([^\n]*)"
    for match in re.finditer(line, text, re.MULTILINE):
        is_apart = match[1] != "(" and text[match.start(1) - 1].isspace()
        if is_apart and (_WORD.search(text, 0, match.start()) or _WORD.search(text, match.end())):
            continue  # a source, as in `search [1]`, or a set
        _, closing, after = match[2].rpartition(_CLOSINGS[match[1]])
        if not _WORD.search(after if closing else ""):
            is_cut_off = not closing and match.end() == len(text.rstrip())
            yield NotInWords(f"the name of a tool, and arguments: {shortened(match[0].strip())}", is_cut_off)


def _named_values(text: str, pieces: Iterable[Piece], tools: Mapping[str, Tool]) -> Iterator[NotInWords]:
    """Find `{tool: "calculate", …}` in any spelling."""
    keys, names = "|".join(_NAME_KEYS), _any_of(tools)
    pattern = rf"""[{{\[(,]\s*["']?(?:{keys})["']?\s*:\s*["']?(?:{names})(?![\w.])"""
    for match in re.finditer(pattern, text):
        is_cut_off = any(piece.is_cut_off and piece.start <= match.start() for piece in pieces)
        yield NotInWords(f"an object that names a tool: {shortened(text[match.start() :].strip())}", is_cut_off)


def _steps(text: str, tools: Mapping[str, Tool]) -> Iterator[NotInWords]:
    """Find `Action: calculate` and `Tool: calculate`, as agents of another kind write it."""
    for match in _STEP.finditer(text):
        is_name_alone = bool(match["name"]) and not _WORD.search(match["rest"])
        if is_name_alone and match["name"].lower() in _NO_ACTION and not match["input"]:
            continue
        has_arguments = match["rest"].lstrip()[:1] in ("(", "[", "{") and bool(match["rest"].strip())
        if match["input"] or match["name"] in tools or is_name_alone or has_arguments:
            yield NotInWords(f"a step of an agent: {shortened(match[0].strip())}")
    for match in re.finditer(_TOOL_LINE.format(names=_any_of(tools)), text, re.MULTILINE):
        yield NotInWords(f"a step of an agent: {shortened(match[0].strip())}")


def _tags(text: str, tools: Mapping[str, Tool]) -> Iterator[NotInWords]:
    """Find a tag around calls, or one of a tool's name, that begins a line, or after which no word follows."""
    of_tools = re.compile(_TOOL_TAG.format(names=_any_of(tools)))
    for match in chain(_CALL_TAG.finditer(text), of_tools.finditer(text)):
        line = text[max(match.start() - _LOOK, 0) : match.start()].rpartition("\n")[2]
        after = _ANY_TAG.sub(" ", text[match.end() : match.end() + _LOOK])
        if not _WORD.search(line) or not _WORD.search(after):
            yield NotInWords(f"a tag around calls, without one: {shortened(text[match.start() :].strip())}")


def _bare_arguments(text: str, pieces: Iterable[Piece], tools: Mapping[str, Tool]) -> Iterator[NotInWords]:
    """Find an object with the arguments of a tool, after which its line has no word."""
    for piece in pieces:
        after = text[piece.end : piece.end + _LOOK].partition("\n")[0]
        if piece.is_cut_off or _WORD.search(after):
            continue
        keys = _keys(piece.text)
        for tool in tools.values():
            properties = tool.parameters.get("properties")
            known = set(properties) if isinstance(properties, Mapping) else set()
            if keys and keys <= known and keys >= set(tool.parameters.get("required") or ()):
                yield NotInWords(f"the arguments of {tool.name}, without its name: {shortened(piece.text)}")


def _keys(text: str) -> set[str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # nested too deep, or an integer with too many digits
        return set()
    return set(value) if isinstance(value, dict) else set()


def _any_of(names: Mapping[str, Tool]) -> str:
    return _pattern(tuple(names))


@lru_cache(64)
def _pattern(names: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or _NO_NAME
