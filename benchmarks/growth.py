"""Whether the time of any output grows faster than the output does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from figures import WHOLE, Growth, Row, growth_factor, growth_to_four_times
from lateness import MOST_SLOWDOWN, slowdown
from llama3_tools import Extractor
from measuring import best_of, chunks_of, streamed
from workloads import Workload

__all__ = ["MOST_GROWTH", "faster_than_linear", "grown", "grown_to_four_times"]

MOST_GROWTH = 2 * 1.1
"""What the time may grow by where the size doubles: 10 % are grace."""

_ATTEMPTS = 3
_SCALES = (1, 2, 4)
"""How many times the size is measured at, one after the other, as long as the growth seems not to be linear."""


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


def grown_to_four_times(workload: Workload, longest: int, chunk: int, repeats: int) -> float:
    """Measure how many times as long an output takes that is four times as long.

    Args:
        workload: the kind of output.
        longest: the characters of the longer one.
        chunk: the length of the chunks in which it comes, or `WHOLE`.
        repeats: how many runs the best one is taken of.
    """
    size = longest // 4 // workload.scale
    return growth_to_four_times(*_measure_at(workload, workload.extractor(), chunk, size, repeats))


def faster_than_linear(rows: Iterable[Row]) -> Iterator[str]:
    """Name the outputs whose time grows faster than they do."""
    for row in rows:
        if not isinstance(row, Growth):
            continue
        for chunk, factor in ((chunk, row.factor(chunk)) for chunk in row.seconds):
            if factor > MOST_GROWTH:
                how = "whole" if chunk == WHOLE else f"in chunks of {chunk}"
                yield f"{row.name!r}, {how}: {factor:.2f} times the time for twice the size"
        if row.slowdown > MOST_SLOWDOWN:
            yield f"{row.name!r}: late in a stream, a chunk takes {row.slowdown:.2f} times as long as early"


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
