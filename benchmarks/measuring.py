"""Times and memory, and the machine that they are of."""

from __future__ import annotations

import gc
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from llama3_tools import Extraction, Extractor, __version__

CHUNK = 4
"""The characters that a token has, more or less, where a stream has chunks of one length."""

_SHORTEST = 0.002  # seconds: what takes less is repeated, as the clock is coarse


def best_of(run: Callable[[], object], repeats: int) -> float:
    """Return the time of the fastest of several runs, in seconds of the processor.

    What makes another one slower is not the code.
    """
    number = _number_of_runs(run)
    with no_collector():
        return min(_timed(run, number) for _ in range(repeats)) / number


def chunks_of(text: str, length: int = CHUNK) -> Iterator[str]:
    """Cut an output into chunks of so many characters."""
    return (text[start : start + length] for start in range(0, len(text), length))


def streamed(extractor: Extractor, chunks: Iterable[str], *, keep_content: bool = True) -> Extraction:
    """Read chunks as a client does that takes each event and forgets it."""
    stream = extractor.stream(keep_content=keep_content)
    for chunk in chunks:
        stream.feed(chunk)
    stream.flush()
    return stream.extraction


def machine(packages: Iterable[str] = ()) -> dict[str, str]:
    """Return what figures depend on: the machine, the interpreter, and the versions of packages that are installed."""
    installed = {one.name.lower().replace("_", "-"): one.version for one in metadata.distributions()}
    versions = {name: installed[name] for name in packages if name in installed}
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
def no_collector() -> Iterator[None]:
    """Keep the garbage collector out of what is measured."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
