"""A file in parts, each small enough to be read by one process, written by it, and done again if that process dies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from llama3_batch.rows import Row

if TYPE_CHECKING:
    from llama3_batch.columns import Columns

PART_ROWS = 25_000
"""About how many rows a part has at most."""
PART_BYTES = 64 * 1024 * 1024
"""About how many bytes of input a part has at most."""
BATCH_ROWS = 1_000
"""How many rows are written at once, at most."""
BATCH_BYTES = 4 * 1024 * 1024
"""How many characters of input are written at once, at most, but for the row that goes past it."""

FileFormat: TypeAlias = Literal["jsonl", "parquet"]
"""A kind of file."""


class InputError(Exception):
    """A file, or a part of one, that cannot be read. The message names it."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of a file that follow each other."""

    index: int
    """Which part of the file it is, from 0."""
    first_row: int
    """The number of its first row."""
    rows: int
    """How many rows it has; of JSON lines, how many lines."""
    start: int = 0
    """Where it begins, in bytes, if the file has lines."""
    end: int = 0
    """Where it ends, in bytes."""

    @property
    def numbers(self) -> str:
        """The numbers of its rows, in words."""
        return f"rows {self.first_row} to {self.first_row + self.rows - 1}"


def changed(path: Path, which: str = "") -> InputError:
    """Return the error of a file that is not what it was when its parts were made.

    >>> str(changed(Path("a.jsonl"), ", rows 0 to 6"))
    'a.jsonl, rows 0 to 6: the file has changed since the run began: read it anew with --overwrite'
    """
    return InputError(f"{path}{which}: the file has changed since the run began: read it anew with --overwrite")


def in_batches(rows: Iterable[tuple[int, Row]]) -> Iterator[list[tuple[int, Row]]]:
    """Yield rows in lists that are bounded by their number and by what the rows hold, however uneven that is."""
    batch: list[tuple[int, Row]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += sum(len(value) for value in row[1] if isinstance(value, str))
        if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class Source(Protocol):
    """A kind of file."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def columns(self) -> Columns:
        """What to read in it."""

    def located(self) -> Source:
        """Return the same file, with the column of the outputs.

        Raises:
            InputError: it cannot be read, or lacks a column.
        """

    def parts(self) -> Sequence[Part]:
        """Return its parts, in order.

        Raises:
            InputError: it cannot be read.
        """

    def rows(self, part: Part) -> Iterator[tuple[int, Row]]:
        """Yield the rows of a part with their numbers in the file.

        Raises:
            InputError: they cannot be read, or are not as many as they were.
        """
