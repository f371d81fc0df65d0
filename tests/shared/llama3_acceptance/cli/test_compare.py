"""`llama3-tools accept --compare`: what changed between two reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import ANSWERS, accept, answering, ask, refused, words


@pytest.fixture
def reports(suite: str, tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    with answering(*ANSWERS, *["No."] * 4) as server:
        ask(server, suite, "--json", before)
        ask(server, suite, "--json", after)
    return before, after


def test_a_comparison_says_what_changed(reports: tuple[Path, Path]) -> None:
    result = accept("--compare", *reports)
    shown = words(result.stdout)
    assert result.exit_code == 1
    assert "parsed 75 % (30 to 95) 50 % (15 to 85) 0 1" in shown
    assert "after coercion 100 % (51 to 100) 50 % (15 to 85) 0 2" in shown
    assert "parsed: broken kitchen passed → direct_answer_not_allowed" in shown
    assert "parsed: fails for another reason dim wrong_type → direct_answer_not_allowed" in shown


def changed(report: Path, **changes: object) -> Path:
    """Write a report again, with some of it changed."""
    path = report.with_name("changed.json")
    path.write_text(json.dumps({**json.loads(report.read_text("utf-8")), **changes}), "utf-8")
    return path


def results_of(report: Path) -> list[dict[str, Any]]:
    return list(json.loads(report.read_text("utf-8"))["results"])


def test_what_passed_before_and_is_missing_now_is_a_loss(reports: tuple[Path, Path]) -> None:
    whole, part = reports[0], changed(reports[0], results=results_of(reports[0])[1:])
    lost = accept("--compare", whole, part)
    assert lost.exit_code == 1
    assert "only in before.json: kitchen" in words(lost.stdout)
    assert "parsed: passed before, and missing now: kitchen" in words(lost.stdout)
    assert accept("--compare", part, whole).exit_code == 0


def test_reports_without_a_common_response_cannot_be_compared(reports: tuple[Path, Path]) -> None:
    other = changed(reports[0], results=[{**one, "case": f"other {one['case']}"} for one in results_of(reports[0])])
    assert "have no response in common: are they of one suite?" in refused("--compare", reports[0], other)


@pytest.mark.parametrize(("score", "status"), [("parsed", 0), ("coerced", 1)])
def test_the_score_decides_the_status_of_a_comparison(reports: tuple[Path, Path], score: str, status: int) -> None:
    dim = results_of(reports[0])[1]
    worse = changed(reports[0], results=[{**dim, "coerced": dim["parsed"]}])
    assert accept("--compare", reports[0], worse, "--score", score).exit_code == 1  # the others are missing
    alone = reports[0].with_name("alone.json")
    alone.write_text(json.dumps({**json.loads(reports[0].read_text("utf-8")), "results": [dim]}), "utf-8")
    assert accept("--compare", alone, worse, "--score", score).exit_code == status
