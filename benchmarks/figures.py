"""What the benchmarks find out, as rows of tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

__all__ = [
    "WHOLE",
    "AdapterGrowth",
    "Answer",
    "Growth",
    "Overhead",
    "Ratio",
    "Row",
    "Target",
    "growth_factor",
    "growth_to_four_times",
    "time_shown",
]

WHOLE = 0
"""The length of chunks that stands for the whole output at once."""

_COLUMNS = (WHOLE, 1, 4, 16, 4096)
_SHOWN = (WHOLE, 4)
"""The lengths of chunks of which the growth is shown, and of which the time is, too."""


@dataclass(frozen=True, slots=True)
class Row(ABC):
    """A row of a table."""

    headings: ClassVar[Sequence[str]]
    name: str
    """What was measured: no other row of the table has this name."""

    @property
    @abstractmethod
    def figures(self) -> Mapping[str, float]:
        """The figures that are worth a comparison with those of another run: the smaller, the better."""

    @abstractmethod
    def cells(self) -> Sequence[str]:
        """Return what stands in the row, under the headings."""


@dataclass(frozen=True, slots=True)
class Answer(Row):
    """The times of one answer of a model: at once, with tools declared, and of a chunk when it comes as a stream."""

    headings: ClassVar[Sequence[str]] = ("", "characters", "at once", "5 tools, coercion", "a chunk")
    characters: int
    plain: float
    with_tools: float
    chunk: float
    """In seconds, as the two above."""

    @property
    def figures(self) -> Mapping[str, float]:
        """The times."""
        return {"plain": self.plain, "with tools": self.with_tools, "chunk": self.chunk}

    def cells(self) -> Sequence[str]:
        """Return the length and the times."""
        return (self.name, f"{self.characters:,}", *map(time_shown, (self.plain, self.with_tools, self.chunk)))


@dataclass(frozen=True, slots=True)
class Ratio(Row):
    """The time that something took, and the least that it could have taken."""

    headings: ClassVar[Sequence[str]] = ("", "time", "floor", "ratio", "target", "missed by")
    seconds: float
    floor: float
    """In seconds."""
    target: float | None = None
    """What the ratio is to be at most."""

    @property
    def ratio(self) -> float:
        """How many times the floor it took."""
        return self.seconds / self.floor

    @property
    def figures(self) -> Mapping[str, float]:
        """The ratio: it hardly depends on what else the machine was doing."""
        return {"ratio": self.ratio}

    def cells(self) -> Sequence[str]:
        """Return the times and their ratio."""
        target, missed = "", ""
        if self.target is not None:
            target = f"{self.target:.1f}"
            missed = f"{self.ratio / self.target - 1:.0%}" if self.ratio > self.target else ""
        return (self.name, time_shown(self.seconds), time_shown(self.floor), f"{self.ratio:.2f}", target, missed)


@dataclass(frozen=True, slots=True)
class Target(Row):
    """A measure that is to be at most so much."""

    headings: ClassVar[Sequence[str]] = ("", "measured", "target", "", "missed by")
    measured: float
    unit: str
    """What both numbers count."""
    target: float

    @property
    def share(self) -> float:
        """How much of the target was used."""
        return self.measured / self.target

    @property
    def figures(self) -> Mapping[str, float]:
        """What was measured."""
        return {self.unit: self.measured}

    def cells(self) -> Sequence[str]:
        """Return the two numbers, their unit, and by how much the target is missed."""
        missed = f"{self.share - 1:.0%}" if self.share > 1 else ""
        return (self.name, f"{self.measured:.3g}", f"{self.target:.3g}", self.unit, missed)


@dataclass(frozen=True, slots=True)
class Growth(Row):
    """The times of an output, of one twice and of one four times as long, whole and in chunks."""

    headings: ClassVar[Sequence[str]] = (
        "growth",
        "whole",
        "by 1",
        "by 4",
        "by 16",
        "by 4096",
        "late",
        "each, whole",
        "each, by 4",
    )
    sizes: Mapping[int, Sequence[int]]
    """The lengths in characters, for each length of chunks."""
    seconds: Mapping[int, Sequence[float]]
    """The times, in the same order."""
    slowdown: float
    """How many times as long a chunk takes late in a stream as early."""

    def factor(self, chunk: int) -> float:
        """By how much the time grew when the size doubled, the worse of twice; 2 is linear."""
        return growth_factor(self.sizes[chunk], self.seconds[chunk])

    @property
    def figures(self) -> Mapping[str, float]:
        """The times of the longest outputs, and how much longer chunks take late."""
        times = {"whole" if chunk == WHOLE else f"by {chunk}": times[-1] for chunk, times in self.seconds.items()}
        return {**times, "late": self.slowdown}

    def cells(self) -> Sequence[str]:
        """Return the growth for each length of chunks, and what a character took."""
        factors = (f"{self.factor(chunk):.2f}" if chunk in self.seconds else "" for chunk in _COLUMNS)
        return (self.name, *factors, f"{self.slowdown:.2f}", *(self._each(chunk) for chunk in _SHOWN))

    def _each(self, chunk: int) -> str:
        return time_shown(self.seconds[chunk][-1] / self.sizes[chunk][-1]) if chunk in self.seconds else ""


def growth_factor(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the growth of the time for twice the size, the worst one.

    >>> growth_factor([10, 20, 40], [1.0, 2.0, 5.0])
    2.5
    """
    steps = zip(pairwise(sizes), pairwise(seconds), strict=True)
    return max(2 * (later / earlier) * (size / larger) for (size, larger), (earlier, later) in steps)


def growth_to_four_times(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the growth of the time from the first size to the last, which is about four times as large; 4 is linear.

    >>> growth_to_four_times([10, 21, 42], [1.0, 2.0, 8.4])
    8.0
    """
    return 4 * (seconds[-1] / seconds[0]) * (sizes[0] / sizes[-1])


@dataclass(frozen=True, slots=True)
class Overhead(Row):
    """The time of an adapter, of the framework without it, and of the extractor without either."""

    headings: ClassVar[Sequence[str]] = ("", "framework", "extractor", "all", "the adapter", "per")
    per: str
    """What the times are of: a message, a chunk."""
    framework: float
    extractor: float
    seconds: float
    """In seconds."""

    @property
    def own(self) -> float:
        """What the adapter itself takes."""
        return self.seconds - self.framework - self.extractor

    @property
    def figures(self) -> Mapping[str, float]:
        """What the adapter and the extractor add to the framework."""
        return {"added": self.seconds - self.framework}

    def cells(self) -> Sequence[str]:
        """Return the times."""
        times = (self.framework, self.extractor, self.seconds, self.own)
        return (self.name, *map(time_shown, times), self.per)


@dataclass(frozen=True, slots=True)
class AdapterGrowth(Row):
    """The times of a stream, of one twice and of one four times as long, by a framework with an adapter and without."""

    headings: ClassVar[Sequence[str]] = ("", "chunks", "framework", "growth", "all", "growth")
    chunks: Sequence[int]
    """The chunks of each stream."""
    framework: Sequence[float]
    """The times without the adapter, in seconds."""
    seconds: Sequence[float]
    """The times with it."""

    @property
    def figures(self) -> Mapping[str, float]:
        """What the longest stream took."""
        return {"all": self.seconds[-1]}

    def cells(self) -> Sequence[str]:
        """Return the times of the longest stream, and what they grew by."""
        times = (self.framework, self.seconds)
        grown = [(time_shown(one[-1]), f"{growth_factor(self.chunks, one):.2f}") for one in times]
        return (self.name, f"{self.chunks[-1]:,}", *(cell for cells in grown for cell in cells))


def time_shown(seconds: float) -> str:
    """Show a time in the unit that fits.

    >>> time_shown(0.0000123), time_shown(2)
    ('12.3 µs', '2.0 s')
    """
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if abs(seconds) * factor >= 1:
            return f"{seconds * factor:.1f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
