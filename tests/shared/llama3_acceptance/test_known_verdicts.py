"""Suites of answers whose verdicts are known: calls in text, native ones, and the strict format with one or several.

Beside each suite in `known_verdicts/`, a file has the answers. A line has the verdict on what the model wrote, and,
where that differs, the one after coercion.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from commands import accept
from llama3_acceptance import Suite, judge, load_suite

FOLDER = Path(__file__).parent / "known_verdicts"
SUITES = ["text", "native", "strict", "strict_several"]


def answers(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


@cache
def suite(name: str) -> Suite:
    return load_suite(FOLDER / f"{name}.yaml")


def known(answer: dict[str, Any]) -> tuple[str, str]:
    return answer["verdict"], answer.get("coerced", answer["verdict"])


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        pytest.param(name, answer, id=f"{name}:{line}")
        for name in SUITES
        for line, answer in enumerate(answers(name), 1)
    ],
)
def test_an_answer_gets_the_verdict_that_is_known(name: str, answer: dict[str, Any]) -> None:
    (case,) = (case for case in suite(name).cases if case.id == answer["case"])
    judgements = judge(case, answer.get("response", answer.get("output")), suite(name))
    detail = judgements.parsed.detail
    assert (judgements.parsed.verdict.value, judgements.coerced.verdict.value) == known(answer), detail


@pytest.mark.parametrize("name", SUITES)
def test_the_command_gives_the_same_verdicts(name: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    result = accept(FOLDER / f"{name}.yaml", "--replay", FOLDER / f"{name}.jsonl", "--json", report)
    assert result.exit_code == 1, result.output
    given: dict[str, list[tuple[str, str]]] = {}
    for one in json.loads(report.read_text("utf-8"))["results"]:
        given.setdefault(one["case"], []).append((one["parsed"]["verdict"], one["coerced"]["verdict"]))
    expected: dict[str, list[tuple[str, str]]] = {}
    for answer in answers(name):
        expected.setdefault(answer["case"], []).append(known(answer))
    assert given == expected
