"""The page that says where things live names what is there, and each file of the extractor."""

from __future__ import annotations

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "shared" / "llama3_tools"
PAGE = (ROOT / "docs" / "where-things-live.md").read_text("utf-8")


def section(heading: str) -> str:
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


SECTION = section("Where each principle lives")
ROWS = [line.strip("| ").split(" | ") for line in SECTION.splitlines() if re.match(r"\| \d", line)]
NAMED = sorted(
    {
        (path, name)
        for _, code in ROWS
        for path, names in re.findall(r"`([\w/]+\.py)`(?: \(([^()]+)\))?", code)
        for name in re.findall(r"`([\w.]+)`", names) or [""]
    }
)


def test_each_principle_has_a_row():
    assert [int(principle.split()[0]) for principle, _ in ROWS] == list(range(1, 9))


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[f"{path} {name}".strip() for path, name in NAMED])
def test_what_a_row_names_is_there(path: str, name: str):
    where = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    module = importlib.import_module(f"llama3_tools.{where}")
    assert reduce(getattr, name.split("."), module) if name else module


@pytest.mark.parametrize("folder", ["literals", "reader"])
def test_each_file_of_the_extractor_has_its_place(folder: str):
    named = set(re.findall(rf"`{folder}/(\w+\.py)`", PAGE))
    assert named | {"__init__.py"} == {path.name for path in (CORE / folder).glob("*.py")}


def test_each_file_of_arguments_has_its_place():
    named = set(re.findall(r"`(\w+\.py)`", section("What happens to arguments")))
    assert named | {"__init__.py"} == {path.name for path in (CORE / "arguments").glob("*.py")}


def test_each_benchmark_has_its_place():
    named = re.findall(r"`(\w+\.py)`", section("What measures and judges"))
    assert sorted(named) == sorted(path.name for path in (ROOT / "benchmarks").glob("*.py"))


def test_what_a_release_needs_is_there():
    named = re.findall(r"`([\w.]+/[\w./-]+|[\w.]+\.(?:py|md))`", section("What happens to a release"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
