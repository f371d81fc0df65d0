"""Protocol tokens: what a server should have cut off around a message (rule 10).

A model that runs on behind its turn makes up the next one, of the user or of a tool: that is quotation (rule 9).
"""

from __future__ import annotations

import re
from functools import cache

from llama3_tools.formats.base import Candidate, IsText, IsToken, Marker, Openings, Outcome, WireFormat
from llama3_tools.reading.source import Reading, Source

__all__ = ["PROTOCOL_TOKEN", "TOKEN_PATTERN", "TURN"]

_IM_START = "<|im_start|>"
_END_HEADER = "<|end_header_id|>"
# meta-llama/llama-models: prompt_format.md of llama3_1, llama3_2, llama3_3 and llama4. Hermes finetunes of Llama 3
# write ChatML, and <|end_header_id|> behind it: HuanzhiMao/BFCL-Result, NousResearch_Hermes-2-Theta-Llama-3-70B.
_TOKENS = ("<|python_tag|>", "<|begin_of_text|>", "<|finetune_right_pad_id|>", "<|python_end|>", _END_HEADER)
_ENDS = ("<|eom_id|>", "<|eot_id|>", "<|end_of_text|>", "<|eom|>", "<|eot|>", "<|im_end|>", "<|endoftext|>")
_HEADER_ROLE = "[^<>|]{0,32}"
_TURN_MARKERS = (
    *map(Marker.of, (*_ENDS, _IM_START)),
    Marker.of("<|start_header_id|>", _HEADER_ROLE, _END_HEADER),
    Marker.of("<|header_start|>", _HEADER_ROLE, "<|header_end|>"),
)
_OTHERS = ("user", "system", "tool", "ipython", "function")
_ROLES = ("assistant", *_OTHERS)
_ROLE = rf"(?i:(?:{'|'.join(_ROLES)})\b[ \t]{{0,4}})?"
_WITH_ROLE = re.compile(rf"{_ROLE}(?:\r?\n)?")
_MAY_BE_ROLE = re.compile(rf"(?i:{'|'.join(Marker.of(role).partial for role in _ROLES)})|{_ROLE}\r?\Z")
_OTHERS_HEADER = re.compile(rf"<\|[a-z_]+\|>\s*(?i:{'|'.join(_OTHERS)})\s*(?:<\|[a-z_]+\|>)?")
_BLANKS = re.compile(r"[^\S\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*")
"""White space within a line. What other white space there is breaks it."""


def _read_token(source: Source, candidate: Candidate) -> Reading[Outcome]:
    source.pos += len(candidate.marker)
    header = candidate.marker
    if candidate.marker == _IM_START:
        while not source.ended and _MAY_BE_ROLE.match(source.text, source.pos):
            yield None
        role = _WITH_ROLE.match(source.text, source.pos)
        assert role is not None  # noqa: S101  # there may be none
        source.pos = role.end()
        header += role[0]
    end = source.offset
    if _OTHERS_HEADER.fullmatch(header) and (header.endswith("\n") or (yield from _ends_line(source))):
        return IsToken(end, TURN)
    return IsToken(end)


def _ends_line(source: Source) -> Reading[bool]:
    """Step over blanks and what ends a header, and tell whether a line break follows."""
    while True:
        blanks = _BLANKS.match(source.text, source.pos)
        source.pos = blanks.end() if blanks else source.pos
        rest = source.text[source.pos : source.pos + len(_END_HEADER)]
        if rest == _END_HEADER:
            source.pos += len(rest)
        elif source.ended or not _END_HEADER.startswith(rest):
            return rest[:1].isspace()
        else:
            yield None


def _read_turn(source: Source, _: Candidate) -> Reading[Outcome]:
    """Read up to the token that ends the turn or begins the next one."""
    source.let_go()
    bounds = _turn_bounds()
    while True:
        at = bounds.find(source.text, source.pos)
        source.pos = len(source.text) if at < 0 or source.ended else at
        if at >= 0 and bounds.match(source.text, at):
            source.pos = at
            return IsText(source.offset)
        if source.ended:
            return IsText(source.offset)
        yield source.offset


@cache
def _turn_bounds() -> Openings:
    return Openings([TURN])  # pragma: no cover  # once in a process, perhaps while nothing is measured


TURN = WireFormat("turn", Marker.any_of(_TURN_MARKERS), _read_turn)
PROTOCOL_TOKEN = WireFormat("protocol_token", Marker.any_of((*map(Marker.of, _TOKENS), *_TURN_MARKERS)), _read_token)
TOKEN_PATTERN = PROTOCOL_TOKEN.marker.whole.replace(re.escape(_IM_START), re.escape(_IM_START) + _WITH_ROLE.pattern)
"""The pattern of a protocol token that is all there, with its role."""
