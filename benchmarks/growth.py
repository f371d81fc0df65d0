"""Whether the time of any output grows faster than the output does, or a chunk takes longer late in a stream.

In a short stream, a copy of all that has arrived hides below the other work of a chunk. In a long one, it stands out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise

from llama3_tools import Extractor
from measuring import CHUNK, best_of, chunks_of, no_collector, streamed
from pages import time_shown
from workloads import Workload

WHOLE = 0
"""The length of chunks that means the whole output at once."""
MOST_GROWTH = 2 * 1.1
"""What the time may grow by where the size doubles: 10 % are grace."""

MOST_SLOWDOWN = 1.5
"""How many times as long a chunk may take late in a stream as early: a copy of a megabyte takes four times, or more."""

_EARLY = 16 * 1024
_BEFORE = 4096
"""The length of the chunks that come before: of all, they take the least time to get there."""
_WINDOWS, _CHUNKS = 4, 500
_LATE_ATTEMPTS = 4

_COLUMNS = (WHOLE, 1, 4, 16, 4096)
_SHOWN = (WHOLE, 4)
"""The lengths of chunks of which the time of a character is shown."""
HEADINGS = ("growth", "whole", *(f"by {chunk}" for chunk in _COLUMNS[1:]), "late", "each, whole", "each, by 4")
_ATTEMPTS = 3
_SCALES = (1, 2, 4)
"""How many times the size is measured at, one after the other, as long as the growth seems not to be linear."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The times of an output, of one twice and of one four times as long, whole and in chunks."""

    name: str
    sizes: Mapping[int, Sequence[int]]
    """The lengths in characters, for each length of chunks."""
    seconds: Mapping[int, Sequence[float]]
    """The times, in the same order."""
    slowdown: float
    """How many times as long a chunk takes late in a stream as early."""

    def factor(self, chunk: int) -> float:
        """By how much the time grew when the size doubled, the worse of twice; 2 is linear."""
        return growth_factor(self.sizes[chunk], self.seconds[chunk])

    def cells(self) -> Sequence[str]:
        """Return the growth for each length of chunks, and what a character took."""
        factors = (f"{self.factor(chunk):.2f}" if chunk in self.seconds else "" for chunk in _COLUMNS)
        return (self.name, *factors, f"{self.slowdown:.2f}", *(self._each(chunk) for chunk in _SHOWN))

    def _each(self, chunk: int) -> str:
        return time_shown(self.seconds[chunk][-1] / self.sizes[chunk][-1]) if chunk in self.seconds else ""

    def problems(self) -> Iterator[str]:
        """Say where the time grows faster than the output."""
        for chunk, factor in ((chunk, self.factor(chunk)) for chunk in self.seconds):
            if factor > MOST_GROWTH:
                how = "whole" if chunk == WHOLE else f"in chunks of {chunk}"
                yield f"{self.name!r}, {how}: {factor:.2f} times the time for twice the size"
        if self.slowdown > MOST_SLOWDOWN:
            yield f"{self.name!r}: late in a stream, a chunk takes {self.slowdown:.2f} times as long as early"


def growth_factor(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the growth of the time for twice the size, the worst one.

    >>> growth_factor([10, 20, 40], [1.0, 2.0, 5.0])
    2.5
    """
    steps = zip(pairwise(sizes), pairwise(seconds), strict=True)
    return max(2 * (later / earlier) * (size / larger) for (size, larger), (earlier, later) in steps)


def grown(workloads: Iterable[Workload], sizes: Mapping[int, int], late: int, repeats: int) -> Iterator[Growth]:
    """Measure kinds of outputs.

    Args:
        workloads: the kinds.
        sizes: for each length of chunks, the size of the shortest output; the others are twice and four times as long.
        late: how many characters come before the chunks that are compared with early ones.
        repeats: how many runs the best one is taken of.
    """
    for workload in workloads:
        measured = {chunk: _measure(workload, chunk, size, repeats) for chunk, size in sizes.items()}
        yield Growth(
            workload.name,
            {chunk: lengths for chunk, (lengths, _) in measured.items()},
            {chunk: times for chunk, (_, times) in measured.items()},
            slowdown(workload, late),
        )


def _measure(workload: Workload, chunk: int, size: int, repeats: int) -> tuple[list[int], list[float]]:
    """Measure until the growth is linear, or it is no chance that it is not.

    What grows faster goes on to do so. What is bounded, such as a look back, is done with at a larger size.
    """
    extractor = workload.extractor()
    for scale in _SCALES:
        lengths, times = _measure_at(workload, extractor, chunk, size * scale, repeats)
        if growth_factor(lengths, times) <= MOST_GROWTH:
            break
    return lengths, times


def _measure_at(
    workload: Workload, extractor: Extractor, chunk: int, size: int, repeats: int
) -> tuple[list[int], list[float]]:
    # While there is a larger one, the memory of copies of the last is not given back to the system each time.
    *texts, _larger = (workload.make(size * factor) for factor in (1, 2, 4, 8))
    found, expected = len(extractor.extract(texts[0]).tool_calls), workload.calls_in(size)
    if found != expected:
        raise AssertionError(f"{workload.name}: expected {expected} calls, found {found}")
    reads = [_reading(extractor, text, chunk) for text in texts]
    lengths = [len(text) for text in texts]
    times = [best_of(read, repeats) for read in reads]
    for _ in range(_ATTEMPTS):
        if growth_factor(lengths, times) <= MOST_GROWTH:
            break
        times = [min(best, best_of(read, repeats)) for best, read in zip(times, reads, strict=True)]
    return lengths, times


def _reading(extractor: Extractor, text: str, chunk: int) -> Callable[[], object]:
    if chunk == WHOLE:
        return partial(extractor.extract, text)
    return partial(streamed, extractor, list(chunks_of(text, chunk)))


def slowdown(workload: Workload, late: int) -> float:
    """Return the time of a chunk after so many characters, by that of the same chunk after few."""
    extractor, early, then = workload.extractor(), float("inf"), float("inf")
    for _ in range(_LATE_ATTEMPTS):
        early = min(early, _seconds(workload, extractor, _EARLY))
        then = min(then, _seconds(workload, extractor, late))
        if then <= MOST_SLOWDOWN * early:
            break
    return then / early


def _seconds(workload: Workload, extractor: Extractor, before: int) -> float:
    """Return the time of some chunks after so many characters: the fastest of a few such, one after the other."""
    stream = extractor.stream()
    for chunk in chunks_of(workload.begin(before), _BEFORE):
        stream.feed(chunk)
    length = _WINDOWS * _CHUNKS * CHUNK
    chunks = chunks_of(workload.unit * (length // len(workload.unit) + 1))
    times = []
    with no_collector():
        for _ in range(_WINDOWS):
            window = list(islice(chunks, _CHUNKS))
            started = time.process_time()
            for chunk in window:
                stream.feed(chunk)
            times.append(time.process_time() - started)
    return min(times)
