"""How far a run is, how fast it goes, and how long it will take."""

from __future__ import annotations

import io

import pytest

from llama3_batch.progress import Progress, progress_line

LINES = [
    ((0, 0, 0, 0.0), "0 of 0 rows (100 %)"),
    ((5, 10, 0, 9.0), "5 of 10 rows (50 %)"),
    ((50_000, 200_000, 30_000, 3.0), "50,000 of 200,000 rows (25 %), 10,000 a second, 15 s left"),
    ((1_000, 1_201_000, 1_000, 1.0), "1,000 of 1,201,000 rows (0 %), 1,000 a second, 20 min left"),
    ((1_000, 9_001_000, 1_000, 1.0), "1,000 of 9,001,000 rows (0 %), 1,000 a second, 2.5 h left"),
    ((10, 10, 10, 1.0), "10 of 10 rows (100 %), 10 a second, 0 s left"),
]


@pytest.mark.parametrize(("given", "line"), LINES, ids=[line for _, line in LINES])
def test_a_line_has_the_rows_the_rate_and_the_time_that_is_left(given: tuple[int, int, int, float], line: str) -> None:
    assert progress_line(*given) == line


class Clock:
    """Goes on by a second each time it is looked at."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 1
        return self.seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watch(stream: io.StringIO, batches: int) -> str:
    with Progress(stream, Clock()) as progress:
        progress.planned(batches * 1_000 + 500, 500)
        for _ in range(batches):
            progress.rows(1_000)
        progress.say("a\x1b.jsonl: broken")
    return stream.getvalue()


def test_on_a_terminal_one_line_is_written_over_again_and_again() -> None:
    written = watch(Terminal(), 3)
    assert written.startswith("500 of 3,500 rows were done by an earlier run\n\r1,500 of 3,500 rows (42 %)")
    assert written.count("\r") == 6
    assert "\ra\\x1b.jsonl: broken\n" in written
    assert written.endswith("left\n")


def test_elsewhere_a_line_is_written_now_and_then_and_at_the_end() -> None:
    lines = watch(io.StringIO(), 70).splitlines()
    assert [line.split()[0] for line in lines] == ["500", "30,500", "60,500", "a\\x1b.jsonl:", "70,500"]


def test_rows_that_have_to_be_read_again_count_once() -> None:
    stream = Terminal()
    with Progress(stream, Clock()) as progress:
        progress.planned(1_000, 0)
        for count in (600, -600, 1_000):
            progress.rows(count)
    assert stream.getvalue().rpartition("\r")[2].startswith("1,000 of 1,000 rows (100 %)")


@pytest.mark.parametrize(("total", "read"), [(0, 0), (5, 5)])
def test_nothing_is_written_to_a_file_of_what_is_done_at_once(total: int, read: int) -> None:
    stream = io.StringIO()
    with Progress(stream, Clock()) as progress:
        progress.planned(total, 0)
        progress.rows(read)
    assert stream.getvalue() == ""


def test_what_ends_before_its_end_says_how_far_it_came() -> None:
    stream = io.StringIO()
    with Progress(stream, Clock()) as progress:
        progress.planned(10, 0)
        progress.rows(5)
    assert stream.getvalue().startswith("5 of 10 rows (50 %)")
