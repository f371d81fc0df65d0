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

from llama3_tools import Extractor
from measuring import best_of, chunks_of, streamed
from outputs import MARKDOWN, PROSE, REAL_SHAPES, TOOLS
from pages import time_shown
from samples import Sample, read_file

ANSWERS = ("", "characters", "at once", "5 tools, coercion", "a chunk")
"""The headings of `answers`."""
TARGETS = ("", "measured", "target", "", "missed by")
"""Those of `targets`."""
_TIMES, _MICROSECONDS, _EACH, _MILLISECONDS = "times the floor", "µs", "µs a character", "ms"
_TAGGED = "`<tool_call>`"
_FLOORS = {_TAGGED: 10.0, "text and JSON": 9.0, "fences with JSON": 12.0, "ChatML": 18.0}
"""The targets of the shapes, in floors."""
_COERCED_FLOORS = 15.0
"""That of the first with tools declared and coercion on."""
_COERCE = {"tools": TOOLS, "coerce_arguments": True}
_CORPUS = Path(__file__).parents[2] / "shared"
_FILES = (_CORPUS / "corpus" / "real_outputs.jsonl", _CORPUS / "bfcl" / "rows.jsonl.gz")
"""Published outputs, where they lie beside the repository."""
_ENOUGH_OUTPUTS = 200
"""Of twice as many outputs of a shape, every second one is taken, and so on."""


class Shape(NamedTuple):
    """Outputs of one shape."""

    name: str
    texts: Sequence[str]
    calls: Sequence[str]
    """The calls in them, in JSON."""
    tools: Sequence[str] = ()
    """The tools that are declared for each, in JSON; empty: none of their own."""

    @property
    def size(self) -> int:
        """How many characters they have together."""
        return sum(map(len, self.texts))


def answers(repeats: int) -> Iterator[Sequence[str]]:
    """Measure what an answer takes, for one of each shape.

    Args:
        repeats: how many runs the best one is taken of.
    """
    for name, (text, calls) in {**REAL_SHAPES, "prose": (PROSE, []), "Markdown": (MARKDOWN, [])}.items():
        shape = Shape(name, [text], calls)
        plain, coercing = _extractors({}, shape)[0], _extractors(_COERCE, shape)[0]
        chunks = list(chunks_of(text))
        times = (
            best_of(partial(plain.extract, text), repeats),
            best_of(partial(coercing.extract, text), repeats),
            best_of(partial(streamed, plain, chunks), repeats) / len(chunks),
        )
        yield (name, f"{shape.size:,}", *map(time_shown, times))


def targets(repeats: int, files: Sequence[Path] = _FILES) -> Iterator[Sequence[str]]:
    """Measure all that has a target.

    Args:
        repeats: how many runs the best one is taken of.
        files: outputs of real models; those that are not there are left out.
    """
    shapes = [Shape(name, [text], calls) for name, (text, calls) in REAL_SHAPES.items()]
    for shape in shapes:
        yield _whole(shape, {}, _FLOORS[shape.name], repeats)
        if shape.name == _TAGGED:
            yield _whole(shape, _COERCE, _COERCED_FLOORS, repeats, ", 5 tools, coercion")
    for shape in published_shapes(files):
        if shape.tools:
            yield _whole(shape, {"coerce_arguments": True}, _COERCED_FLOORS, repeats, ", coercion")
        else:
            yield _whole(shape, {}, _FLOORS[shape.name.partition(",")[0]], repeats)
    for name, text, plain, declared in (("prose", PROSE, 3.0, 6.0), ("Markdown", MARKDOWN, 8.0, 12.0)):
        shape = Shape(name, [text], [])
        yield _timed(shape, {}, plain, repeats)
        yield _timed(shape, {"tools": TOOLS}, declared, repeats, ", 5 tools")
    prose, markdown = Shape("prose", [PROSE], []), Shape("Markdown", [MARKDOWN], [])
    for shape in (*shapes, prose, markdown):
        yield _in_chunks(shape, {}, repeats)
    yield _in_chunks(shapes[0], _COERCE, repeats, ", 5 tools, coercion")
    for shape in (prose, markdown):
        yield _in_chunks(shape, {"tools": TOOLS}, repeats, ", 5 tools")
    for number, target in ((100, 6.0), (1000, 60.0)):
        seconds = best_of(partial(build, number), repeats)
        yield _row(f"an extractor for {number:,} tools", 1e3 * seconds, _MILLISECONDS, target)


def published_shapes(files: Sequence[Path]) -> Iterator[Shape]:
    """Return a sample of outputs of real models by their shapes, with the calls that are found in them.

    Those in `<tool_call>` come twice: without tools, and with those that are declared for each.
    """
    samples = [sample for path in files if path.is_file() for sample in read_file(path)]
    for name in _FLOORS:
        chosen = [sample for sample in samples if _shape_of(sample.text) == name]
        chosen = chosen[:: max(1, len(chosen) // _ENOUGH_OUTPUTS)]
        yield from _published(name, chosen, Extractor())
        if name == _TAGGED:
            yield from _published(name, chosen)


def _published(name: str, samples: Sequence[Sample], extractor: Extractor | None = None) -> Iterator[Shape]:
    """Return the shape of outputs, if calls are found in any of them.

    Args:
        name: what the shape is called.
        samples: the outputs.
        extractor: what finds calls; `None`: one with the tools that are declared for each output.
    """
    found = [(sample, _calls_in(sample.text, extractor or _declaring(sample.tools))) for sample in samples]
    having = [(sample, calls) for sample, calls in found if calls]
    if having:
        yield Shape(
            f"{name}, {len(having)} real outputs{'' if extractor else ', own tools'}",
            [sample.text for sample, _ in having],
            [call for _, calls in having for call in calls],
            () if extractor else [sample.tools for sample, _ in having],
        )


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


def _calls_in(text: str, extractor: Extractor) -> list[str]:
    """Return the JSON of the calls in an output, or nothing if one of them is not JSON."""
    written = [text[slice(*call.span)] for call in extractor.extract(text).tool_calls]
    try:
        for call in written:
            json.loads(call)
    except ValueError:
        return []
    return written


def _declaring(tools: str, **options: Any) -> Extractor:  # noqa: ANN401 - as Extractor takes them
    return Extractor(tools=json.loads(tools), **options)


def _extractors(options: Mapping[str, Any], shape: Shape) -> Sequence[Extractor]:
    """Return what reads each output: one extractor for all that have no tools of their own."""
    if shape.tools:
        declaring = {tools: _declaring(tools, **options) for tools in set(shape.tools)}
        extractors = [declaring[tools] for tools in shape.tools]
    else:
        extractors = [Extractor(**options)] * len(shape.texts)
    found = sum(len(one.extract(text).tool_calls) for one, text in zip(extractors, shape.texts, strict=True))
    if found != len(shape.calls):
        raise AssertionError(f"{shape.name}: {found} calls were found, not the {len(shape.calls)} in it")
    return extractors


def _whole(shape: Shape, options: Mapping[str, Any], target: float, repeats: int, how: str = "") -> Sequence[str]:
    extractors = _extractors(options, shape)
    seconds = best_of(partial(_extract_all, extractors, shape.texts), repeats)
    floor = best_of(partial(_read_floor, shape), repeats)
    return _row(f"{shape.name}{how}", seconds / floor, _TIMES, target)


def _timed(shape: Shape, options: Mapping[str, Any], target: float, repeats: int, how: str = "") -> Sequence[str]:
    extractors = _extractors(options, shape)
    seconds = best_of(partial(_extract_all, extractors, shape.texts), repeats)
    return _row(f"500 characters of {shape.name}{how}", 1e6 * seconds, _MICROSECONDS, target)


def _in_chunks(shape: Shape, options: Mapping[str, Any], repeats: int, how: str = "") -> Sequence[str]:
    extractors = _extractors(options, shape)
    chunks = [list(chunks_of(text)) for text in shape.texts]
    seconds = best_of(partial(_stream_all, extractors, chunks), repeats)
    return _row(f"stream by 4 characters: {shape.name}{how}", 1e6 * seconds / shape.size, _EACH, 0.6)


def _row(name: str, measured: float, unit: str, target: float) -> Sequence[str]:
    missed = f"{measured / target - 1:.0%}" if measured > target else ""
    return (name, f"{measured:.3g}", f"{target:.3g}", unit, missed)


def _extract_all(extractors: Sequence[Extractor], texts: Sequence[str]) -> None:
    for extractor, text in zip(extractors, texts, strict=True):
        extractor.extract(text)


def _stream_all(extractors: Sequence[Extractor], outputs: Sequence[Sequence[str]]) -> None:
    for extractor, chunks in zip(extractors, outputs, strict=True):
        streamed(extractor, chunks)


def _read_floor(shape: Shape) -> None:
    for text in shape.texts:
        text.find("{")
    for call in shape.calls:
        json.loads(call)
