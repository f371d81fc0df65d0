"""Reads model outputs from Parquet files with Ray Data, and writes them with one more column: their content and calls.

Run it from a clone, after `pip install '.[batch]' 'ray[data]'`:

    python ray_extract.py outputs.parquet extracted

If the cluster does not have this package, ship it: `ray.init(runtime_env={"pip": [...]})` takes a wheel.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence

import pyarrow as pa

from llama3_batch import extract_batch

TOOLS = None
"""The declared tools; `None`: a call of any name counts."""


def extract(batch: pa.Table) -> pa.Table:
    """Return a batch with what was extracted from its rows. This is what runs in Ray's processes."""
    return extract_batch(batch, text_column="text", id_column="id", tools=TOOLS)


def main(command_line: Sequence[str] | None = None, extract: Callable[[pa.Table], pa.Table] = extract) -> None:
    """Read, extract, write."""
    parser = argparse.ArgumentParser(description="Extract tool calls with Ray Data.")
    parser.add_argument("source", help="Parquet files with the columns id and text")
    parser.add_argument("target", help="a folder that is not there yet")
    options = parser.parse_args(command_line)

    import ray  # noqa: PLC0415 (slow, and the function above does without)

    cpus = os.cpu_count() or 1
    ray.init(include_dashboard=False, log_to_driver=False, num_cpus=cpus)
    # Eight blocks for each processor: with fewer, some idle while others work. And no pool of actors that takes all
    # processors: none would be left to read, and nothing would happen at all.
    blocks = ray.data.read_parquet(options.source).repartition(8 * cpus)
    blocks.map_batches(extract, batch_format="pyarrow", batch_size=2000).write_parquet(options.target)
    ray.shutdown()


if __name__ == "__main__":
    main()
