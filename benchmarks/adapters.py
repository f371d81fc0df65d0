"""What the adapters add to their frameworks, a message and a chunk of a stream.

The runs of a framework are in a file of its own, which is imported only where that framework is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec

from adapter_runs import CHUNKS, Run
from figures import Overhead
from measuring import best_of, streamed
from workloads import TYPICAL

__all__ = ["adapters"]

_RUNS = {"langchain_core": "langchain_runs", "llama_index": "llama_index_runs"}


def adapters(repeats: int) -> Iterator[Overhead]:
    """Measure the adapters whose frameworks are installed."""
    for framework, module in _RUNS.items():
        runs: list[Run] = import_module(module).RUNS if find_spec(framework) else []
        for run in runs:
            parts = len(CHUNKS) if run.per == "chunk" else 1
            times = (best_of(one, repeats) / parts for one in (run.bare, _extraction(run), run.adapted))
            yield Overhead(run.name, run.per, *times)


def _extraction(run: Run) -> Callable[[], object]:
    if run.per == "chunk":
        return partial(streamed, run.extractor, CHUNKS)
    return partial(run.extractor.extract, TYPICAL)
