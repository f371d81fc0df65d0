"""How far a run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import io
from itertools import count

import pytest
from rich.console import Console

from llama3_batch.progress import RunProgress


def watch(*, terminal: bool, counts: list[int]) -> str:
    stream = io.StringIO()
    with RunProgress(Console(file=stream, force_terminal=terminal, width=80, markup=False)) as shown:
        shown.planned(1_500, 500)
        for rows in counts:
            shown.rows(rows)
        shown.say("a\x1b[2J[b].jsonl: broken")
    return stream.getvalue()


def test_on_a_terminal_it_shows_the_rows_and_those_that_are_read_again_count_once() -> None:
    written = watch(terminal=True, counts=[600, -600, 1_000])
    assert "500 of 1,500 rows were done by an earlier run" in written
    assert "1500/1500" in written
    assert "a\\x1b[2J[b].jsonl: broken" in written


def test_elsewhere_a_line_is_written_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(step=11)
    monkeypatch.setattr("llama3_batch.progress.time.monotonic", lambda: float(next(clock)))
    said = "500 of 1,500 rows were done by an earlier run\n600 of 1,500 rows\na\\x1b[2J[b].jsonl: broken\n"
    assert watch(terminal=False, counts=[20, 30, 50]) == said
