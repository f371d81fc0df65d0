"""JSON lines: where they may be cut into parts, and the row in each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from llama3_batch.columns import KNOWN, LM_STUDIO, Columns, MissingColumnError, found_at, text_at, value_at
from llama3_batch.parts import PART_BYTES, PART_ROWS, InputError, Part, changed
from llama3_batch.rows import Row, RowError, RowProblem, checked_reason, checked_tools, written_id
from llama3_tools.text import read_json

_BLOCK = 256 * 1024
_LONGEST_LINE = 64 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"
_OTHER_KINDS = {
    b"\x1f\x8b": "it is compressed: unpack it first (gunzip --keep)",
    b"\x28\xb5\x2f\xfd": "it is compressed: unpack it first (unzstd)",
    b"PAR1": "it is Parquet: give --parquet",
}
"""What else a file may be, by how it begins, and what to do then."""
_LOOKED_AT = 100


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A file with a JSON object in each line. A line without an output is not a row, but has a number."""

    path: Path
    columns: Columns

    def located(self) -> JsonLines:
        """Return the same file, with the column of the outputs."""
        try:
            with self.path.open("rb") as file:
                return JsonLines(self.path, self._located(file))
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None

    def parts(self) -> list[Part]:
        """Return the parts of the file."""
        try:
            with self.path.open("rb") as file:
                return list(_parts(file))
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None

    def rows(self, part: Part) -> Iterator[tuple[int, Row]]:
        """Yield the rows of a part."""
        lines = 0
        try:
            with self.path.open("rb") as file:
                file.seek(part.start)
                for number, line in enumerate(_lines(file, part.end), part.first_row):
                    lines += 1
                    if (isinstance(line, RowError) or line.strip()) and (row := self._row(number, line)):
                        yield number, row
                if (lines, file.tell()) != (part.rows, part.end):
                    raise changed(self.path, f", {part.numbers}")
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None

    def _located(self, file: BinaryIO) -> Columns:
        """Refuse a file of another kind, and one of which the first lines have no such column."""
        for beginning, cure in _OTHER_KINDS.items():
            if file.read(len(beginning)) == beginning:
                raise InputError(f"{self.path}: {cure}")
            file.seek(0)
        first: bytes | RowError = b""
        is_object = False
        names, there, with_text = dict[str, None](), set[str](), set[str]()
        for line in islice(_lines(file), _LOOKED_AT):
            first = first or (line if isinstance(line, RowError) else line.strip())
            with suppress(RowError):
                found = _object(line)
                is_object = True
                names.update(dict.fromkeys(found))
                there.update(place for place in (*self.columns.places, *KNOWN) if _has(found, place))
                with_text.update(place for place in KNOWN if isinstance(text_at(found, place), str))
        if first == b"[" or (not is_object and isinstance(first, bytes) and first.startswith(b"[")):
            raise InputError(f"{self.path}: it is one JSON array: write each element in a line (jq -c '.[]')")
        if first and not is_object:
            raise InputError(f"{self.path}: not JSON lines: none of the first {_LOOKED_AT} lines is an object")
        if not names:
            return replace(self.columns, text=self.columns.text or KNOWN[0])
        try:
            return self.columns.located(list(names), there, with_text)
        except MissingColumnError as error:
            raise InputError(f"{self.path}: in the first {_LOOKED_AT} lines, {error}") from None

    def _row(self, number: int, line: bytes | RowError) -> Row | None:
        """Return the row of a line; `None`: a log has something else there than an output."""
        key = f"{self.path.name}:{number}"
        try:
            found = _object(line)
        except RowError as error:
            return Row(key, error)
        columns = self.columns
        if columns.text == LM_STUDIO and found_at(found, "data.type") not in (None, "llm.prediction.output"):
            return None
        id_ = written_id(found_at(found, columns.id))
        tools = checked_tools(found_at(found, columns.tools), str(columns.tools))
        reason = checked_reason(found_at(found, columns.finish_reason), str(columns.finish_reason))
        return Row(key if id_ is None else id_, text_at(found, str(columns.text)), tools, reason, id_)


def _has(row: dict[str, Any], place: str) -> bool:
    try:
        value_at(row, place)
    except LookupError:
        return False
    return True


def _parts(file: BinaryIO) -> Iterator[Part]:
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


def _lines(file: BinaryIO, end: int | None = None) -> Iterator[bytes | RowError]:
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
        yield RowError(RowProblem.TOO_LONG, f"the line has more than {_LONGEST_LINE} bytes")


def _object(line: bytes | RowError) -> dict[str, Any]:
    """Return the object in a line.

    Raises:
        RowError: there is none.
    """
    if isinstance(line, RowError):
        raise line
    try:
        found = read_json(line.rstrip(b"\r\n").decode())
    except UnicodeDecodeError as error:
        raise RowError(RowProblem.NOT_UTF_8, f"the line is not UTF-8 at byte {error.start}") from None
    except ValueError as error:
        raise RowError(RowProblem.NOT_JSON, str(error)) from None
    if not isinstance(found, dict):
        raise RowError(RowProblem.NOT_JSON, f"expected a JSON object, found {type(found).__name__}")
    return found
