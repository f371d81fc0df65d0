"""Whether an answer without a call, and without an attempt that the reader reports, is in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from llama3_acceptance.judging.json_in_text import Piece, json_pieces
from llama3_tools.tools import Tool
from llama3_tools.values import shortened

_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>|<\|[^<>|\s]{1,40}\|>|\[/?[A-Z_]{4,30}\]|`{3,}\w*")
_TAG_OF_CALLS = (
    r"(?:<(?!tools>)\w*(?:tool|func|call)\w*>|<function[=\s][^>\n]*>?|<invoke[ ]name=[^>\n]*>?|\[TOOL_CALLS\]"
    r"|<(?:{names})(?=[\s/>])[^<>\n]{{0,200}}>)"
)
_STEP = (
    r"^[^\w\n]*(?:Action[ ]Input[^\w\n]*:|(?:Action|Tool|Function)(?:[ ](?:name|call))?[^\w\n]*:[ \t*_`]*"
    r"(?:{names})(?![\w.-])[^\w\n]*$)[^\n]*"
)
_WORD = re.compile(r"\w")
_MADE_UP_RESULT = re.compile(r"<(tool_response|tool_result)\b[^<>\n]{0,40}>.*?(?:</\1>|\Z)", re.DOTALL)
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
"""An answer to a person, as words are."""
_STANDS_FOR_NOTHING = frozenset({"null", "None", "undefined"})
_LOOK = 300
"""How far after an object a word is looked for, in characters, so that the work is linear in the text."""


class NotInWords(NamedTuple):
    """Why an answer is not in words."""

    detail: str
    """What is there instead of words, to end a sentence after "no answer in words: "."""
    is_cut_off: bool = False
    """Whether the text ends in it."""


def why_not_in_words(content: str, tools: Iterable[Tool]) -> NotInWords | None:
    """Return why the content of an answer without calls is not in words; `None` if it is.

    >>> calculate = Tool("calculate", "", {"type": "object", "properties": {"expression": {"type": "string"}}})
    >>> for content in ["It is 4.", '{"expression": "2+2"}', "Action: calculate", "null"]:
    ...     print(why_not_in_words(content, [calculate]))
    None
    NotInWords(detail='the arguments of calculate, without its name: {"expression": "2+2"}', is_cut_off=False)
    NotInWords(detail='a step of an agent: Action: calculate', is_cut_off=False)
    NotInWords(detail='null', is_cut_off=False)

    Args:
        content: the text of the answer, without thoughts.
        tools: the declared tools.
    """
    declared = list(tools)
    pieces = list(json_pieces(content))
    found = next(chain(_named(content, declared), _bare_arguments(content, pieces, declared)), None)
    if found is not None:
        return NotInWords(found)
    if not content.strip() or _has_words(content):
        return None
    return NotInWords(shortened(content.strip()), any(piece.is_cut_off for piece in pieces))


def _has_words(text: str) -> bool:
    """Return whether anything is left beside JSON, tags, a tool's result that the model made up, and `null`."""
    text = _MADE_UP_RESULT.sub(" ", text)
    between, at = list[str](), 0
    for piece in json_pieces(text):
        between.append(text[at : piece.start])
        at = piece.end
    rest = _TAG.sub(" ", " ".join([*between, text[at:]])).strip()
    return rest not in _STANDS_FOR_NOTHING and (any(map(str.isalnum, rest)) or bool(_EMOJI.search(rest)))


def _named(text: str, tools: Iterable[Tool]) -> Iterator[str]:
    """Find a tool's name alone, a step of an agent of another kind, and a tag of calls at the beginning or the end."""
    names = "|".join(re.escape(tool.name) for tool in tools) or r"(?!)"
    if re.fullmatch(rf"\W*(?:{names})\W*", text):
        yield f"the name of a tool: {text.strip()}"
    for match in re.finditer(_STEP.format(names=names), text, re.MULTILINE):
        yield f"a step of an agent: {shortened(match[0].strip())}"
    tag = _TAG_OF_CALLS.format(names=names)
    for match in re.finditer(rf"\A[\s`]*{tag}|{tag}[\s`]*\Z", text):
        yield f"a tag of calls, without one: {shortened(match[0].strip())}"


def _bare_arguments(text: str, pieces: Iterable[Piece], tools: Iterable[Tool]) -> Iterator[str]:
    """Find an object with the arguments of a tool, after which its line has no word."""
    for piece in pieces:
        after = text[piece.end : piece.end + _LOOK].partition("\n")[0]
        if piece.is_cut_off or _WORD.search(after):
            continue
        keys = _keys(piece.text)
        for tool in tools:
            known = tool.parameters.get("properties") or {}
            if keys and keys <= known.keys() and keys >= set(tool.parameters.get("required") or ()):
                yield f"the arguments of {tool.name}, without its name: {shortened(piece.text)}"


def _keys(text: str) -> set[str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # nested too deep, or an integer with too many digits
        return set()
    return set(value) if isinstance(value, dict) else set()
