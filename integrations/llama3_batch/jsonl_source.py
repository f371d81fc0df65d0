"""JSON lines: where they may be cut into parts, and the row in each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO

from llama3_batch.columns import LM_STUDIO, Columns, MissingColumnError, Record, found_at
from llama3_batch.parts import PART_BYTES, PART_ROWS, InputError, Part, changed_error, opened
from llama3_batch.rows import RowError
from llama3_tools.text import read_json

_BLOCK = 256 * 1024
_FIRST_LINES = 100
"""In how many lines the columns are looked for."""
_LONGEST_LINE = 64 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"
_OTHER_KINDS = {
    b"\x1f\x8b": "it is compressed: unpack it first (gunzip --keep)",
    b"\x28\xb5\x2f\xfd": "it is compressed: unpack it first (unzstd)",
    b"PAR1": "it is Parquet: give --parquet",
}
"""What else a file may be, by how it begins, and what to do then."""


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A file with a JSON object in each line. A line without an output is not a row, but has a number."""

    path: Path
    columns: Columns

    def located(self) -> JsonLines:
        """Return the same file, with the column of the outputs.

        Raises:
            InputError: it cannot be read, is of another kind, or its first lines have no such column.
        """
        first: bytes | RowError = b""
        rows: list[Record] = []
        with opened(self.path) as file:
            beginning = file.read(4)
            file.seek(0)
            for line in islice(_lines(file), _FIRST_LINES):
                first = first or (line if isinstance(line, RowError) else line.strip())
                with suppress(RowError):
                    rows.append(_object(line))
        for mark, cure in _OTHER_KINDS.items():
            if beginning.startswith(mark):
                raise InputError(f"{self.path}: {cure}")
        if first == b"[" or (not rows and isinstance(first, bytes) and first.startswith(b"[")):
            raise InputError(f"{self.path}: it is one JSON array: write each element in a line (jq -c '.[]')")
        if first and not rows:
            raise InputError(f"{self.path}: not JSON lines: none of the first {_FIRST_LINES} lines is an object")
        names = list(dict.fromkeys(name for row in rows for name in row))
        try:
            return replace(self, columns=self.columns.located(names, rows))
        except MissingColumnError as error:
            raise InputError(f"{self.path}: in the first {_FIRST_LINES} lines, {error}") from None

    def parts(self) -> list[Part]:
        """Return the parts of the file.

        Raises:
            InputError: it cannot be read.
        """
        with opened(self.path) as file:
            return list(_parts(file))

    def rows(self, part: Part) -> Iterator[tuple[int, Record | RowError]]:
        """Yield the rows of a part with their numbers in the file.

        Raises:
            InputError: they cannot be read, or are not as many as they were.
        """
        lines = 0
        with opened(self.path) as file:
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
                raise changed_error(self.path, f", {part.numbers}")


def _parts(file: IO[bytes]) -> Iterator[Part]:
    """Cut at the last line break of a block, as soon as a part has enough rows or bytes."""
    index = first_row = start = end = rows = 0
    open_line = False
    while block := file.read(_BLOCK):
        breaks = block.count(b"\n")
        rows += breaks
        end += len(block)
        open_line = not block.endswith(b"\n")
        if breaks and (rows >= PART_ROWS or end - start >= PART_BYTES):
            cut = end - len(block) + block.rfind(b"\n") + 1
            yield Part(index, first_row, rows, start, cut)
            index, first_row, start, rows = index + 1, first_row + rows, cut, 0
    if open_line:
        rows += 1
    if rows:
        yield Part(index, first_row, rows, start, end)


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
