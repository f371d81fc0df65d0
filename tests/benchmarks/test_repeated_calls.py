"""The command that counts what reporting repeated calls changes: on rows that are made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bfcl_files import read_results
from bfcl_package import leaderboard
from repeated_calls import Repeats, count_repeats, main

CALL = '{"name": "clock", "parameters": {"zone": "CET"}}'
CLOCK = {"name": "clock", "parameters": {"type": "dict", "properties": {"zone": {"type": "String"}}}}
ONCE = {"category": "simple", "answer": [{"clock": {"zone": ["CET"]}}], "functions": [CLOCK], "model": "small"}
ROWS = [
    ONCE | {"raw": f"{CALL} Done. {CALL}"},
    ONCE | {"raw": f"{CALL} Done. {CALL}", "answer": ONCE["answer"] * 2},
    ONCE | {"raw": f"{CALL} {CALL}"},
    ONCE | {"raw": f"{CALL} Done. {CALL}", "category": "irrelevance"},
]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)) + "\n", encoding="utf-8")
    return path


@pytest.mark.usefixtures("bfcl_eval")
def test_it_counts_what_becomes_right_and_wrong(rows: Path):
    questions = read_results([rows], leaderboard()).questions
    assert list(count_repeats(questions, leaderboard())) == [Repeats("calls due", 3, 2, 1, 1)]
    [row] = count_repeats([], leaderboard())
    assert (row.cells(), row.figures) == (("calls due", "0", "0", "0", "0"), {"become wrong": 0})


@pytest.mark.usefixtures("bfcl_eval")
def test_it_prints_a_table_and_the_rows(rows: Path, capsys: pytest.CaptureFixture[str]):
    main([str(rows), "--list"])
    printed = capsys.readouterr().out
    assert "(small, simple_python): False → True\n" in printed
    assert "repeated: (<ToolCall clock(" in printed
    assert "become right" in printed


@pytest.mark.usefixtures("bfcl_eval")
def test_without_rows_it_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main([str(tmp_path / "none")])
    assert "No such file" in capsys.readouterr().err


@pytest.mark.usefixtures("no_bfcl_eval")
def test_without_the_checker_it_says_what_is_missing(rows: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main([str(rows)])
    assert "pip install" in capsys.readouterr().err
