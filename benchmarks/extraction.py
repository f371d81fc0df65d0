"""Outputs of every day, against the least that could be done with them.

The floor of an output is one `json.loads` of each of its calls and one `str.find` over its text. That of a stream is a
loop over its chunks that appends them and looks for a brace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial

from figures import Ratio
from llama3_tools import Extractor
from measuring import best_of, chunks_of, streamed
from workloads import CALL, TYPICAL

__all__ = ["ratios"]

_MEGABYTE = 1_000_000
_LEAF = '{"a": [1, 2, {"b": "ccccccc"}]}'
_PROSE = "Prose without a brace in it. "
_CHUNK = 4
_STREAMING_TARGET = 70.0
"""Which is 1.5 µs a character where the loop takes 21 ns, as it does on the machine of the documentation."""


def ratios(repeats: int) -> Iterator[Ratio]:
    """Measure the outputs that have a target."""
    string = f'{{"name": "f", "parameters": {{"text": "{"x" * 100_000}"}}}}'
    leaves = ",".join([_LEAF] * (_MEGABYTE // (len(_LEAF) + 1)))
    structure = f'{{"name": "f", "parameters": {{"all": [{leaves}]}}}}'
    for name, text, calls, target in (
        ("a typical output", TYPICAL, [CALL], 3.0),
        ("a string of 100 KB", string, [string], 1.5),
        ("1 MB of structure", structure, [structure], 1.3),
        ("1 MB of prose", _PROSE * (_MEGABYTE // len(_PROSE)), [], 2.0),
        ("1,000 calls", "; ".join([CALL] * 1000), [CALL] * 1000, 3.0),
    ):
        yield _whole(name, text, calls, target, repeats)
    yield _streamed(repeats)


def _whole(name: str, text: str, calls: Sequence[str], target: float, repeats: int) -> Ratio:
    extractor = Extractor()
    found = [call.arguments for call in extractor.extract(text).tool_calls]
    if found != [json.loads(call)["parameters"] for call in calls]:
        raise AssertionError(f"{name}: {len(found)} calls were found, which are not the {len(calls)} in it")
    seconds = best_of(partial(extractor.extract, text), repeats)
    return Ratio(name, len(text), seconds, best_of(partial(_read_floor, text, calls), repeats), target)


def _streamed(repeats: int) -> Ratio:
    chunks = chunks_of(TYPICAL, _CHUNK)
    seconds = best_of(partial(streamed, Extractor(), chunks), repeats)
    floor = best_of(partial(_append_and_search, chunks), repeats)
    return Ratio("a typical output, by 4 characters", len(TYPICAL), seconds, floor, _STREAMING_TARGET)


def _read_floor(text: str, calls: Sequence[str]) -> None:
    text.find("{")
    for call in calls:
        json.loads(call)


def _append_and_search(chunks: Sequence[str]) -> str:
    text = ""
    for chunk in chunks:
        text += chunk
        chunk.find("{")
    return text
