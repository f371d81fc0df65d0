"""The programs for Spark, Ray and Daft: each row is what `extract_batch` makes of it, also if a process is killed.

What needs an engine runs where that is installed, as `make test-batch` does it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from batch import daft_extract, ray_extract, spark_extract
from batches import texts, write_parquet
from llama3_batch import extract_batch

PROGRAMS = Path(__file__).parents[3] / "examples" / "batch"
NEEDS = {
    "spark": find_spec("pyspark") is not None and shutil.which("java") is not None,
    "ray": find_spec("ray") is not None,
    "daft": find_spec("daft") is not None,
}
ROWS = 4_000


def table(count: int = ROWS) -> pa.Table:
    """Rows of which two have the same text, and one has none."""
    written: list[str | None] = [*texts(count - 2), texts(1)[0], None]
    return pa.table({"id": [f"r{number}" for number in range(count)], "text": written})


def test_the_function_for_spark_is_extract_batch() -> None:
    batches = table(9).to_batches(4)
    assert list(spark_extract.extract(iter(batches))) == [extract_batch(batch, id_column="id") for batch in batches]


def test_the_function_for_ray_is_extract_batch() -> None:
    assert ray_extract.extract(table(9)).equals(extract_batch(table(9), id_column="id"))


def test_the_function_for_daft_is_extract_batch() -> None:
    batch = pa.record_batch({name: table(9)[name].combine_chunks() for name in ("id", "text")})
    assert daft_extract.extract(batch["text"], batch["id"]).equals(extract_batch(batch, id_column="id")["extraction"])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of several files."""
    folder = tmp_path / "source"
    folder.mkdir()
    for number in range(4):
        part = table().slice(number * ROWS // 4, ROWS // 4)
        write_parquet(folder / f"part{number}.parquet", {name: part[name] for name in part.schema.names})
    return folder


def results(folder: Path) -> dict[str, Any]:
    """What was extracted, by id; each id is there once."""
    found = ds.dataset(folder, format="parquet", exclude_invalid_files=True).to_table().to_pylist()
    assert len({row["id"] for row in found}) == len(found)
    return {row["id"]: row["extraction"] for row in found}


def expected() -> dict[str, Any]:
    return {row["id"]: row["extraction"] for row in extract_batch(table(), id_column="id").to_pylist()}


def run(*command: str) -> None:
    path = os.pathsep.join([str(PROGRAMS), *sys.path])
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.engines
@pytest.mark.parametrize("engine", NEEDS)
def test_an_engine_extracts_what_one_process_does(engine: str, source: Path, tmp_path: Path) -> None:
    if not NEEDS[engine]:
        pytest.skip(f"{engine} is not installed: make test-batch")
    run(str(PROGRAMS / f"{engine}_extract.py"), str(source), str(tmp_path / "target"))
    assert results(tmp_path / "target") == expected()


DYING = {
    "spark": """
def dying(batches):
    for batch in batches:
        die_once()
        yield from program.extract(iter([batch]))
""",
    "ray": """
def dying(batch):
    die_once()
    return program.extract(batch)
""",
}
KILLED = """
import os, signal, sys
import {engine}_extract as program

mark = sys.argv.pop()

def die_once():
    if not os.path.exists(mark):
        open(mark, "x").close()
        os.kill(os.getpid(), signal.SIGKILL)
{dying}
program.main(sys.argv[1:], extract=dying)
"""


@pytest.mark.engines
@pytest.mark.parametrize("engine", DYING)
def test_a_process_that_is_killed_loses_no_row_and_doubles_none(engine: str, source: Path, tmp_path: Path) -> None:
    if not NEEDS[engine]:
        pytest.skip(f"{engine} is not installed: make test-batch")
    program = KILLED.format(engine=engine, dying=DYING[engine])
    run("-c", program, str(source), str(tmp_path / "target"), str(tmp_path / "mark"))
    assert (tmp_path / "mark").exists()
    assert results(tmp_path / "target") == expected()
