"""The command that measures coercion on recorded calls."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARK = ROOT / "benchmarks" / "mistyped_arguments.py"
RECORDED = ROOT.parent / "shared" / "corpus" / "mistyped_arguments.jsonl"
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


GOOD = '{"arguments": {"n": "5"}, "expected_types": {"n": "number"}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{GOOD}\n\n{{oops", "calls.jsonl, line 3: expected a call such as"),
        (f"{GOOD}\n5", "calls.jsonl, line 2: expected a call such as"),
        ('{"arguments": {"n": "5"}}', "calls.jsonl, line 1: expected a call such as"),
        ('{"arguments": {}, "expected_types": {"n": "number"}}', "calls.jsonl, line 1: expected a call such as"),
        ('{"arguments": [], "expected_types": {"n": "number"}}', "calls.jsonl, line 1: expected a call such as"),
        ("\n", "calls.jsonl: no calls in it"),
        (None, "calls.jsonl cannot be read: "),
    ],
)
def test_a_file_that_is_none_is_named_with_its_line(
    text: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    calls = tmp_path / "calls.jsonl"
    if text is not None:
        calls.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(BENCHMARK))["main"]([str(calls)])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.skipif(not RECORDED.is_file(), reason="the corpus of mistyped arguments is not beside the repository")
def test_the_page_has_the_figures_of_the_recordings(capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(BENCHMARK))["main"]([str(RECORDED)])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    page = (ROOT / "docs" / "arguments.md").read_text(encoding="utf-8")
    names = {"array": "array", "number": "number", "arguments": "all arguments", "calls": "calls in which all fit"}
    for name, mistyped, fit, share in rows[1:5]:
        assert f"| {names[name]} | {mistyped} | {fit} | {share.removesuffix('%')} % |" in page
