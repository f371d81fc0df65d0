"""The fuzzers' inputs: some of the seeds, and what the mutations make of them. `make fuzz` runs many more."""

from __future__ import annotations

import random
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
    for seed in seeds[:: 1 + len(seeds) // 10]:
        TARGETS[target].run(seed)


@pytest.mark.parametrize("target", ["extract", "pythonic"])
def test_mutations_reach_other_inputs_and_the_same_ones_from_the_same_seed(target: str) -> None:
    mutate, reached = TARGETS[target].mutate, []
    assert mutate is not None
    for _ in range(2):
        seeded, inputs = random.Random(target), TARGETS[target].first_inputs()
        for _ in range(100):
            inputs.append(mutate(seeded.choice(inputs), seeded))
            assert len(inputs[-1]) <= LONGEST_INPUT
        reached.append(inputs)
    assert reached[0] == reached[1]
    assert len(set(reached[0])) > 75
    for data in reached[0][-10:]:
        TARGETS[target].run(data)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xfe\xfd", b"\x07\x07", b"[]", b'[{"properties": 1}, {"a": 1}]'])
def test_any_bytes_are_an_input(target: str, data: bytes) -> None:
    TARGETS[target].run(data)


def test_a_finding_that_was_mended_is_none_any_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    finding = tmp_path / "pythonic-crash-1"
    finding.write_bytes(b"a=1")
    assert run.main(["--replay", str(finding)]) == 0
    assert "no finding any more" in capsys.readouterr().out
