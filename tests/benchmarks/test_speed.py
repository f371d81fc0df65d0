"""The command that measures: what it measures is there, and what it finds out is written down. No time is asserted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import extraction
import growth
import measuring
import speed
from chunkings import extract_in_every_chunking
from extraction import answers, published_shapes, targets
from growth import WHOLE, Growth
from measuring import chunks_of, streamed
from outputs import REAL_SHAPES, TOOLS
from speed import main
from workloads import GROWING, Workload

SIZE = 4096


def rows(text: str) -> list[list[str]]:
    """The cells of the rows of a table."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]


def arguments_of(call: str) -> dict[str, Any]:
    """The arguments of a call in JSON, under either key."""
    members = json.loads(call)
    return members.get("arguments") or members["parameters"]


def written_in(folder: Path, lines: Iterable[object]) -> Path:
    outputs = folder / "outputs.jsonl"
    outputs.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return outputs


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each run be one, and windows be short: no time is looked at."""
    monkeypatch.setattr(measuring, "_SHORTEST", 0)
    monkeypatch.setattr(growth, "_CHUNKS", 20)


@pytest.mark.parametrize("workload", GROWING, ids=[workload.name for workload in GROWING])
def test_the_calls_that_are_in_an_output_are_found(workload: Workload):
    extractor, text = workload.extractor(), workload.make(SIZE)
    in_chunks, whole = streamed(extractor, chunks_of(text, 16)), extractor.extract(text)
    assert [len(one.tool_calls) for one in (in_chunks, whole)] == [workload.calls_in(SIZE)] * 2
    assert text.startswith(workload.begin(SIZE * workload.scale))


@pytest.mark.usefixtures("hasty")
def test_it_prints_the_targets_and_puts_them_into_the_page_that_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    outputs = written_in(tmp_path, [{"raw_output": text} for text, _ in REAL_SHAPES.values()] * 2)
    monkeypatch.setattr(speed, "FULL", replace(speed.FULL, repeats=1))
    monkeypatch.setattr(extraction, "targets", partial(targets, files=[outputs]))
    page = tmp_path / "speed.md"
    page.write_text("Slow:\n<!-- targets -->\nOld.\n<!-- end -->\nNo more.\n", encoding="utf-8")
    assert main(["--only", "targets", "--page", str(page)]) == 0
    printed = capsys.readouterr().out.strip()
    assert page.read_text(encoding="utf-8") == f"Slow:\n<!-- targets -->\n\n{printed}\n\n<!-- end -->\nNo more.\n"
    names = [name for name, *_ in rows(printed)]
    assert {*REAL_SHAPES, "ChatML, 2 real outputs", "an extractor for 100 tools"} <= {*names}
    assert re.fullmatch(r"Measured on \d{4}-\d\d-\d\d: processor .+, Python .+", printed.splitlines()[-1])


@pytest.mark.usefixtures("hasty")
def test_it_measures_an_answer_of_each_shape():
    measured = list(answers(1))
    assert [name for name, *_ in measured] == [*REAL_SHAPES, "prose", "Markdown"]
    assert all(re.fullmatch(r"[\d.]+ [nµm]?s", time) for _, _, *times in measured for time in times)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ([1.0, 2.0, 4.0], []),
        ([1.0, 2.19, 4.3], []),
        ([1.0, 4.0, 16.0], ["'open braces', in chunks of 4: 4.00 times the time for twice the size"]),
        ([1.0, 2.0, 4.5], ["'open braces', in chunks of 4: 2.25 times the time for twice the size"]),
    ],
)
def test_what_grows_faster_than_its_output_is_told(seconds: list[float], told: list[str]):
    row = Growth("open braces", {WHOLE: [8, 16, 32], 4: [8, 16, 32]}, {WHOLE: [1.0, 1.0, 1.0], 4: seconds}, 1.2)
    assert list(row.problems()) == told


@pytest.mark.parametrize("options", [{}, {"tools": TOOLS, "coerce_arguments": True}], ids=["plain", "tools"])
@pytest.mark.parametrize(("text", "calls"), REAL_SHAPES.values(), ids=REAL_SHAPES)
def test_the_calls_in_the_outputs_of_the_targets_are_found(text: str, calls: list[str], options: dict[str, Any]):
    extraction = extract_in_every_chunking(text, **options)
    assert [call.arguments for call in extraction.tool_calls] == [arguments_of(call) for call in calls]


def test_published_outputs_are_read_with_the_tools_that_are_declared_for_each(tmp_path: Path):
    text, _ = REAL_SHAPES["`<tool_call>`"]
    lines = [{"raw_output": text, "tools": tools} for tools in (TOOLS, [{"name": "another"}])]
    plain, declaring = islice(published_shapes([written_in(tmp_path, lines), tmp_path / "gone.jsonl"]), 2)
    assert (plain.texts, plain.tools) == ([text, text], ())
    assert (declaring.texts, [[tool["name"] for tool in json.loads(tools)] for tools in declaring.tools]) == (
        [text],  # the other one calls a tool that it does not have
        [[tool["function"]["name"] for tool in TOOLS]],
    )
