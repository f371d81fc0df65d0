"""The rows of an Arrow table or batch: which columns they come from, and what is in these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import pyarrow as pa

from llama3_batch.rows import Row, checked_reason, checked_text, checked_tools, written_id
from llama3_tools.errors import did_you_mean

__all__ = ["Columns", "MissingColumnError", "rows_of"]


class MissingColumnError(ValueError):
    """A column that is not there, or holds what cannot be an output or its tools."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns to read."""

    text: str
    """The outputs."""
    tools: str | None = None
    """The tools of each, as JSON."""
    id: str | None = None
    """The keys that ids are made from."""
    finish_reason: str | None = None
    """Why each output ended."""

    @property
    def names(self) -> list[str]:
        """The names, each once."""
        given = (self.text, self.tools, self.id, self.finish_reason)
        return list(dict.fromkeys(name for name in given if name is not None))

    def require(self, names: Sequence[str]) -> None:
        """Raise a `MissingColumnError` if one of them is not there.

        >>> Columns("text").require(["id", "texts"])
        Traceback (most recent call last):
        llama3_batch.columns.MissingColumnError: there is no column 'text', only id, texts; did you mean 'texts'?
        """
        for name in self.names:
            if name not in names:
                there = f"only {', '.join(map(str, names))}" if names else "and no other"
                raise MissingColumnError(f"there is no column {name!r}, {there}{did_you_mean(name, names)}")

    def require_types(self, schema: pa.Schema) -> None:
        """Raise a `MissingColumnError` if a column is not there once, or its type cannot be that of its values."""
        self.require(schema.names)
        for name in self.names:
            if schema.names.count(name) > 1:
                raise MissingColumnError(f"there are several columns {name!r}: rename all but one")
        cures = {self.text: "name the column of the outputs"}
        if self.tools is not None:
            cures[self.tools] = "write each list of tools as a JSON string"
        if self.finish_reason is not None:
            cures[self.finish_reason] = "name the column of words such as 'stop' and 'length'"
        for name, cure in cures.items():
            if not _holds_text(schema.field(name).type):
                raise MissingColumnError(f"the column {name!r} holds {schema.field(name).type}, not text: {cure}")
        if self.id is not None and _is_no_key(_value_type(schema.field(self.id).type)):
            raise MissingColumnError(
                f"the column {self.id!r} holds {schema.field(self.id).type}, which is no key: name a column of text or "
                "integers, or cast it"
            )


def rows_of(batch: pa.RecordBatch, columns: Columns, keys: Iterable[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a batch.

    Args:
        batch: the batch.
        columns: what to read in it.
        keys: the keys of rows that have no id. `None`: what identifies such a row is its text.
    """
    texts = [checked_text(value, columns.text) for value in _values(batch, columns.text)]
    tools: Iterable[Any] = repeat(None)
    if columns.tools is not None:
        tools = (checked_tools(value, columns.tools) for value in _values(batch, columns.tools))
    reasons: Iterable[Any] = repeat(None)
    if columns.finish_reason is not None:
        reasons = (checked_reason(value, columns.finish_reason) for value in _values(batch, columns.finish_reason))
    ids: Iterable[Any] = repeat(None) if columns.id is None else map(written_id, _values(batch, columns.id))
    others: Iterable[str] = map(str, texts) if keys is None else keys
    for text, tool, reason, id_, other in zip(texts, tools, reasons, ids, others, strict=False):
        yield Row(other if id_ is None else id_, text, tool, reason, id_)


def _holds_text(kind: pa.DataType) -> bool:
    kind = _value_type(kind)
    tests = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in tests if hasattr(pa.types, f"is_{test}"))


def _is_no_key(kind: pa.DataType) -> bool:
    return bool(pa.types.is_temporal(kind) or pa.types.is_nested(kind))


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _values(batch: pa.RecordBatch, name: str) -> list[Any]:
    """Return a column's values; text that is not UTF-8 as its bytes."""
    column = batch.column(name)
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        return [value.as_buffer().to_pybytes() if value.is_valid else None for value in column]
