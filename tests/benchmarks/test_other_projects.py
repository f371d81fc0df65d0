"""The command that compares with what other projects' tests expect: on cases that are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import other_projects
from other_projects import main

CALL = '{"name": "clock", "parameters": {"zone": "CET"}}'
CLOCK = {"name": "clock", "parameters": {"type": "dict", "properties": {"zone": {"type": "String"}}}}


@pytest.fixture
def no_fixtures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_projects, "fixtures", list)


def write(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return str(path)


CASES = [
    {"raw_output": CALL, "tools": ["clock"], "expected_peer": {"calls": [["clock", {"zone": "CET"}]]}, "id": "1"},
    {"raw_output": "[clock(zone='CET')]", "expected_peer": {"calls": [["clock", {"zone": "CET"}]]}, "id": "2"},
    {"raw_output": f"Now: {CALL}", "expected_peer": {"calls": []}, "id": "3"},
    {"raw_output": "{'name': 'f', 'parameters': {}}", "tools": ["f"], "options": {"repair": True}, "id": "4"}
    | {"expected_peer": {"calls": [["f", None]]}},
    {"raw_output": "", "options": {"parser": "ReAct"}, "expected_peer": {"calls": []}, "id": "5"},
]
FIXTURES = [
    {"raw_output": f"Now: {CALL}", "tools": [CLOCK], "id": "6"}
    | {"expected": {"content": "Now: ", "tool_calls": [{"name": "clock", "arguments": {"zone": "CET"}}]}},
    {"raw_output": f"Now: {CALL}", "tools": [CLOCK], "id": "7"}
    | {"expected": {"content": None, "tool_calls": [{"name": "clock", "arguments": {"zone": "CET"}}]}},
    {"raw_output": "[clock(zone='CET'", "tools": [CLOCK], "tags": ["truncated"], "id": "8"}
    | {"expected_error": {"reason": "cut off", "accept": ["no_tool_calls"]}},
]


@pytest.mark.usefixtures("no_fixtures")
def test_cases_are_compared_with_what_others_expect(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "page.md"
    page.write_text("<!-- cases -->\n<!-- end -->\n", encoding="utf-8")
    cases, expected = write(tmp_path / "cases.jsonl", *CASES), write(tmp_path / "fixtures.jsonl", *FIXTURES)
    main([cases, expected, "--list", "--page", str(page)])
    out = capsys.readouterr().out
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines() if line[:2] == "| "]
    assert table[1:] == [
        [f"{tmp_path.name}/cases.jsonl", "4", "3", "1", "4"],
        [f"{tmp_path.name}/fixtures.jsonl", "3", "2", "1", "3"],
    ]
    listed = [line.partition(":")[0] for line in out.splitlines() if ": expected" in line]
    assert listed == ["3", "7"]
    assert f"\n  {json.dumps('Now: ')[:-1]}".replace('"', "'") in out
    assert "Not read, as they are for a framework's parser: 1" in out
    assert "cases.jsonl" in page.read_text(encoding="utf-8")


def test_the_fixtures_that_are_installed_are_read(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("canitoolcall")
    main([])
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert {name for name, *_ in table[2:]} >= {"canitoolcall/imported.jsonl", "canitoolcall/recorded.jsonl"}
    assert sum(int(otherwise) for *_, otherwise, _ in table[2:]) == 1, "a list that is cut off keeps its complete calls"


@pytest.mark.usefixtures("no_fixtures")
def test_without_files_and_fixtures_it_says_what_it_needs(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2
    assert 'make cases OUTPUTS="' in capsys.readouterr().err


@pytest.mark.usefixtures("no_fixtures")
@pytest.mark.parametrize("row", [{"raw": "x"}, {"expected": {"tool_calls": []}}])
def test_a_row_without_what_is_expected_is_named(
    row: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = write(tmp_path / "rows.jsonl", CASES[0], row)
    with pytest.raises(SystemExit) as stopped:
        main([path])
    assert stopped.value.code == 2
    assert f"{path}, line 2: expected" in capsys.readouterr().err
