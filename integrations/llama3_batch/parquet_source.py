"""Parquet files: their rows in parts, whatever their row groups are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from llama3_batch.columns import Columns, MissingColumnError, Record, records_of, row_like
from llama3_batch.parts import PART_BYTES, PART_ROWS, InputError, Part, changed_error, opened

_MAGIC = b"PAR1"
"""What Parquet begins with."""
_READ_ROWS = 16
"""How many rows are read at once: few, as the file does not say how long they are, and a dictionary has each once."""
_READ_BYTES = 1024 * 1024
"""How many bytes of the file are read at once, rather than all of a row group."""
_PARTS_OF_A_GROUP = 16
"""Into how many parts a row group is cut, at most: each of them decodes it from its beginning."""


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """A Parquet file."""

    path: Path
    columns: Columns

    def located(self) -> ParquetRows:
        """Return the same file, with the column of the outputs.

        Raises:
            InputError: it cannot be read, or lacks a column.
        """
        with self._opened() as file:
            schema = file.schema_arrow
        try:
            return replace(self, columns=self.columns.located(schema.names, [row_like(schema)]))
        except MissingColumnError as error:
            raise InputError(f"{self.path}: {error}") from None

    def parts(self) -> list[Part]:
        """Return the parts of the file.

        Raises:
            InputError: it cannot be read.
        """
        with self._opened() as file:
            rows = file.metadata.num_rows
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            least = max((group.num_rows for group in groups), default=0) // _PARTS_OF_A_GROUP
            size = max(min(PART_ROWS, PART_BYTES // self._row_bytes(file)), least, 1)
        return [Part(index, at, min(size, rows - at)) for index, at in enumerate(range(0, rows, size))]

    def rows(self, part: Part) -> Iterator[tuple[int, Record]]:
        """Yield the rows of a part with their numbers in the file.

        Raises:
            InputError: they cannot be read, or are not as many as they were.
        """
        end = part.first_row + part.rows
        with self._opened(f", {part.numbers}") as file:
            groups, at = self._groups(file, part.first_row, end)
            names = self.columns.names(file.schema_arrow.names)
            for batch in file.iter_batches(_READ_ROWS, row_groups=groups, columns=names, use_threads=False):
                first, last = max(part.first_row, at), min(end, at + len(batch))
                if first < last:
                    yield from enumerate(records_of(batch.slice(first - at, last - first), self.columns), first)
                at += len(batch)
                if at >= end:
                    break
            if at < end:
                raise changed_error(self.path, f", {part.numbers}")

    @contextmanager
    def _opened(self, which: str = "") -> Iterator[pq.ParquetFile]:
        with opened(self.path) as beginning:  # which says in plain words why it cannot be opened
            if beginning.read(len(_MAGIC)) != _MAGIC:
                raise InputError(f"{self.path}: not Parquet; if it has JSON lines, give --jsonl")
        try:
            with pq.ParquetFile(
                self.path, pre_buffer=False, buffer_size=_READ_BYTES, page_checksum_verification=True
            ) as file:
                yield file
        except MemoryError as error:
            raise InputError(
                f"{self.path}{which}: no memory for a page of it, which is read whole ({error}): write it with smaller "
                "pages, or take fewer --workers"
            ) from None
        except (pa.ArrowException, OSError) as error:
            why = str(error).splitlines()[0]
            raise InputError(f"{self.path}{which}: broken, or not written to its end: {why}") from None

    def _row_bytes(self, file: pq.ParquetFile) -> int:
        """Return about how many bytes a row has in the columns that are read; at least 1."""
        metadata, names = file.metadata, tuple(self.columns.names(file.schema_arrow.names))
        size: int = sum(
            group.column(index).total_uncompressed_size
            for group in map(metadata.row_group, range(metadata.num_row_groups))
            for index in range(group.num_columns)
            if group.column(index).path_in_schema.startswith(names)
        )
        rows: int = metadata.num_rows
        return max(size // max(rows, 1), 1)

    @staticmethod
    def _groups(file: pq.ParquetFile, first: int, end: int) -> tuple[list[int], int]:
        """Return the row groups that contain some rows, and the number of the first row in them."""
        groups: list[int] = []
        begins = at = 0
        for index in range(file.metadata.num_row_groups):
            rows = file.metadata.row_group(index).num_rows
            if at < end and at + rows > first:
                begins = begins if groups else at
                groups.append(index)
            at += rows
        return groups, begins
