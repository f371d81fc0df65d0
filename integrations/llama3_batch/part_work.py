"""What is done with one part of a file, in whichever process: read it, write its results, and what was found in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from llama3_batch.parts import FileFormat, Part, Source, in_batches
from llama3_batch.row_reader import RowReader
from llama3_batch.summary import Summary, add_row, written_summary
from llama3_batch.writing import WrittenRow, write_bytes, write_part


@dataclass(frozen=True, slots=True)
class FileJob:
    """All that the work on a part of a file takes. It can be pickled."""

    source: Source
    """The file."""
    reader: RowReader
    """Reads its rows."""
    to: FileFormat
    """The kind of file that is written."""
    folder: Path
    """Where the results of its parts are."""
    has_ids: bool
    """Whether the rows have ids in the input."""

    def results(self, part: Part) -> Path:
        """Return the file for the results of a part. Once it is there, the part is done."""
        return self.folder / f"{part.index:06}.{self.to}"

    def summary(self, part: Part) -> Path:
        """Return the file for the summary of a part."""
        return self.folder / f"{part.index:06}.json"


def do_part(job: FileJob, part: Part, on_rows: Callable[[int], None]) -> None:
    """Read a part and write its results.

    Args:
        job: what to do.
        part: the part.
        on_rows: takes how many rows were read since it was called before.

    Raises:
        InputError: the part cannot be read.
        OSError: something cannot be written.
    """
    summary = Summary()

    def batches() -> Iterator[list[WrittenRow]]:
        left, name = part.rows, job.source.path.name
        for batch in in_batches(job.source.rows(part)):
            written = []
            for number, row in batch:
                found, result = job.reader.read(row)
                add_row(summary, (name, number), row, found, job.reader.unread(row, found))
                written.append((number, row.id, result))
            yield written
            done = batch[-1][0] + 1 - (part.first_row + part.rows - left)
            left -= done
            on_rows(done)
        on_rows(left)  # blank lines at its end
        write_bytes(job.summary(part), json.dumps(written_summary(summary)).encode())

    write_part(job.results(part), job.to, batches(), has_ids=job.has_ids)
