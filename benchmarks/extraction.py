"""The targets: outputs in the shapes in which models write them, against the least that could be done with them.

The floor of an output is one `json.loads` of each of its calls and one `str.find` over its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from evidence import Sample, read_file
from figures import Target
from llama3_tools import Extractor
from measuring import best_of, chunks_of, streamed
from outputs import MARKDOWN, PROSE, REAL_SHAPES, TOOLS

__all__ = ["Shape", "targets"]

_TIMES, _MICROSECONDS, _EACH, _MILLISECONDS = "times the floor", "µs", "µs a character", "ms"
_FLOORS = {"`<tool_call>`": 10.0, "text and JSON": 10.0, "fences with JSON": 14.0, "ChatML": 14.0}
"""The targets of the shapes, in floors."""
_COERCE = {"tools": TOOLS, "coerce_arguments": True}
_CORPUS = Path(__file__).parents[2] / "shared"
_FILES = (_CORPUS / "corpus" / "real_outputs.jsonl", _CORPUS / "bfcl" / "rows.jsonl.gz")
"""Published outputs, where they lie beside the repository."""
_MOST_OUTPUTS = 200


class Shape(NamedTuple):
    """Outputs of one shape."""

    name: str
    texts: Sequence[str]
    calls: Sequence[str]
    """The calls in them, in JSON."""

    @property
    def size(self) -> int:
        """How many characters they have together."""
        return sum(map(len, self.texts))


def targets(repeats: int, files: Sequence[Path] = _FILES) -> Iterator[Target]:
    """Measure all that has a target.

    Args:
        repeats: how many runs the best one is taken of.
        files: outputs of real models; those that are not there are left out.
    """
    shapes = [Shape(name, [text], calls) for name, (text, calls) in REAL_SHAPES.items()]
    for shape in (*shapes, *published_shapes(files)):
        kind = shape.name.partition(",")[0]
        yield _whole(shape, {}, _FLOORS[kind], repeats)
        if kind == "`<tool_call>`" and len(shape.texts) == 1:
            yield _whole(shape, _COERCE, 14.0, repeats, ", 5 tools, coercion")
    for name, text, plain, declared in (("prose", PROSE, 3.0, 6.0), ("Markdown", MARKDOWN, 8.0, 12.0)):
        shape = Shape(name, [text], [])
        yield _timed(shape, {}, plain, repeats)
        yield _timed(shape, {"tools": TOOLS}, declared, repeats, ", 5 tools")
    for shape in (*shapes, Shape("prose", [PROSE], [])):
        yield _in_chunks(shape, {}, repeats)
    yield _in_chunks(shapes[0], _COERCE, repeats, ", 5 tools, coercion")
    for number, target in ((100, 6.0), (1000, 60.0)):
        seconds = best_of(partial(build, number), repeats)
        yield Target(f"an extractor for {number:,} tools", 1e3 * seconds, _MILLISECONDS, target)


def published_shapes(files: Sequence[Path]) -> Iterator[Shape]:
    """Return the outputs of real models by their shapes, with the calls that are found in them."""
    samples = [sample for path in files if path.is_file() for sample in read_file(path)]
    for name in _FLOORS:
        chosen = [sample for sample in samples if _shape_of(sample.text) == name]
        step = max(1, len(chosen) // _MOST_OUTPUTS)
        found = [(sample, _calls_in(sample)) for sample in chosen[::step]]
        having = [(sample.text, calls) for sample, calls in found if calls]
        if having:
            texts, calls = [text for text, _ in having], [call for _, calls in having for call in calls]
            yield Shape(f"{name}, {len(texts)} real outputs", texts, calls)


def build(number: int) -> Extractor:
    """Make an extractor for so many tools, declarations that were never read before included."""
    declared = [
        {**tool, "function": {**tool["function"], "name": f"{tool['function']['name']}_{copy}"}}
        for copy in range(-(-number // len(TOOLS)))
        for tool in TOOLS
    ]
    return Extractor(tools=declared[:number])


def _shape_of(text: str) -> str | None:
    if "<|im_" in text:
        return "ChatML"
    if "<tool_call>" in text:
        return "`<tool_call>`"
    if "```" in text:
        return "fences with JSON"
    return "text and JSON" if re.search(r'\w\W*\{\s*"(?:name|arguments)"', text) else None


def _calls_in(sample: Sample) -> list[str]:
    """Return the JSON of the calls in an output, or nothing if one of them is not JSON."""
    written = [sample.text[slice(*call.span)] for call in Extractor().extract(sample.text).tool_calls]
    try:
        for call in written:
            json.loads(call)
    except ValueError:
        return []
    return written


def _extractor(options: Mapping[str, Any], shape: Shape) -> Extractor:
    extractor = Extractor(**options)
    found = sum(len(extractor.extract(text).tool_calls) for text in shape.texts)
    if found != len(shape.calls):
        raise AssertionError(f"{shape.name}: {found} calls were found, not the {len(shape.calls)} in it")
    return extractor


def _whole(shape: Shape, options: Mapping[str, Any], target: float, repeats: int, how: str = "") -> Target:
    extractor = _extractor(options, shape)
    seconds = best_of(partial(_extract_all, extractor, shape.texts), repeats)
    floor = best_of(partial(_read_floor, shape), repeats)
    return Target(f"{shape.name}{how}", seconds / floor, _TIMES, target)


def _timed(shape: Shape, options: Mapping[str, Any], target: float, repeats: int, how: str = "") -> Target:
    extractor = _extractor(options, shape)
    seconds = best_of(partial(_extract_all, extractor, shape.texts), repeats)
    return Target(f"500 characters of {shape.name}{how}", 1e6 * seconds, _MICROSECONDS, target)


def _in_chunks(shape: Shape, options: Mapping[str, Any], repeats: int, how: str = "") -> Target:
    extractor = _extractor(options, shape)
    chunks = [list(chunks_of(text)) for text in shape.texts]
    seconds = best_of(partial(_stream_all, extractor, chunks), repeats)
    return Target(f"stream by 4 characters: {shape.name}{how}", 1e6 * seconds / shape.size, _EACH, 0.6)


def _extract_all(extractor: Extractor, texts: Sequence[str]) -> None:
    for text in texts:
        extractor.extract(text)


def _stream_all(extractor: Extractor, outputs: Sequence[Sequence[str]]) -> None:
    for chunks in outputs:
        streamed(extractor, chunks)


def _read_floor(shape: Shape) -> None:
    for text in shape.texts:
        text.find("{")
    for call in shape.calls:
        json.loads(call)
