"""`--workers`: processes that share the parts, and what happens if one of them dies."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest

from batches import Watching, extract_files, rows, texts, write_jsonl
from llama3_batch import sources
from llama3_batch.columns import Columns
from llama3_batch.file_run import FileRun, run_files
from llama3_batch.work import WorkerDiedError

MANY = 12_000


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of three parts, each of several batches."""
    monkeypatch.setattr(sources, "_PART_ROWS", 4_000)
    return write_jsonl(tmp_path / "a.jsonl", [{"text": text} for text in texts(MANY)])


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """Whatever happens, all processes have ended."""
    yield
    assert multiprocessing.active_children() == []


def killing(deaths: int) -> Watching:
    """Kills all processes as soon as one has read some rows, so many times."""
    left = iter(range(deaths))

    def kill() -> None:
        if next(left, None) is not None:
            for process in multiprocessing.active_children():
                process.kill()

    return Watching(on_rows=kill)


def run(path: Path, watching: Watching, folder: str, workers: int = 2) -> bytes:
    out = path.parent / folder
    (_done,) = run_files(
        [path], FileRun(kind="jsonl", columns=Columns("text"), to="jsonl", out=out, workers=workers), watching
    )
    return (out / "a.jsonl").read_bytes()


def test_processes_write_what_one_alone_writes(path: Path) -> None:
    for workers in (1, 3):
        done = extract_files("--jsonl", path, "--workers", workers, "--out", path.parent / str(workers), "--report")
        assert done.exit_code == 0, done.output
    alone, shared = path.parent / "1", path.parent / "3"
    for name in ("a.jsonl", "a.jsonl.summary.json", "report.html"):
        assert (alone / name).read_bytes().replace(str(alone).encode(), b"") == (shared / name).read_bytes().replace(
            str(shared).encode(), b""
        )


def test_a_process_that_dies_is_replaced_and_no_row_is_lost_or_there_twice(path: Path) -> None:
    watching = killing(1)
    killed = run(path, watching, "killed")
    assert [message.partition(":")[0] for message in watching.said] == ["a process died"] * len(watching.said)
    assert len(watching.said) in {1, 2}
    assert watching.read == MANY
    assert [row["row"] for row in rows(path.parent / "killed" / "a.jsonl")] == list(range(MANY))
    assert run(path, Watching(), "alone", workers=1) == killed


def test_a_part_at_which_every_process_dies_ends_the_run_with_its_name(path: Path) -> None:
    with pytest.raises(WorkerDiedError, match=r"a\.jsonl, rows \d+ to \d+: 3 processes died at them.*fewer --workers"):
        run(path, killing(1_000), "killed")
    run(path, Watching(), "killed")
    assert [row["row"] for row in rows(path.parent / "killed" / "a.jsonl")] == list(range(MANY))
