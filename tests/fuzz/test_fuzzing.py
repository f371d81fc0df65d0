"""The fuzzers' inputs: one in eight of the seeds, and what the mutations make of them, forty of each target."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from fuzz import run
from fuzz.editing import LONGEST_INPUT
from fuzz.targets import TARGETS


def test_the_targets_have_the_names_that_one_can_ask_for() -> None:
    assert tuple(TARGETS) == run.NAMES


@pytest.mark.parametrize("target", TARGETS)
def test_what_holds_holds_of_the_seeds(target: str) -> None:
    seeds = TARGETS[target].first_inputs()
    assert len(seeds) > 5
    for seed in seeds[::8]:
        TARGETS[target].run(seed)


@pytest.mark.parametrize("target", TARGETS)
def test_mutations_reach_other_inputs_and_the_same_ones_from_the_same_seed(target: str) -> None:
    reached = []
    for _ in range(2):
        seeded, inputs = random.Random(target), TARGETS[target].first_inputs()
        for _ in range(40):
            inputs.append(TARGETS[target].mutate(seeded.choice(inputs), seeded))
            assert len(inputs[-1]) <= LONGEST_INPUT
        reached.append(inputs)
    assert reached[0] == reached[1]
    assert len(set(reached[0][-40:])) > 30
    for data in reached[0][-40:]:
        TARGETS[target].run(data)


def test_a_finding_that_was_mended_is_none_any_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    finding = tmp_path / "pythonic-crash-1"
    finding.write_bytes(b"a=1")
    assert run.main(["--replay", str(finding)]) == 0
    assert "no finding any more" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--replay", "README.md"], "README.md is not named after a target: give --target, too"),
        (["--seconds", "0"], "'0' is no whole number from 1 on"),
    ],
)
def test_what_cannot_be_run_is_refused(line: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run.main(line)
    assert message in capsys.readouterr().err


def test_without_the_fuzzer_one_line_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "atheris", None)
    with pytest.raises(SystemExit) as stopped:
        run.main(["--seconds", "1"])
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "Python 3.11 to 3.13" in line
