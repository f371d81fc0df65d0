"""Results in files: each is written under a temporary name, and renamed once it is whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from llama3_batch.results import EXTRACTION, Result, arrow_results, writable
from llama3_tools.text import escape_invisible_json

WrittenRow: TypeAlias = "tuple[int, str | None, Result]"
"""The number of a row, its id, and its result."""

_SCHEMA = pa.schema([("row", pa.int64()), ("id", pa.string()), ("extraction", EXTRACTION)])


@contextmanager
def _replacing(path: Path, summary: Path | None = None) -> Iterator[IO[bytes]]:
    """Open a file that takes its name once all of it is on the disk. If that fails, what was there stays.

    Args:
        path: its name.
        summary: the file of what was found in the one of that name, which goes with it.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if summary is not None:
            summary.unlink(missing_ok=True)
        temporary.replace(path)
    except OSError as error:
        if error.filename not in {None, str(temporary)}:
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a small file whole.

    Raises:
        OSError: it cannot be written; names the file.
    """
    with _replacing(path) as file:
        file.write(data)


def write_part(path: Path, batches: Iterable[Sequence[WrittenRow]]) -> None:
    """Write the results of a part.

    Args:
        path: the file, `.jsonl` or `.parquet`.
        batches: the results, some at a time.

    Raises:
        OSError: it cannot be written; names the file.
    """
    with _replacing(path) as file:
        if path.suffix == ".jsonl":
            for batch in batches:
                file.writelines(_line(*row) for row in batch)
            return
        with pq.ParquetWriter(file, _SCHEMA) as writer:
            for batch in batches:
                writer.write_batch(_record_batch(batch))


def join_parts(paths: Iterable[Path], output: Path, summary: Path) -> None:
    """Write one file of the results of all parts, in their order.

    Args:
        paths: the files of the parts.
        output: the file, of the same kind.
        summary: the file of what was found in the one that is replaced, which goes with it.

    Raises:
        OSError: one cannot be read, or the file cannot be written.
    """
    with _replacing(output, summary) as file:
        if output.suffix == ".jsonl":
            for path in paths:
                with path.open("rb") as part:
                    shutil.copyfileobj(part, file)
            return
        with pq.ParquetWriter(file, _SCHEMA) as writer:
            for path in paths:
                with pq.ParquetFile(path, pre_buffer=False) as part:
                    for group in range(part.num_row_groups):
                        writer.write_table(part.read_row_group(group, use_threads=False))


def _record_batch(batch: Sequence[WrittenRow]) -> pa.RecordBatch:
    numbers, ids, results = zip(*batch, strict=True)
    arrays = [pa.array(numbers, pa.int64()), pa.array(map(writable, ids), pa.string()), arrow_results(list(results))]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _line(number: int, id_: str | None, result: Result) -> bytes:
    line = json.dumps({"row": number, "id": id_, "extraction": result}, ensure_ascii=False)
    return f"{line if line.isascii() else escape_invisible_json(line)}\n".encode()
