"""What the adapters add to their frameworks, for a message and for a chunk of a stream.

The runs of a framework are in a file of its own, which is imported only where that framework is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from adapter_runs import CHUNKS, Run
from measuring import best_of, streamed
from pages import time_shown
from workloads import TYPICAL

HEADINGS = ("", "framework", "extractor", "all", "the adapter", "per")

_RUNS = {"langchain_core": "langchain_runs", "llama_index": "llama_index_runs"}


def adapters(repeats: int) -> Iterator[Sequence[str]]:
    """Measure the adapters whose frameworks are installed."""
    for module in _installed():
        runs: list[Run] = module.RUNS
        for run in runs:
            parts = len(CHUNKS) if run.per == "chunk" else 1
            bare, alone, adapted = (best_of(one, repeats) / parts for one in (run.bare, _extraction(run), run.adapted))
            yield (run.name, *map(time_shown, (bare, alone, adapted, adapted - bare - alone)), run.per)


def _installed() -> Iterator[ModuleType]:
    return (import_module(module) for framework, module in _RUNS.items() if find_spec(framework))


def _extraction(run: Run) -> Callable[[], object]:
    if run.per == "chunk":
        return partial(streamed, run.extractor, CHUNKS)
    return partial(run.extractor.extract, TYPICAL)
