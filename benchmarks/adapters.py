"""What the adapters add to their frameworks, a message and a chunk of a stream.

The runs of a framework are in a file of its own, which is imported only where that framework is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec

from adapter_runs import CHUNKS, Run
from figures import Overhead
from llama3_tools import Extractor
from measuring import best_of, streamed
from workloads import TYPICAL

__all__ = ["adapters"]

_RUNS = {"langchain_core": "langchain_runs", "llama_index": "llama_index_runs"}


def adapters(repeats: int) -> Iterator[Overhead]:
    """Measure the adapters whose frameworks are installed."""
    properties = {"city": {"type": "string"}, "days": {"type": "integer"}, "units": {"type": "string"}}
    extractor = Extractor(tools=[{"name": "get_weather", "parameters": {"type": "object", "properties": properties}}])
    extractions = {
        "message": best_of(partial(extractor.extract, TYPICAL), repeats),
        "chunk": best_of(partial(streamed, extractor, CHUNKS), repeats) / len(CHUNKS),
    }
    for framework, module in _RUNS.items():
        runs: list[Run] = import_module(module).RUNS if find_spec(framework) else []
        for run in runs:
            parts = len(CHUNKS) if run.per == "chunk" else 1
            bare, adapted = (best_of(one, repeats) / parts for one in (run.bare, run.adapted))
            yield Overhead(run.name, run.per, bare, extractions[run.per], adapted)
