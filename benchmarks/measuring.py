"""Time: the best of several runs, on a quiet interpreter, in seconds of the processor."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from llama3_tools import Extractor

__all__ = ["best_of", "chunks_of", "streamed"]

_SHORTEST = 0.002  # seconds: what takes less is repeated, as the clock is coarse


def best_of(run: Callable[[], object], repeats: int) -> float:
    """Give the time of the fastest of several runs: whatever makes one slower is not the code."""
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
