"""Extractions for an Arrow table or batch, as one more column."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from llama3_batch.columns import FIRST_ROWS, Columns, records_of
from llama3_batch.results import EXTRACTION, arrow_results
from llama3_batch.rows import RowReader
from llama3_tools import ReadOption, ReadOptions, ToolLike
from llama3_tools.chat import read_options
from llama3_tools.errors import a_type

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Batch = TypeVar("_Batch", pa.Table, pa.RecordBatch)


def extract_batch(  # noqa: PLR0913 (an option each)
    batch: _Batch,
    *,
    text_column: str = "text",
    tools: Iterable[ToolLike] | None = None,
    tools_column: str | None = None,
    id_column: str | None = None,
    finish_reason_column: str | None = None,
    result_column: str = "extraction",
    options: ReadOptions | None = None,
    **changes: Unpack[ReadOption],
) -> _Batch:
    """Return an Arrow table or batch with one more column: what was extracted from each row.

    It needs no engine: Spark's `mapInArrow`, Ray Data, Daft and your own loop can all call it, and pickle it. A row
    that cannot be read has an `error` instead. The ids of calls are made from the row's id, or else from its
    text, so that a batch that is read again has the same ones: name `id_column` if two rows may have the same text.

    >>> table = pa.table({"text": ["Hello.", '{"name": "f", "parameters": {}}', None]})
    >>> for value in extract_batch(table)["extraction"].to_pylist():
    ...     print(value["content"], [call["name"] for call in value["tool_calls"]], value["error"])
    Hello. [] None
    None ['f'] None
    None [] no_text: there is no 'text'

    Args:
        batch: the rows.
        text_column: the column of the outputs, or a path in one, such as `choices[0].message.content`. The other
            columns may be paths, too.
        tools: the tools that all rows may call; `None`: any name may be called.
        tools_column: the column of each row's own tools, as JSON: a list of OpenAI tools, or a request's body.
        id_column: the column of the keys that the ids of calls are made from.
        finish_reason_column: the column of finish reasons: `length` and the like say that a limit ended an output, and
            so code that it left open is not a call (principle 6).
        result_column: the name of the new column. Its type is `EXTRACTION`.
        options: how outputs are read; `None`: `ReadOptions()`. Its `id_factory` is not used.
        **changes: single options, which go before those in `options`.

    Raises:
        TypeError: `batch` is not an Arrow table or batch, `tools` is not a list of tools, there is no such option, or
            an option has the wrong type.
        ToolDefinitionError: a declaration in `tools` that cannot be read.
        ValueError: a column is missing, has no text, or is there already; an option has a value that it cannot have;
            `coerce_arguments` or `repair` has no tools to go by; tools are given twice; or the
            results of one batch have more than 2 GB of text.
    """
    if not isinstance(batch, (pa.Table, pa.RecordBatch)):
        raise TypeError(f"extract_batch() takes a pyarrow.Table or a RecordBatch, not {a_type(batch)}")
    if tools is not None and tools_column is not None:
        raise ValueError("tools come from `tools` or from `tools_column`, not from both: leave one out")
    columns = Columns(text_column, tools_column, id_column, finish_reason_column)
    columns.located(
        batch.schema.names, [row for part in _parts(batch[:FIRST_ROWS]) for row in records_of(part, columns)]
    )
    if result_column in batch.schema.names:
        raise ValueError(f"there is a column {result_column!r} already: choose another result_column")
    reader = RowReader(columns, tools, read_options(options, changes))
    field = pa.field(result_column, EXTRACTION)
    chunks: list[pa.Array] = [
        arrow_results([reader.read(row).result for row in records_of(part, columns)]) for part in _parts(batch)
    ]
    if isinstance(batch, pa.Table):
        return batch.append_column(field, pa.chunked_array(chunks, EXTRACTION))
    return pa.RecordBatch.from_arrays([*batch.columns, *chunks], schema=batch.schema.append(field))


def _parts(batch: pa.Table | pa.RecordBatch) -> list[pa.RecordBatch]:
    return list(batch.to_batches()) if isinstance(batch, pa.Table) else [batch]
