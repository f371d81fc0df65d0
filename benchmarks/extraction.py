"""Outputs of every day, against the least that could be done with them.

The floor of an output is one `json.loads` of each of its calls and one `str.find` over its text. That of a stream is a
loop over its chunks that appends them and looks for a brace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from figures import OutputRatio
from llama3_tools import Extractor
from measuring import best_of, chunks_of, streamed
from workloads import CALL, LEAF, PROSE, TYPICAL

__all__ = ["ratios"]

_MEGABYTE = 1_000_000
_MARKDOWN = '# Title\n\n- **Bold** and `code`, a [link](https://example.org) [1]\n1. One <b>x</b> ("quoted")\n'
_TOOLS = [{"name": name} for name in ("get_weather", "get_time", "search", "send_mail", "turn_on")]
_DEEP = 60
_STREAMING_TARGET = 66.0
"""Which is 1.5 µs a character over 22.5 ns, about what the loop takes for one on the machine of the documentation."""


class _Output(NamedTuple):
    """An output, who reads it, and the calls in it."""

    name: str
    extractor: Extractor
    text: str
    calls: Sequence[str]
    target: float | None


def ratios(repeats: int) -> Iterator[OutputRatio]:
    """Measure the outputs that have a target, and harder ones of their kinds."""
    plain, declared = Extractor(), Extractor(tools=_TOOLS)
    wide = _call(f"[{','.join([LEAF] * (_MEGABYTE // (len(LEAF) + 1)))}]")
    nested = "[" * _DEEP + "1" + "]" * _DEEP
    deep = _call(f"[{','.join([nested] * (_MEGABYTE // (len(nested) + 1)))}]")
    outputs = (
        _Output("a typical output", plain, TYPICAL, [CALL], 3.0),
        _Output("a typical output, with tools", declared, TYPICAL, [CALL], 3.0),
        _Output("a string of 100 KB", plain, *_alone(_string("x", 100_000)), 1.5),
        _Output("a string of 100 KB, of code", plain, *_alone(_string("if (x) { y[0] = {}; }\n", 100_000)), 1.5),
        _Output("a string of 100 KB, of escapes", plain, *_alone(_string("é", 100_000, escaped=True)), 1.5),
        _Output("1 MB of structure", plain, *_alone(wide), 1.3),
        _Output(f"1 MB of structure, {_DEEP} levels deep", plain, *_alone(deep), 1.3),
        _Output("1 MB of prose", plain, _of(PROSE, _MEGABYTE), [], 2.0),
        _Output("1 MB of prose, with tools", declared, _of(PROSE, _MEGABYTE), [], 2.0),
        _Output("1 MB of Markdown, with tools", declared, _of(_MARKDOWN, _MEGABYTE), [], None),
        _Output("1,000 calls", plain, "; ".join([CALL] * 1000), [CALL] * 1000, 3.0),
    )
    for output in outputs:
        yield _whole(output, repeats)
    yield _streamed(repeats)


def _call(argument: str) -> str:
    return f'{{"name": "f", "parameters": {{"argument": {argument}}}}}'


def _alone(call: str) -> tuple[str, list[str]]:
    return call, [call]


def _string(unit: str, size: int, *, escaped: bool = False) -> str:
    written = json.dumps(unit, ensure_ascii=escaped)[1:-1]
    return _call(f'"{_of(written, size)}"')


def _of(unit: str, size: int) -> str:
    return unit * (size // len(unit))


def _whole(output: _Output, repeats: int) -> OutputRatio:
    name, extractor, text, calls, target = output
    found = [call.arguments for call in extractor.extract(text).tool_calls]
    if found != [json.loads(call)["parameters"] for call in calls]:
        raise AssertionError(f"{name}: {len(found)} calls were found, which are not the {len(calls)} in it")
    seconds = best_of(partial(extractor.extract, text), repeats)
    return OutputRatio(name, seconds, best_of(partial(_read_floor, text, calls), repeats), target, size=len(text))


def _streamed(repeats: int) -> OutputRatio:
    chunks = list(chunks_of(TYPICAL))
    seconds = best_of(partial(streamed, Extractor(), chunks), repeats)
    floor = best_of(partial(_append_and_search, chunks), repeats)
    return OutputRatio("a typical output, by 4 characters", seconds, floor, _STREAMING_TARGET, size=len(TYPICAL))


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
