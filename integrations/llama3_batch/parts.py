"""A file in parts, each small enough to be read by one process, written by it, and done again if that process dies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias

PART_ROWS = 25_000
"""About how many rows a part has at most."""
PART_BYTES = 64 * 1024 * 1024
"""About how many bytes of input a part has at most."""

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


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file.

    Raises:
        InputError: it cannot be opened or read.
    """
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def changed_error(path: Path, which: str = "") -> InputError:
    """Return the error of a file that is not what it was when its parts were made.

    >>> str(changed_error(Path("a.jsonl"), ", rows 0 to 6"))
    'a.jsonl, rows 0 to 6: the file has changed since the run began: read it anew with --overwrite'
    """
    return InputError(f"{path}{which}: the file has changed since the run began: read it anew with --overwrite")
