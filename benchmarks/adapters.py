"""What the adapters add to their frameworks, a message and a chunk of a stream, and how that grows with a stream.

The runs of a framework are in a file of its own, which is imported only where that framework is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from adapter_runs import CHUNKS, Run, Stream
from figures import AdapterGrowth, Overhead
from measuring import CHUNK, best_of, chunks_of, streamed
from workloads import CALL, PROSE, TYPICAL

__all__ = ["adapters", "growth_of_adapters"]

_RUNS = {"langchain_core": "langchain_runs", "llama_index": "llama_index_runs"}
_UNITS = {"text": PROSE, "calls": f"{CALL}; "}


def adapters(repeats: int) -> Iterator[Overhead]:
    """Measure the adapters whose frameworks are installed."""
    for module in _installed():
        runs: list[Run] = module.RUNS
        for run in runs:
            parts = len(CHUNKS) if run.per == "chunk" else 1
            times = (best_of(one, repeats) / parts for one in (run.bare, _extraction(run), run.adapted))
            yield Overhead(run.name, run.per, *times)


def growth_of_adapters(chunks: int) -> Iterator[AdapterGrowth]:
    """Measure streams of so many chunks, twice and four times as many: once each, as they are long."""
    sizes = [chunks, 2 * chunks, 4 * chunks]
    for module in _installed():
        stream: Stream = module.STREAM
        for name, unit in _UNITS.items():
            outputs = [list(chunks_of((unit * size)[: size * CHUNK])) for size in sizes]
            times = (
                [best_of(partial(read, output), 1) for output in outputs] for read in (stream.bare, stream.adapted)
            )
            yield AdapterGrowth(f"{stream.name}, {name}", sizes, *times)


def _installed() -> Iterator[ModuleType]:
    return (import_module(module) for framework, module in _RUNS.items() if find_spec(framework))


def _extraction(run: Run) -> Callable[[], object]:
    if run.per == "chunk":
        return partial(streamed, run.extractor, CHUNKS)
    return partial(run.extractor.extract, TYPICAL)
