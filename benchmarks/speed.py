"""How fast outputs are read, as ratios to the least that could be done, and whether the time grows with the output.

    python benchmarks/speed.py                     # the tables: some minutes
    python benchmarks/speed.py --quick             # only whether anything grows faster than its output
    python benchmarks/speed.py --json speed.json   # the figures, with the machine and the versions

The floor of an output is one `json.loads` of each of its calls and one `str.find` over its text, in the same run.
Growth is the time at twice the size by the time at the size: 2 is linear. The exit status is 1 where it is more, again
and again.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata
from itertools import pairwise
from pathlib import Path

from measuring import best_of, chunks_of, streamed
from workloads import CALL, GROWING, TYPICAL, Workload

from llama3_tools import Extractor

_WHOLE = 0
_CHUNKS = (_WHOLE, 1, 4, 16, 4096)
"""The lengths of chunks, in characters; 0 is the whole output at once."""
_MOST_GROWTH = 2 * 1.1
_ATTEMPTS = 6
_KIB = 1024
_VERSIONS = ("llama3-tools", "langchain-core", "llama-index-core", "pydantic")


@dataclass(frozen=True, slots=True)
class Ratio:
    """The time of an output, and that of its floor."""

    workload: str
    size: int
    """In characters."""
    seconds: float
    floor: float
    """In seconds."""
    target: float
    """What the ratio is to be at most."""

    @property
    def ratio(self) -> float:
        """How many times the floor it took."""
        return self.seconds / self.floor


@dataclass(frozen=True, slots=True)
class Growth:
    """The times of an output, of one twice and of one four times as long."""

    workload: str
    chunk: int
    """The length of the chunks, in characters; 0: the whole output at once."""
    sizes: Sequence[int]
    """In characters."""
    seconds: Sequence[float]

    @property
    def factor(self) -> float:
        """By how much the time grew when the size doubled, the worse of twice."""
        return max(longer / shorter for shorter, longer in pairwise(self.seconds))


def ratios(repeats: int) -> Iterator[Ratio]:
    """Measure the outputs that have a target."""
    extractor = Extractor()
    string = f'{{"name": "f", "parameters": {{"text": "{"x" * 100_000}"}}}}'
    leaf = '{"a": [1, 2, {"b": "ccccccc"}]}'
    structure = f'{{"name": "f", "parameters": {{"all": [{",".join([leaf] * (1_000_000 // (len(leaf) + 1)))}]}}}}'
    many = "; ".join([CALL] * 1000)
    prose = "Prose without a brace in it. " * (1_000_000 // 29)
    for name, text, calls, target in (
        ("typical output", TYPICAL, [CALL], 3.0),
        ("a string of 100 KB", string, [string], 1.5),
        ("1 MB of structure", structure, [structure], 1.3),
        ("1 MB of prose", prose, [], 2.0),
        ("1,000 calls", many, [CALL] * 1000, 3.0),
    ):
        extraction = extractor.extract(text)
        if len(extraction.tool_calls) != len(calls):
            raise AssertionError(f"{name}: expected {len(calls)} calls, got {len(extraction.tool_calls)}")
        seconds = best_of(partial(extractor.extract, text), repeats)
        floor = best_of(partial(_read_floor, text, calls), repeats)
        yield Ratio(name, len(text), seconds, floor, target)


def stream_ratio(repeats: int) -> Ratio:
    """Measure a typical output in chunks of 4 characters, against a loop that appends them and looks for a brace."""
    extractor, chunks = Extractor(), chunks_of(TYPICAL, 4)
    seconds = best_of(lambda: streamed(extractor, chunks), repeats)
    floor = best_of(lambda: _append_and_search(chunks), repeats)
    return Ratio("typical output, streamed", len(TYPICAL), seconds, floor, 1.5e-6 * len(TYPICAL) / floor)


def growth_of(workload: Workload, chunk: int, size: int, repeats: int) -> Growth:
    """Measure an output at a size, at twice and at four times that, until the growth is linear or it is no chance."""
    extractor = Extractor(**workload.options)
    texts = [workload.make(size * factor) for factor in (1, 2, 4)]
    reads = [_reading(extractor, text, chunk) for text in texts]
    sizes = [len(text) for text in texts]
    times = [best_of(read, repeats) for read in reads]
    for _ in range(_ATTEMPTS):
        growth = Growth(workload.name, chunk, sizes, times)
        if growth.factor <= _MOST_GROWTH:
            break
        times = [min(best, best_of(read, repeats)) for best, read in zip(times, reads, strict=True)]
    return growth


def _reading(extractor: Extractor, text: str, chunk: int) -> Callable[[], object]:
    if chunk == _WHOLE:
        return lambda: extractor.extract(text)
    chunks = chunks_of(text, chunk)
    return lambda: streamed(extractor, chunks)


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


def main(command_line: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for, print the tables and write the file."""
    parser = argparse.ArgumentParser(description="How fast outputs are read, and whether the time grows with them.")
    parser.add_argument("--quick", action="store_true", help="only the growth, on short outputs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures, the machine and the versions")
    options = parser.parse_args(command_line)
    size, repeats = (4 * _KIB, 3) if options.quick else (16 * _KIB, 5)
    measured: list[Ratio] = []
    if not options.quick:
        measured = [*ratios(repeats), stream_ratio(repeats)]
        for line in ratio_table(measured):
            print(line)
        print()
    grown: list[list[Growth]] = []
    for line in _growth_lines(size, repeats, grown):
        print(line, flush=True)
    if options.json:
        figures = {
            "machine": machine(),
            "ratios": [asdict(one) | {"ratio": one.ratio} for one in measured],
            "growth": [asdict(one) | {"factor": one.factor} for row in grown for one in row],
        }
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    worse = [one for row in grown for one in row if one.factor > _MOST_GROWTH]
    for one in worse:
        print(f"{one.workload!r} in {_chunk_name(one.chunk)} grows by {one.factor:.2f} where its size doubles")
    sys.exit(1 if worse else 0)


def ratio_table(measured: Sequence[Ratio]) -> Iterator[str]:
    """Give the lines of the table of outputs with a target."""
    yield f"{'':24}{'characters':>12}{'best':>12}{'floor':>12}{'ratio':>9}{'target':>9}"
    for one in measured:
        times = f"{_shown(one.seconds):>12}{_shown(one.floor):>12}"
        yield f"{one.workload:24}{one.size:12,}{times}{one.ratio:9.1f}{one.target:9.1f}"


def machine() -> dict[str, str]:
    """Give what the figures depend on: the machine, the interpreter and the versions."""
    installed = {distribution.name: distribution.version for distribution in metadata.distributions()}
    versions = {name: installed[name] for name in _VERSIONS if name in installed}
    return {"processor": _processor(), "system": platform.system(), "python": platform.python_version(), **versions}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _growth_lines(size: int, repeats: int, grown: list[list[Growth]]) -> Iterator[str]:
    """Measure the growth of each kind of output, and give a line of the table as soon as it is there."""
    names = "".join(f"{_chunk_name(chunk):>12}" for chunk in _CHUNKS)
    yield f"{'growth from ' + str(size // _KIB) + ' K':30}{names}{'whole, a character':>20}"
    for workload in GROWING:
        row = [growth_of(workload, chunk, size, repeats) for chunk in _CHUNKS]
        grown.append(row)
        factors = "".join(f"{one.factor:12.2f}" for one in row)
        whole = row[0]
        yield f"{workload.name:30}{factors}{_shown(whole.seconds[-1] / whole.sizes[-1]):>20}"


def _chunk_name(chunk: int) -> str:
    return f"chunks of {chunk}" if chunk else "whole"


def _shown(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.1f} {unit}"
    return f"{seconds * 1e9:.1f} ns"


if __name__ == "__main__":
    main()
