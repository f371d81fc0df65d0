"""Protocol tokens: what a server should have cut off around a message (rule 10)."""

from __future__ import annotations

from llama3_tools.formats.base import Candidate, IsToken, Marker, Outcome, WireFormat
from llama3_tools.source import Reading, Source

__all__ = ["PROTOCOL_TOKEN"]

# meta-llama/llama-models: prompt_format.md of llama3_1, llama3_2, llama3_3 and llama4.
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
)
_ROLE = "[^<>|]{0,32}"
_MARKERS = (
    *map(Marker.of, _TOKENS),
    Marker.of("<|start_header_id|>", _ROLE, "<|end_header_id|>"),
    Marker.of("<|header_start|>", _ROLE, "<|header_end|>"),
)


def _read_token(source: Source, candidate: Candidate) -> Reading[Outcome]:
    yield from ()  # a reader that never has to wait
    return IsToken(source.offset + len(candidate.marker))


PROTOCOL_TOKEN = WireFormat("protocol_token", Marker.any_of(_MARKERS), _read_token)
