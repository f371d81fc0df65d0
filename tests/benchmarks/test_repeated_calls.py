"""The command that counts what reporting repeated calls changes: on rows that are made up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import repeated_calls
from judged import Call, Question, read_row
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


def right(question: Question, calls: Sequence[Call]) -> bool:
    return len(calls) == len(question.answer)


def questions() -> list[Any]:
    return [read_row(row) for row in ROWS]


def test_it_counts_what_becomes_right_and_wrong():
    assert list(count_repeats(questions(), right)) == [Repeats("calls due", 3, 2, 1, 1)]
    [row] = count_repeats([], right)
    assert (row.cells(), row.figures) == (("calls due", "0", "0", "0", "0"), {"become wrong": 0})


def test_it_prints_a_table_and_the_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(repeated_calls, "load_checker", lambda: right)
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)) + "\n", encoding="utf-8")
    main([str(path), "--list"])
    printed = capsys.readouterr().out
    assert "(small, simple): False → True\n" in printed
    assert "repeated: (<ToolCall clock(" in printed
    assert "become right" in printed


def test_without_the_checker_or_rows_it_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def missing() -> None:
        raise ImportError

    monkeypatch.setattr(repeated_calls, "load_checker", missing)
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(ROWS[0]), encoding="utf-8")
    for arguments, says in (([str(path)], "pip install"), ([str(tmp_path / "none")], "No such file")):
        with pytest.raises(SystemExit):
            main(arguments)
        assert says in capsys.readouterr().err
