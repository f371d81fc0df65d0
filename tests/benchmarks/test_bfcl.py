"""The command that has the leaderboard's checker judge calls: on made-up results in its layout, and on rows."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from bfcl import main
from bfcl_package import evaluated, loaded

RESULTS = Path(__file__).parent / "bfcl_results" / "2026-01-01"
LLAMA = "meta-llama_Llama-3.2-3B-Instruct"
CLOCK = {"name": "clock", "parameters": {"type": "dict", "properties": {"zone": {"type": "String"}}}}
ROW = {
    "category": "simple",
    "answer": [{"clock": {"zone": ["CET"]}}],
    "functions": [CLOCK],
    "model": "small",
    "id": "s",
}


def rows_of(out: str) -> dict[str, list[list[str]]]:
    """Return the cells of each table, by the heading of its first column."""
    tables: dict[str, list[list[str]]] = {}
    for block in out.split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        if cells:
            name = f"{cells[0][0]} {cells[0][1]}"
            tables[f"{name}, each" if name in tables else name] = cells[2:]
    return tables


def write(path: Path, *rows: dict[str, Any]) -> str:
    data = ("\n".join(map(json.dumps, rows)) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def copied(to: Path) -> Path:
    return shutil.copytree(RESULTS, to / "2026-01-01")


@pytest.mark.usefixtures("board")
def test_results_in_the_leaderboards_layouts_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "page.md"
    page.write_text("".join(f"<!-- {name} -->\n<!-- end -->\n" for name in ("proof", "all", "losses")))
    main([str(RESULTS), "--page", str(page)])
    out = capsys.readouterr().out
    proof = (
        "BFCL's decoder and checker, run here, repeat 8 of 8 verdicts (100.0%) that came with the outputs. "
        "2 outputs have no verdict.\n"
    )
    assert proof in out
    assert [line for line in out.splitlines() if line.startswith("Left out")] == [
        "Left out, files of gpt-4, which is no Llama 3 that the leaderboard has a decoder for: 1",
        "Left out, outputs of the category java, which is not judged here: 1",
        "Left out, outputs of the category multi_turn_base, which is not judged here: 1",
        "Left out, outputs that are no text, but calls that a server read: 1",
    ]
    tables = rows_of(out)
    assert tables["answers of calls due"] == [["all models", "9", "5 (55.6%)", "5 (55.6%)", "6 (66.7%)", "6 (66.7%)"]]
    assert tables["answers of calls due, each"] == [
        ["NousResearch_Hermes-2-Pro-Llama-3-8B", "2", "1 (50.0%)", *["2 (100.0%)"] * 3],
        ["meta-llama_Llama-3.1-8B-Instruct-FC", "3", *["2 (66.7%)"] * 4],
        [LLAMA, "4", "2 (50.0%)", "1 (25.0%)", "2 (50.0%)", "2 (50.0%)"],
    ]
    assert tables["options calls due"][:3] == [
        ["BFCL's decoder", "9", "5", "1", "1", "1", "1", "0", "0"],
        ["plain", "9", "5", "0", "0", "1", "1", "0", "0"],
        ["`coerce_arguments`", "9", "6", "1", "0", "1", "1", "0", "0"],
    ]
    assert tables["class outputs"] == [
        ["read as written: too many calls", "1", "0"],
        ["rejected: a name, a call or arithmetic for a value", "1", "1"],
        ["the same call again: right if it counts once", "1", "0"],
    ]
    filled = page.read_text(encoding="utf-8")
    assert proof in filled
    assert "10 outputs. Judged on " in filled
    assert "| all models " in filled
    assert "rejected: a name" in filled


@pytest.mark.usefixtures("board")
def test_verdicts_that_are_not_reproduced_end_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    score = copied(tmp_path) / "score" / LLAMA / "BFCL_v3_simple_score.json"
    score.write_text('{"accuracy": 1.0, "correct_count": 3, "total_count": 3}\n', encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        main([str(tmp_path / "2026-01-01")])
    assert stopped.value.code == 1
    told = capsys.readouterr()
    assert "repeat 7 of 8 verdicts (87.5%)" in told.out
    assert "less than 95%" in told.err
    assert "|" not in told.out


@pytest.mark.usefixtures("board")
def test_rows_bring_their_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    call = '{"name": "clock", "parameters": {"zone": "CET"}}'
    dotted = {"name": "math.add", "parameters": {"type": "dict", "properties": {"x": {"type": "float"}}}}
    tagged = '<tool_call>{"name": "math_add", "arguments": {"x": 1}}</tool_call>'
    added = {"raw": tagged, "functions": dotted, "answer": [{"math.add": {"x": [1]}}], "family": "hermes"}
    rows = write(
        tmp_path / "rows.jsonl.gz",
        ROW | {"raw": "[clock(zone='CET')]", "official": True},
        ROW | {"raw_output": call, "official": False},
        ROW | {"raw": "The clock tells the time."},
        ROW | added | {"model": "Hermes-2-Theta-Llama-3-70B"},
        ROW | {"raw": f"<tool_call>{call.replace('parameters', 'arguments')}</tool_call>", "family": "study"}
        | {"official": False},
        ROW | {"raw": "Sorry.", "category": "irrelevance", "answer": None, "official": True},
        ROW | {"raw": call, "category": "irrelevance", "answer": [], "official": True},
    )  # fmt: skip
    main([rows, "--list"])
    out = capsys.readouterr().out
    proof = "repeat 4 of 4 verdicts (100.0%) that came with the outputs. 3 outputs have no verdict."
    assert proof in out, "the study's verdict is its own"
    assert rows_of(out)["answers of calls due"] == [
        ["all models", "5", "3 (60.0%)", *["4 (80.0%)"] * 3],
        ["all but Hermes-2-Theta-Llama-3-70B", "4", "2 (50.0%)", *["3 (75.0%)"] * 3],
    ]
    assert rows_of(out)["answers of calls due, each"] == [
        ["Hermes-2-Theta-Llama-3-70B", "1", *["1 (100.0%)"] * 4],
        ["small", "4", "2 (50.0%)", *["3 (75.0%)"] * 3],
    ]
    listed = [line for line in out.splitlines() if line.startswith("s (")]
    assert listed == [
        "s (small, simple_python): no call, and nothing that was rejected",
        "s (small, irrelevance): a call where none is due: calls, and nothing else; BFCL's decoder is right",
    ]


@pytest.mark.usefixtures("board")
def test_calls_where_none_is_due_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    call = "[clock(zone='CET')]"
    outputs = {
        f"{call}": ("calls, and nothing else", "1", "0"),
        f"The time:\n{call}": ("calls beside text", "1", "1"),
        f"{call}\n[watch(zone='CET')]": ("calls beside something that was rejected", "1", "1"),
        "[clock(zone=5, where=1)]": ("arguments that do not fit the tool's schema, which `problems` says", "1", "0"),
        "I do not know.": (),
    }
    row = ROW | {"category": "irrelevance", "answer": []}
    main([write(tmp_path / "rows.jsonl", *(row | {"raw": text} for text in outputs))])
    found = rows_of(capsys.readouterr().out)["class outputs"]
    assert sorted(found) == sorted(list(cells) for cells in outputs.values() if cells)


@pytest.mark.parametrize(
    "code", ["__import__('os')", "[].append", "f(1)", "9 ** 9 ** 9", "'a' * 9", "{**x}", "x", "(lambda: 1)()"]
)
def test_nothing_else_is_run(code: str):
    with pytest.raises(ValueError, match=r"^(?:no literal and no arithmetic|too large a power|no number): "):
        evaluated(code)


def test_decoders_run_nothing_that_a_model_wrote(tmp_path: Path):
    (tmp_path / "handler.py").write_text("def decode(text):\n    return eval(text)\n")
    decode = loaded(tmp_path / "handler.py").decode
    assert decode("[1 + 1]") == [2]
    with pytest.raises(ValueError, match="no literal"):
        decode(f"__import__('pathlib').Path({str(tmp_path / 'made')!r}).touch()")
    assert not (tmp_path / "made").exists()
