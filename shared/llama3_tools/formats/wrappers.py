"""Wrappers: what stands around calls and vanishes with them (rule 9)."""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple

from llama3_tools.calls.reader import Parts, Scope
from llama3_tools.formats.base import Candidate, IsCall, IsText, IsToken, Marker, Outcome, WireFormat
from llama3_tools.formats.protocol_tokens import PROTOCOL_TOKEN
from llama3_tools.formats.python_dict import read_python_dict
from llama3_tools.reading.source import Reading, Source
from llama3_tools.stream.content import DELIMITERS

__all__ = [
    "FUNCTION",
    "FUNCTIONCALL",
    "PYTHON_START",
    "TOOL",
    "TOOLS",
    "TOOL_CALL",
    "Inside",
    "is_at",
    "read_inside",
    "skip_tokens",
    "skip_white_space",
    "tag",
]

_WHITE_SPACE = re.compile(r"\s*")


class Inside(NamedTuple):
    """What a wrapper held."""

    parts: Parts
    """The calls, as far as it held nothing else."""
    intact: bool
    """Whether that was all: closed, or open at the end of the output behind complete calls."""
    began_with_candidate: bool
    """Whether the first thing in it was a call, or a candidate that was rejected, rather than prose or code."""


def read_inside(  # noqa: PLR0913 (what a wrapper is)
    source: Source,
    candidate: Candidate,
    name: str,
    closing: str,
    *,
    is_tag: bool = False,
    until_token: bool = False,
    reopens: bool = False,
) -> Reading[Inside]:
    """Read calls and delimiters up to the closing of a wrapper; stop at anything else.

    Args:
        source: where to read, behind the opening.
        candidate: the wrapper's beginning.
        name: the wrapper's name.
        closing: the text that closes it. At the end of the output its beginning is enough.
        is_tag: whether it is a tag around JSON.
        until_token: whether a protocol token behind the calls closes it, too.
        reopens: whether the same opening behind the calls does.
    """
    outer = candidate.scope
    scope = Scope(outer.format if outer.wrappers else name, (*outer.wrappers, name), is_tag or outer.is_in_tag)
    parts: Parts = []
    found = began = False
    token: tuple[int, int] | None = None  # where the first behind a call ended, and how many parts there were by then
    while True:
        yield from _skip(source, DELIMITERS if found else _WHITE_SPACE)
        if source.finished or (yield from is_at(source, closing)):
            return Inside(parts, intact=found, began_with_candidate=began)
        at = source.offset
        outcome = yield from _read_one(source, candidate._replace(scope=scope))
        if isinstance(outcome, IsCall):
            if outcome.surplus is not None:
                yield from outcome.surplus(source)
            parts += outcome.parts
            found = True
        elif isinstance(outcome, IsToken) and outcome.then is None:
            source.rewind(outcome.end)
            token = (outcome.end, len(parts)) if until_token and found and token is None else token
        elif token is not None:
            source.rewind(token[0])
            return Inside(parts[: token[1]], intact=True, began_with_candidate=True)
        elif isinstance(outcome, IsToken) and until_token and found:  # another's turn begins
            source.rewind(at)
            return Inside(parts, intact=True, began_with_candidate=True)
        elif reopens and found and source.offset == at and source.text.startswith(candidate.marker, source.pos):
            return Inside(parts, intact=True, began_with_candidate=True)
        else:
            began = began or (isinstance(outcome, IsText) and outcome.rejection is not None)
            return Inside(parts, intact=False, began_with_candidate=began)
        began = True


def is_at(source: Source, literal: str) -> Reading[bool]:
    """Step over a literal if it stands here: whole, or cut off by the end of the output."""
    while True:
        rest = source.text[source.pos : source.pos + len(literal)]
        if rest == literal or (source.ended and rest and literal.startswith(rest)):
            source.pos += len(rest)
            return True
        if source.ended or not literal.startswith(rest):
            return False
        yield None


def skip_white_space(source: Source) -> Reading[None]:
    """Step over white space, for as long as more of it may come."""
    return _skip(source, _WHITE_SPACE)


def skip_tokens(source: Source, candidate: Candidate) -> Reading[None]:
    """Step over white space and protocol tokens."""
    while True:
        yield from skip_white_space(source)
        match = candidate.openings.match(source.text, source.pos)
        if match and match[0] is PROTOCOL_TOKEN:
            yield from PROTOCOL_TOKEN.read(source, candidate._replace(marker=match[1]))
        elif match or source.ended or not candidate.openings.may_begin(source.text, source.pos):
            return
        else:
            yield None


def _skip(source: Source, pattern: re.Pattern[str]) -> Reading[None]:
    while True:
        match = pattern.match(source.text, source.pos)
        source.pos = match.end() if match else source.pos
        if not source.exhausted or source.ended:
            return
        yield None


def _read_one(source: Source, candidate: Candidate) -> Reading[Outcome | None]:
    """Read one candidate inside a wrapper; `None` where nothing begins that may stand there."""
    while True:
        match = candidate.openings.match(source.text, source.pos)
        if match is None and source.text.startswith(("{", "["), source.pos):  # read as where it was the last character
            match = candidate.openings.match(source.text[source.pos], 0)
        if match is not None:
            break
        if source.ended or not candidate.openings.may_begin(source.text, source.pos):
            return None
        yield None
    format_, marker = match
    if not format_.may_be_in(candidate.scope):
        return None
    outcome: Outcome = yield from format_.read(source, candidate._replace(marker=marker))
    return outcome


def tag(name: str, *tags: tuple[str, str], reopens: bool = False, holds_schemas: bool = False) -> WireFormat:
    """Make the format of JSON between an opening tag and its closing.

    Args:
        name: the name of the format.
        tags: the tags, in one spelling or several.
        reopens: whether the same opening behind the calls closes it, too.
        holds_schemas: whether prompts have the tools in it, which models repeat.
    """
    closings = dict(tags)

    def read(source: Source, candidate: Candidate) -> Reading[Outcome]:
        source.pos += len(candidate.marker)
        behind, closing = source.offset, closings[candidate.marker]
        yield from skip_white_space(source)
        begins = source.offset
        inside = yield from read_inside(
            source, candidate, name, closing, is_tag=True, until_token=True, reopens=reopens
        )
        if not inside.intact:
            is_quoted = source.before.endswith("`")
            source.behind_tag, source.in_call_tag = begins, -1 if holds_schemas or is_quoted else begins
            rejection = None
            if not inside.began_with_candidate and candidate.calls.repair is None:
                rejection = yield from read_python_dict(source, begins, candidate.calls)
            return IsText(begins + 1, rejection) if rejection else IsText(behind)
        return IsCall(inside.parts, partial(is_at, literal=f"</{name}>") if closing == ">" else None)

    return WireFormat(name, Marker.any_of(map(Marker.of, closings)), read)


def _read_python_start(source: Source, candidate: Candidate) -> Reading[Outcome]:
    source.pos += len(candidate.marker)
    behind = source.offset
    inside = yield from read_inside(source, candidate, "python_start", "<|python_end|>", until_token=True)
    return IsCall(inside.parts) if inside.intact else IsToken(behind)


PYTHON_START = WireFormat("python_start", Marker.of("<|python_start|>"), _read_python_start)


# <TOOL> stands in the outputs of Hermes 2 Theta that are named below, <tool-use> in groq/groq-typescript, issue 103.
TOOL = tag("tool", ("<tool>", "</tool>"), ("<TOOL>", "</TOOL>"), ("<tool-use>", "</tool-use>"))
# <TOOLCALL> is that of Nvidia's Llama-Nemotron: `nemotron_deci` in ai-dynamo/dynamo, lib/parsers.
TOOL_CALL = tag("tool_call", ("<tool_call>", "</tool_call>"), ("<TOOLCALL>", "</TOOLCALL>"))

# Tags of finetunes. Where the prompt has the tools in <tools>, as Hermes' does, models write it around calls, too.
# <functioncall>, without a closing tag, is that of Glaive's training data. Those of pairs, and <function>, stand in
# HuanzhiMao/BFCL-Result, NousResearch_Hermes-2-Theta-Llama-3-70B; <functioncall {…}> in maxi1134/Home-Assistant-Config,
# issue 66.
TOOLS = tag("tools", ("<tools>", "</tools>"), holds_schemas=True)
FUNCTION = tag("function", ("<function>", "</function>"))
FUNCTIONCALL = tag(
    "functioncall",
    ("<functioncall>", "</functioncall>"),
    ("<function_call>", "</function_call>"),
    ("<functioncall ", ">"),
    ("<functioncall\n", ">"),
    reopens=True,
)
