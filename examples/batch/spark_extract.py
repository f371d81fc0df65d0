"""Reads model outputs from Parquet files with Spark, and writes them with one more column: their content and calls.

Run it from a clone, after `pip install '.[batch]' 'pyspark[sql]>=4'`. Spark needs Java 17 or newer:

    python spark_extract.py outputs.parquet extracted

If the cluster does not have this package, ship its wheel, renamed to `.zip` because Spark takes no `.whl`:
`spark-submit --py-files llama3_tools.zip spark_extract.py …`. pyarrow has to be installed there: `mapInArrow` needs it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from llama3_batch import EXTRACTION, extract_batch

TOOLS = None
"""The declared tools; `None`: a call of any name counts."""

Extract = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def extract(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield each batch with what was extracted from its rows. This is what runs in Spark's Python processes."""
    for batch in batches:
        yield extract_batch(batch, text_column="text", id_column="id", tools=TOOLS)


def main(command_line: Sequence[str] | None = None, extract: Extract = extract) -> None:
    """Read, extract, write."""
    parser = argparse.ArgumentParser(description="Extract tool calls with Spark.")
    parser.add_argument("source", help="Parquet files with the columns id and text")
    parser.add_argument("target", help="a folder that is not there yet")
    parser.add_argument("--master", default="local[2,4]", help="such as local[2,4]: 2 processes, 4 attempts a task")
    options = parser.parse_args(command_line)

    from pyspark.sql import SparkSession  # noqa: PLC0415 (slow, and the function above does without)
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema  # noqa: PLC0415 (as above)

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # or Spark takes whichever python3 is on the path
    session = (
        SparkSession.builder.master(options.master)
        .appName("extract tool calls")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 2000)
        # A task for each 8 MB. Else many small files are one task, and all of it runs in one process.
        .config("spark.sql.files.maxPartitionBytes", 8 * 1024 * 1024)
        .config("spark.sql.files.openCostInBytes", 0)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    frame = session.read.parquet(options.source)
    schema = to_arrow_schema(frame.schema).append(pa.field("extraction", EXTRACTION))
    frame.mapInArrow(extract, from_arrow_schema(schema)).write.parquet(options.target)
    session.stop()


if __name__ == "__main__":
    main()
