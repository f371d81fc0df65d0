"""How many outputs a second are read from files, and how much memory that takes: by the command, and by engines.

    python benchmarks/batch_files.py
    python benchmarks/batch_files.py --rows 20000 --only command
    python benchmarks/batch_files.py --page docs/batches-reference.md

The outputs are made up in the shapes in which models write, with 470 characters on average, two in three with calls.
Each way reads all files once, as a process of its own: what it takes to start counts. Engines that are not installed
are left out. Memory is that of all processes together, at its highest; what they share counts once. Linux only.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from figures import Row
from measuring import machine
from outputs import MARKDOWN, PROSE, REAL_SHAPES
from pages import filled, table

__all__ = ["Rate", "main", "written_files"]

_ROOT = Path(__file__).parents[1]
_SHAPES = [text for text, _ in REAL_SHAPES.values()]
OUTPUTS = [*_SHAPES[:2] * 3, *_SHAPES[2:4], PROSE[:130], PROSE[:90], MARKDOWN[:130], MARKDOWN[:90]]
"""Twelve outputs, eight of which call."""
_GROUP = 25_000
_ENGINES = {"spark": "pyspark", "ray": "ray", "daft": "daft"}
_PACKAGES = ("pyarrow", "pyspark", "ray", "daft")


@dataclass(frozen=True, slots=True)
class Rate(Row):
    """How fast rows were read."""

    headings: ClassVar[Sequence[str]] = ("way", "rows", "s", "rows/s", "rows per s of a processor", "memory")
    rows: int
    """How many."""
    seconds: float
    """How long it took."""
    processor: float | None
    """How many seconds of a processor; `None`: some processes did not tell those that started them."""
    memory: int
    """The most memory at once, in bytes."""

    @property
    def figures(self) -> Mapping[str, float]:
        """The seconds and the memory."""
        return {"s": self.seconds, "memory": self.memory}

    def cells(self) -> Sequence[str]:
        """Return the figures."""
        rates = (f"{self.rows / spent:,.0f}" if spent else "" for spent in (self.seconds, self.processor))
        return (self.name, f"{self.rows:,}", f"{self.seconds:.1f}", *rates, f"{self.memory / 1e6:,.0f} MB")


def written_files(folder: Path, rows: int, files: int) -> list[Path]:
    """Write outputs to Parquet files, a part of them at a time, so that there may be any number."""
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    paths = []
    for index in range(files):
        numbers = range(rows * index // files, rows * (index + 1) // files)
        paths.append(folder / f"{rows}-{index:02}.parquet")
        with pq.ParquetWriter(paths[-1], schema) as writer:
            for start in range(0, len(numbers), _GROUP):
                part = numbers[start : start + _GROUP]
                texts = [f"{OUTPUTS[number % len(OUTPUTS)]} {number}" for number in part]
                writer.write_table(pa.table({"id": [f"r{number}" for number in part], "text": texts}, schema))
    return paths


def _measured(name: str, command: Sequence[str], rows: int) -> Rate:
    """Run a command to its end, and look at its memory all the while."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    most = 0
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:  # noqa: S603
        told: list[bytes] = []
        stderr = process.stderr
        reading = threading.Thread(target=lambda: told.append(stderr.read() if stderr else b""))
        reading.start()
        while process.poll() is None:
            most = max(most, _memory(process.pid))
            time.sleep(0.2)
        reading.join()
    seconds = time.monotonic() - began
    if process.returncode:
        raise RuntimeError(f"{name} failed: {told[0].decode(errors='replace')[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Rate(name, rows, seconds, used, most)


def _memory(pid: int) -> int:
    """Return the memory of a process and of all that it has started, in bytes."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):  # it has ended
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    total, left = 0, [pid]
    while left:
        one = left.pop()
        left += children.get(one, [])
        total += _shared_once(one)
    return total


def _shared_once(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _command(folder: Path, files: Sequence[Path], workers: int) -> list[str]:
    out = folder / f"out-{files[0].stem}-{workers}"
    command = [sys.executable, "-m", "llama3_tools.cli", "extract", "--parquet", "--id-column", "id"]
    return [*command, "--overwrite", "--workers", str(workers), "--out", str(out), *map(str, files)]


def rates(folder: Path, rows: int, only: Sequence[str]) -> Iterator[Rate]:
    """Measure each way on the same 16 files."""
    source = folder / "source"
    source.mkdir()
    files = written_files(source, rows, 16)
    if "command" in only:
        yield _measured("one process", _command(folder, files, 1), rows)
        yield _measured("`--workers 2`", _command(folder, files, 2), rows)
    for engine, package in _ENGINES.items():
        if engine in only and find_spec(package) is not None:
            program = str(_ROOT / "examples" / "batch" / f"{engine}_extract.py")
            command = [sys.executable, program, str(source), str(folder / f"out-{engine}")]
            yield replace(_measured(engine.capitalize(), command, rows), processor=None)


def growth(folder: Path, longest: int) -> Iterator[Rate]:
    """Measure one file of a quarter, a half and all of so many rows, with two workers."""
    for rows in (longest // 4, longest // 2, longest):
        (file,) = written_files(folder, rows, 1)
        yield _measured(f"a file of {rows:,}, `--workers 2`", _command(folder, [file], 2), rows)
        file.unlink()


def main(command_line: Sequence[str] | None = None) -> None:
    """Print the tables, and put them into a page if one is named."""
    parser = argparse.ArgumentParser(description="How many outputs a second are read from files.")
    ways = ["command", *_ENGINES, "growth"]
    parser.add_argument("--rows", type=int, default=200_000, help="how many outputs (200,000)")
    parser.add_argument("--longest", type=int, default=2_000_000, help="how many in the longest file (2,000,000)")
    parser.add_argument("--only", nargs="+", choices=ways, default=ways, help="some of the ways")
    parser.add_argument("--page", type=Path, help="a page to put the tables into")
    options = parser.parse_args(command_line)
    tables: dict[str, list[str]] = {}
    with TemporaryDirectory() as folder:
        measured = {"rates": rates(Path(folder), options.rows, options.only)}
        if "growth" in options.only:
            measured["growth"] = growth(Path(folder), options.longest)
        for name, rows in measured.items():
            print()
            tables[name] = []
            for line in table(rows):
                print(line, flush=True)
                tables[name].append(line)
    where = ", ".join(f"{name} {version}" for name, version in machine(_PACKAGES).items())
    print(f"\n{where}, {os.cpu_count()} processors")
    tables["machine"] = [f"{where}, {os.cpu_count()} processors."]
    if options.page:
        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(filled(page, tables), encoding="utf-8")


if __name__ == "__main__":
    main()
