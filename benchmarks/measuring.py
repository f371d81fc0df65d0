"""Times and memory, and the machine that they are of."""

from __future__ import annotations

import gc
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from llama3_tools import Extractor, __version__

__all__ = ["best_of", "chunks_of", "machine", "streamed"]

_SHORTEST = 0.002  # seconds: what takes less is repeated, as the clock is coarse
_VERSIONS = (
    *("langchain-core", "llama-index-core", "pydantic", "json-repair"),
    *("agent-tool-parser", "llm-beacon", "smolagents", "llama-models", "llm-router-utils"),
)


def best_of(run: Callable[[], object], repeats: int) -> float:
    """Give the time of the fastest of several runs, in seconds of the processor.

    What makes another one slower is not the code.
    """
    number = _number_of_runs(run)
    with _no_collector():
        return min(_timed(run, number) for _ in range(repeats)) / number


def chunks_of(text: str, length: int) -> list[str]:
    """Cut an output into chunks of so many characters."""
    return [text[start : start + length] for start in range(0, len(text), length)]


def streamed(extractor: Extractor, chunks: list[str]) -> int:
    """Read chunks as a client does that takes each event; give the number of calls."""
    stream = extractor.stream()
    for chunk in chunks:
        stream.feed(chunk)
    stream.flush()
    return len(stream.extraction.tool_calls)


def machine() -> dict[str, str]:
    """Give what the figures depend on: the machine, the interpreter and the versions."""
    installed = {one.name.lower().replace("_", "-"): one.version for one in metadata.distributions()}
    versions = {name: installed[name] for name in _VERSIONS if name in installed}
    this = {"processor": _processor(), "system": platform.system(), "Python": platform.python_version()}
    return {**this, "llama3-tools": __version__, **versions}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _number_of_runs(run: Callable[[], object]) -> int:
    number = 1
    while (seconds := _timed(run, number)) < _SHORTEST:
        number = max(number * 2, int(number * _SHORTEST / max(seconds, 1e-9)))
    return number


def _timed(run: Callable[[], object], number: int) -> float:
    started = time.process_time()
    for _ in range(number):
        run()
    return time.process_time() - started


@contextmanager
def _no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
