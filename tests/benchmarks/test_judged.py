"""The command that counts what is read rightly, as others judge it: on rows and cases that are made up."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judged import load_checker, main

CALL = '{"name": "clock", "parameters": {"zone": "CET"}}'
CLOCK = {"name": "clock", "parameters": {"type": "dict", "properties": {"zone": {"type": "String"}}}}
TIMER = {"name": "timer", "parameters": {"type": "dict", "properties": {"minutes": {"type": "integer"}}}}
DUE = {"category": "simple", "answer": [{"clock": {"zone": ["CET"]}}], "functions": [CLOCK], "model": "small"}

CHECKER = {
    "bfcl_eval/__init__.py": "",
    "bfcl_eval/constants/__init__.py": "",
    "bfcl_eval/constants/enums.py": "class Language:\n    PYTHON = 'python'\n",
    "bfcl_eval/eval_checker/__init__.py": "",
    "bfcl_eval/eval_checker/ast_eval/__init__.py": "",
    "bfcl_eval/eval_checker/ast_eval/ast_checker.py": """
from bfcl_eval.constants.model_config import MODEL_CONFIG_MAPPING

def ast_checker(functions, calls, answer, language, category, model):
    assert language == "python" and not MODEL_CONFIG_MAPPING[model].underscore_to_dot
    assert [function["name"] for function in functions][: len(answer)] == [name for one in answer for name in one]
    right = [{name: {k: values[0] for k, values in members.items()} for name, members in one.items()} for one in answer]
    return {"valid": calls == right}
""",
}
"""As much of the leaderboard's package as judges, in the same places."""


@pytest.fixture(autouse=True)
def _a_fresh_import() -> Iterator[None]:
    yield
    load_checker.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "bfcl_eval"]:
        del sys.modules[name]


@pytest.fixture
def checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in CHECKER.items():
        path = tmp_path / "packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "packages")


def write(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return str(path)


def rows_of(out: str) -> list[list[str]]:
    """Return the cells of the tables' rows, without their headings."""
    lines = [line for line in out.splitlines() if line.startswith("| ") and "right" not in line and "alike" not in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.usefixtures("checker")
def test_the_leaderboards_rows_are_judged_by_its_checker(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    dotted = {"name": "math.add", "parameters": {"type": "dict", "properties": {"x": {"type": "float"}}}}
    main(
        [
            write(
                tmp_path / "rows.jsonl",
                DUE | {"raw": CALL, "official": True},
                DUE | {"raw": CALL.replace("CET", "PST")},
                DUE | {"raw": "The tool clock tells the time.", "official": True},
                {
                    "raw": '{"name": "timer", "parameters": {"minutes": "3"}}',
                    "functions": TIMER,
                    "category": "simple",
                    "answer": [{"timer": {"minutes": [3]}}],
                },
                {
                    "raw": '{"name": "math_add", "parameters": {"x": 1}}',
                    "functions": [dotted],
                    "category": "simple",
                    "family": "hermes",
                    "answer": [{"math.add": {"x": [1]}}],
                },
                {"raw": "Sorry.", "functions": [CLOCK], "category": "irrelevance", "answer": [], "official": True},
                {"raw": CALL, "functions": [CLOCK], "category": "irrelevance", "answer": None},
            )
        ]
    )
    first, coerced, *_ = rows_of(capsys.readouterr().out)
    assert first == ["no option", "5", "2", "2", "2", "1", "1", "1", "1"]
    assert coerced == ["coerce_arguments", "5", "3", "2", "2", "1", "1", "1", "1"]


def test_a_checker_that_is_missing_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "bfcl_eval", None)
    with pytest.raises(SystemExit) as stopped:
        main([write(tmp_path / "rows.jsonl", DUE | {"raw": CALL})])
    assert stopped.value.code == 2
    assert "pip install --no-deps bfcl-eval==" in capsys.readouterr().err


@pytest.mark.usefixtures("checker")
def test_what_the_checker_stumbles_over_is_not_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    main([write(tmp_path / "rows.jsonl", DUE | {"raw": CALL, "answer": [{"timer": {"minutes": [3]}}]})])
    assert rows_of(capsys.readouterr().out)[0][:3] == ["no option", "1", "0"]


@pytest.mark.usefixtures("checker")
def test_rows_that_the_official_decoder_reads_and_silent_ones_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    wrong = DUE | {"raw": CALL.replace("CET", "PST"), "id": "a"}
    silent = DUE | {"raw": "The clock says five.", "id": "c"}
    path = write(tmp_path / "rows.jsonl", wrong | {"official": True}, wrong | {"id": "b"}, silent)
    main([path, "--list"])
    out = capsys.readouterr().out
    assert "a (small, simple): the official decoder reads it\n  " in out
    assert '  = <ToolCall clock({"zone": "PST"}) json 0:' in out
    assert "c (small, simple): silent\n  'The clock says five.'\n" in out
    assert "b (small" not in out


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
    {"raw_output": "[clock(zone='CET')", "tools": [CLOCK], "tags": ["truncated"], "id": "8"}
    | {"expected_error": {"reason": "cut off", "accept": ["no_tool_calls"]}},
]


def test_cases_are_compared_with_what_others_expect(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "page.md"
    page.write_text("<!-- cases -->\n<!-- end -->\n", encoding="utf-8")
    cases, fixtures = write(tmp_path / "cases.jsonl", *CASES), write(tmp_path / "fixtures.jsonl", *FIXTURES)
    main([cases, fixtures, "--list", "--page", str(page)])
    out = capsys.readouterr().out
    assert rows_of(out) == [
        [f"{tmp_path.name}/cases.jsonl", "4", "3", "1", "4"],
        [f"{tmp_path.name}/fixtures.jsonl", "3", "2", "1", "3"],
    ]
    listed = [line.partition(":")[0] for line in out.splitlines() if ": expected" in line]
    assert listed == ["3", "7"]
    assert "Not read, as they are for a framework's parser: 1" in out
    assert "cases.jsonl" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("row", [{"raw": "x"}, {"expected": {"tool_calls": []}}, {"raw": "x", "answer": []}])
def test_a_row_without_what_is_right_is_named(row: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write(tmp_path / "rows.jsonl", CASES[0], row)
    with pytest.raises(SystemExit) as stopped:
        main([path])
    assert stopped.value.code == 2
    assert f"{path}, line 2: expected" in capsys.readouterr().err
