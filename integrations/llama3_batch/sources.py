"""Files of outputs, JSON lines and Parquet, in parts.

A part is small enough to be read by one process, written by it, and done again if that process dies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from llama3_batch.columns import FIRST_ROWS, LM_STUDIO, Columns, MissingColumnError, Record, found_at, records_of
from llama3_batch.rows import RowError
from llama3_tools.text import read_json

if TYPE_CHECKING:
    from typing_extensions import Self

FileFormat: TypeAlias = Literal["jsonl", "parquet"]
"""A kind of file."""

_PART_ROWS = 25_000
"""About how many rows a part has at most."""
_PART_BYTES = 64 * 1024 * 1024
"""About how many bytes of input a part has at most."""
_BLOCK = 256 * 1024
_LONGEST_LINE = 64 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"
_MAGIC = b"PAR1"
"""What Parquet begins with."""
_OTHER_KINDS = {
    b"\x1f\x8b": "it is compressed: unpack it first (gunzip --keep)",
    b"\x28\xb5\x2f\xfd": "it is compressed: unpack it first (unzstd)",
    _MAGIC: "it is Parquet: give --parquet",
}
"""What a file that should have JSON lines may be, by how it begins, and what to do then."""
_READ_ROWS = 16
"""How many rows are read at once: few, as the file does not say how long they are, and a dictionary has each once."""
_READ_BYTES = 1024 * 1024
"""How many bytes of the file are read at once, rather than all of a row group."""
_PARTS_OF_A_GROUP = 16
"""Into how many parts a row group is cut, at most: each of them decodes it from its beginning."""


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


@dataclass(frozen=True, slots=True)
class Source(ABC):
    """A file. What reads it raises `InputError` if it cannot be read."""

    path: Path
    columns: Columns
    """What to read in it."""

    @abstractmethod
    def parts(self) -> list[Part]:
        """Return the parts of the file."""

    @abstractmethod
    def rows(self, part: Part) -> Iterator[tuple[int, Record | RowError]]:
        """Yield the rows of a part with their numbers in the file."""

    @abstractmethod
    def _beginning(self) -> tuple[Sequence[str], list[Record]]:
        """Return the names of the columns, and the first rows."""

    def located(self) -> Self:
        """Return the same file, with the column of the outputs."""
        try:
            return replace(self, columns=self.columns.located(*self._beginning()))
        except MissingColumnError as error:
            raise InputError(f"{self.path}: in its first rows, {error}") from None

    @contextmanager
    def _file(self) -> Iterator[IO[bytes]]:
        try:
            with self.path.open("rb") as file:
                yield file
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None

    def changed(self, part: Part | None = None) -> InputError:
        """Return the error of a file that is not what it was when its parts were made."""
        which = "" if part is None else f", {part.numbers}"
        why = "the file has changed since the run began: read it anew with --overwrite"
        return InputError(f"{self.path}{which}: {why}")


class JsonLines(Source):
    """A file with a JSON object in each line. A line without an output is not a row, but has a number."""

    __slots__ = ()

    def _beginning(self) -> tuple[Sequence[str], list[Record]]:
        first: bytes | RowError = b""
        rows: list[Record] = []
        with self._file() as file:
            beginning = file.read(4)
            file.seek(0)
            for line in islice(_lines(file), FIRST_ROWS):
                first = first or (line if isinstance(line, RowError) else line.strip())
                with suppress(RowError):
                    rows.append(_object(line))
        for mark, cure in _OTHER_KINDS.items():
            if beginning.startswith(mark):
                raise InputError(f"{self.path}: {cure}")
        if first == b"[" or (not rows and isinstance(first, bytes) and first.startswith(b"[")):
            raise InputError(f"{self.path}: it is one JSON array: write each element in a line (jq -c '.[]')")
        if first and not rows:
            raise InputError(f"{self.path}: not JSON lines: none of the first {FIRST_ROWS} lines is an object")
        return list(dict.fromkeys(name for row in rows for name in row)), rows

    def parts(self) -> list[Part]:
        """Return parts that end at the last line break of a block, as soon as one has enough rows or bytes."""
        parts: list[Part] = []
        first_row = start = end = rows = 0
        open_line = False
        with self._file() as file:
            while block := file.read(_BLOCK):
                breaks = block.count(b"\n")
                rows += breaks
                end += len(block)
                open_line = not block.endswith(b"\n")
                if breaks and (rows >= _PART_ROWS or end - start >= _PART_BYTES):
                    cut = end - len(block) + block.rfind(b"\n") + 1
                    parts.append(Part(len(parts), first_row, rows, start, cut))
                    first_row, start, rows = first_row + rows, cut, 0
        if rows + open_line:
            parts.append(Part(len(parts), first_row, rows + open_line, start, end))
        return parts

    def rows(self, part: Part) -> Iterator[tuple[int, Record | RowError]]:
        """Yield the rows of a part with their numbers in the file."""
        lines = 0
        with self._file() as file:
            file.seek(part.start)
            for number, line in enumerate(_lines(file, part.end), part.first_row):
                lines += 1
                if isinstance(line, bytes) and not line.strip():
                    continue
                try:
                    row = _object(line)
                except RowError as error:
                    yield number, error
                    continue
                if self.columns.text != LM_STUDIO or found_at(row, "data.type") in {None, "llm.prediction.output"}:
                    yield number, row
            if (lines, file.tell()) != (part.rows, part.end):
                raise self.changed(part)


def _lines(file: IO[bytes], end: int | None = None) -> Iterator[bytes | RowError]:
    """Yield lines up to an offset; of one that is too long, what is wrong with it."""
    at = file.tell()
    is_first = at == 0
    while (end is None or at < end) and (line := file.readline(_LONGEST_LINE)):
        at += len(line)
        if is_first:
            line, is_first = line.removeprefix(_MARK), False
        if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        while rest := file.readline(_BLOCK):
            at += len(rest)
            if rest.endswith(b"\n"):
                break
        yield RowError("too_long", f"the line has more than {_LONGEST_LINE} bytes")


def _object(line: bytes | RowError) -> Record:
    """Return the object in a line.

    Raises:
        RowError: there is none.
    """
    if isinstance(line, RowError):
        raise line
    try:
        found = read_json(line.rstrip(b"\r\n").decode())
    except UnicodeDecodeError as error:
        raise RowError("not_utf_8", f"the line is not UTF-8 at byte {error.start}") from None
    except ValueError as error:
        raise RowError("not_json", str(error)) from None
    if not isinstance(found, dict):
        raise RowError("not_json", f"expected a JSON object, found {type(found).__name__}")
    return found


class ParquetRows(Source):
    """A Parquet file: its rows in parts, whatever its row groups are."""

    __slots__ = ()

    def _beginning(self) -> tuple[Sequence[str], list[Record]]:
        with self._parquet() as file:
            names = file.schema_arrow.names
            batches = file.iter_batches(_READ_ROWS, columns=self.columns.names(names), use_threads=False)
            rows = (row for batch in batches for row in records_of(batch, self.columns))
            return names, list(islice(rows, FIRST_ROWS))

    def parts(self) -> list[Part]:
        """Return parts of equal size."""
        with self._parquet() as file:
            rows, groups = file.metadata.num_rows, _groups(file)
        row_bytes = sum(group.total_byte_size for group in groups) // max(rows, 1)
        least = max((group.num_rows for group in groups), default=0) // _PARTS_OF_A_GROUP
        size = max(min(_PART_ROWS, _PART_BYTES // max(row_bytes, 1)), least, 1)
        return [Part(index, at, min(size, rows - at)) for index, at in enumerate(range(0, rows, size))]

    def rows(self, part: Part) -> Iterator[tuple[int, Record | RowError]]:
        """Yield the rows of a part with their numbers in the file."""
        end = part.first_row + part.rows
        with self._parquet(f", {part.numbers}") as file:
            starts = list(accumulate((group.num_rows for group in _groups(file)), initial=0))
            within = [index for index, (at, to) in enumerate(pairwise(starts)) if at < end and to > part.first_row]
            at = starts[within[0]] if within else 0
            names = self.columns.names(file.schema_arrow.names)
            for batch in file.iter_batches(_READ_ROWS, row_groups=within, columns=names, use_threads=False):
                first, last = max(part.first_row, at), min(end, at + len(batch))
                if first < last:
                    yield from enumerate(records_of(batch.slice(first - at, last - first), self.columns), first)
                at += len(batch)
                if at >= end:
                    break
            if at < end:
                raise self.changed(part)

    @contextmanager
    def _parquet(self, which: str = "") -> Iterator[pq.ParquetFile]:
        with self._file() as beginning:  # which says in plain words why it cannot be opened
            if beginning.read(len(_MAGIC)) != _MAGIC:
                raise InputError(f"{self.path}: not Parquet; if it has JSON lines, give --jsonl")
        try:
            with pq.ParquetFile(
                self.path, pre_buffer=False, buffer_size=_READ_BYTES, page_checksum_verification=True
            ) as file:
                yield file
        except MemoryError as error:  # a page is read whole
            raise InputError(f"{self.path}{which}: no memory for a page: {error}. Take fewer --workers") from None
        except (pa.ArrowException, OSError) as error:
            why = str(error).splitlines()[0]
            raise InputError(f"{self.path}{which}: broken, or not written to its end: {why}") from None


def _groups(file: pq.ParquetFile) -> list[pq.RowGroupMetaData]:
    return [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]


SOURCES: dict[FileFormat, type[Source]] = {"jsonl": JsonLines, "parquet": ParquetRows}
"""What reads each kind of file."""
