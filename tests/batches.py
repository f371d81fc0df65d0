"""Files of many outputs, and `llama3-tools extract` on them, for the tests of batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner, Result
from rich.console import Console

from llama3_batch.progress import RunProgress
from llama3_tools.cli.group import llama3_tools

CALL = '{"name": "get_weather", "parameters": {"city": "Paris", "days": "3"}}'
TOOL = {
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
}
OUTPUTS = [
    f"Let me see. {CALL} One moment.",
    "Hello, Grüße 👩‍🚀\u2028.",
    f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL.replace('Paris', 'Rome')}</tool_call>",
    CALL[:-5],
    f"As `{CALL}`.",
    '{"name": "rm", "parameters": {"path": "/"}}',
]


def texts(count: int) -> list[str]:
    """So many outputs, no two of which are the same."""
    return [f"{OUTPUTS[number % len(OUTPUTS)]} ({number})" for number in range(count)]


def write_jsonl(path: Path, lines: Iterable[Mapping[str, Any] | str | bytes]) -> Path:
    """Write a file of JSON lines; a line may also be given as it is."""
    with path.open("wb") as file:
        for line in lines:
            written = line if isinstance(line, (str, bytes)) else json.dumps(line)
            file.write((written.encode() if isinstance(written, str) else written) + b"\n")
    return path


def write_parquet(path: Path, columns: Mapping[str, Any], row_group_size: int = 1000) -> Path:
    """Write a Parquet file."""
    pq.write_table(pa.table(columns), path, row_group_size=row_group_size)
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of results."""
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


def extract_files(*arguments: object) -> Result:
    """Run `llama3-tools extract` in this process."""
    return CliRunner().invoke(llama3_tools, ["extract", *map(str, arguments)])


class Watching(RunProgress):
    """Keeps what it is told of a run, and does something once the run is planned or has read some rows."""

    def __init__(self, on_planned: Callable[[], object] = int, on_rows: Callable[[], object] = int) -> None:
        super().__init__(Console(quiet=True))
        self.on_planned, self.on_rows = on_planned, on_rows
        self.read = 0
        self.said: list[str] = []

    def planned(self, rows: int, done: int) -> None:
        super().planned(rows, done)
        self.on_planned()

    def rows(self, count: int) -> None:
        self.read += count
        if count > 0:
            self.on_rows()

    def say(self, message: str) -> None:
        self.said.append(message)
