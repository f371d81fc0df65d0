"""Protocol tokens: what a server should have cut off around a message (rule 10)."""

from __future__ import annotations

import re

from llama3_tools.formats.base import Candidate, IsToken, Marker, Outcome, WireFormat
from llama3_tools.source import Reading, Source

__all__ = ["PROTOCOL_TOKEN", "TOKEN_PATTERN"]

_IM_START = "<|im_start|>"
# meta-llama/llama-models: prompt_format.md of llama3_1, llama3_2, llama3_3 and llama4. Hermes finetunes of Llama 3
# write ChatML, and <|end_header_id|> behind it: HuanzhiMao/BFCL-Result, NousResearch_Hermes-2-Theta-Llama-3-70B.
_TOKENS = (
    "<|python_tag|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|finetune_right_pad_id|>",
    "<|python_end|>",
    "<|eom|>",
    "<|eot|>",
    _IM_START,
    "<|im_end|>",
    "<|endoftext|>",
    "<|end_header_id|>",
)
_HEADER_ROLE = "[^<>|]{0,32}"
_MARKERS = (
    *map(Marker.of, _TOKENS),
    Marker.of("<|start_header_id|>", _HEADER_ROLE, "<|end_header_id|>"),
    Marker.of("<|header_start|>", _HEADER_ROLE, "<|header_end|>"),
)
_ROLES = ("assistant", "user", "system", "tool", "ipython", "function")
_ROLE = rf"(?:(?:{'|'.join(_ROLES)})\b[ \t]{{0,4}})?"
_WITH_ROLE = re.compile(rf"{_ROLE}(?:\r?\n)?")
_MAY_BE_ROLE = re.compile("|".join((*(Marker.of(role).partial for role in _ROLES), rf"{_ROLE}\r?\Z")))


def _read_token(source: Source, candidate: Candidate) -> Reading[Outcome]:
    source.pos += len(candidate.marker)
    if candidate.marker == _IM_START:
        while not source.ended and _MAY_BE_ROLE.match(source.text, source.pos):
            yield None
        role = _WITH_ROLE.match(source.text, source.pos)
        assert role is not None  # noqa: S101  # there may be none
        source.pos = role.end()
    return IsToken(source.offset)


PROTOCOL_TOKEN = WireFormat("protocol_token", Marker.any_of(_MARKERS), _read_token)
TOKEN_PATTERN = PROTOCOL_TOKEN.marker.whole.replace(re.escape(_IM_START), re.escape(_IM_START) + _WITH_ROLE.pattern)
"""The pattern of a protocol token that is all there, with its role."""
