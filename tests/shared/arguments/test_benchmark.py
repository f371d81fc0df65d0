"""The command that measures coercion on recorded calls."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "mistyped_arguments.py"
CALLS = [
    {"arguments": {"tags": "['x']", "n": "5"}, "expected_types": {"tags": "array", "n": "number"}},
    {"arguments": {"tags": "", "n": 1}, "expected_types": {"tags": "array"}},
    {"arguments": {"n": "many"}, "expected_types": {"n": "number"}},
    {"arguments": {"on": "True"}, "expected_types": {"on": {"type": "boolean"}}},
]


def test_it_says_what_fits_and_what_remains(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    calls = tmp_path / "calls.jsonl"
    calls.write_text("\n".join(map(json.dumps, CALLS)) + "\n\n", encoding="utf-8")
    runpy.run_path(str(BENCHMARK))["main"]([str(calls)])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["mistyped", "fit", "now", "share"],
        ["array", "2", "1", "50.0%"],
        ["number", "2", "1", "50.0%"],
        ["boolean", "1", "1", "100.0%"],
        ["arguments", "5", "3", "60.0%"],
        ["calls", "4", "2", "50.0%"],
        [],
        ["What", "remains:"],
        ["1", "wrong_type:", "expected", "array,", "got", "the", "string", '""'],
        ["1", "wrong_type:", "expected", "number,", "got", "the", "string", '"many"'],
    ]
