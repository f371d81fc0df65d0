"""How far a run is, how fast it goes, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from llama3_tools.text import escape_invisible

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Progress", "progress_line"]

_MINUTE, _HOUR = 60, 3600
_TERMINAL, _FILE = 0.2, 30.0
"""How many seconds are between two lines on a terminal, where each takes the place of the last; and elsewhere."""


def progress_line(done: int, total: int, read: int, seconds: float) -> str:
    """Return how far a run is, in one line.

    >>> progress_line(50_000, 200_000, 30_000, 3.0)
    '50,000 of 200,000 rows (25 %), 10,000 a second, 15 s left'

    Args:
        done: the rows that are done, by this run and those before.
        total: all rows.
        read: the rows that this run has read.
        seconds: how long it took.
    """
    share = 100 * done // total if total else 100
    line = f"{done:,} of {total:,} rows ({share} %)"
    if read <= 0 or seconds <= 0:
        return line
    rate = read / seconds
    return f"{line}, {rate:,.0f} a second, {_duration((total - done) / rate)} left"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"


class Progress:
    """Writes how far a run is: on a terminal all the time, in one line; elsewhere now and then, if it takes longer."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin.

        Args:
            stream: where to.
            clock: tells the time in seconds.
        """
        self._stream = stream
        self._clock = clock
        self._is_terminal = stream.isatty()
        self._began = self._written = clock()
        self._total = self._before = self._read = 0
        self._length = 0
        self._has_written = False

    def planned(self, rows: int, done: int) -> None:
        """Take how many rows there are in all, and how many of them an earlier run has done."""
        self._total, self._before = rows, done
        self._began = self._written = self._clock()
        if done:
            self.say(f"{done:,} of {rows:,} rows were done by an earlier run")

    def rows(self, count: int) -> None:
        """Take how many more rows were read; fewer than none if some have to be read again."""
        self._read += count
        if self._clock() - self._written >= (_TERMINAL if self._is_terminal else _FILE):
            self._write()

    def say(self, message: str) -> None:
        """Write a message in a line of its own."""
        self._clear()
        self._stream.write(f"{escape_invisible(message)}\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Write how far it came."""
        is_short = not self._has_written and self._before + self._read == self._total
        if self._read and (self._is_terminal or not is_short):
            self._write()
        if self._length:
            self._stream.write("\n")
            self._length = 0

    def _write(self) -> None:
        self._has_written = True
        self._written = self._clock()
        line = progress_line(self._before + self._read, self._total, self._read, self._written - self._began)
        if self._is_terminal:
            self._stream.write(f"\r{line.ljust(self._length)}")
            self._length = len(line)
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def _clear(self) -> None:
        if self._length:
            self._stream.write(f"\r{' ' * self._length}\r")
            self._length = 0
