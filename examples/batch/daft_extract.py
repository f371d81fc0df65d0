"""Reads model outputs from Parquet files with Daft, and writes them with one more column: their content and calls.

Run it from a clone, after `pip install '.[batch]' daft`:

    python daft_extract.py outputs.parquet extracted

If a process dies, the whole query fails, and you have to run it again.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from llama3_batch import EXTRACTION, extract_batch

TOOLS = None
"""The declared tools; `None`: a call of any name counts."""


def extract(texts: pa.Array, ids: pa.Array) -> pa.Array:
    """Return what was extracted from some rows. This is what runs in Daft's processes."""
    batch = pa.record_batch({"text": texts, "id": ids})
    return extract_batch(batch, text_column="text", id_column="id", tools=TOOLS)["extraction"]


def main(command_line: Sequence[str] | None = None) -> None:
    """Read, extract, write."""
    parser = argparse.ArgumentParser(description="Extract tool calls with Daft.")
    parser.add_argument("source", help="Parquet files with the columns id and text")
    parser.add_argument("target", help="a folder that is not there yet")
    options = parser.parse_args(command_line)

    import daft  # noqa: PLC0415 (slow, and the function above does without)

    # Processes, as threads share the interpreter's lock.
    @daft.cls(use_process=True, max_concurrency=os.cpu_count() or 1)
    class Extraction:
        @daft.method.batch(return_dtype=daft.DataType.from_arrow_type(EXTRACTION), batch_size=2000)  # type: ignore[untyped-decorator]
        def rows(self, texts: Any, ids: Any) -> Any:  # noqa: ANN401 (Daft's own series)
            return extract(texts.to_arrow(), ids.to_arrow())

    frame = daft.read_parquet(options.source)
    frame = frame.with_column("extraction", Extraction().rows(frame["text"], frame["id"]))
    frame.write_parquet(options.target)


if __name__ == "__main__":
    main()
