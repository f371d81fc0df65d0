"""The table that says where each rule lives names what is there."""

from __future__ import annotations

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "where-things-live.md").read_text("utf-8")
SECTION = PAGE.partition("## Where each rule lives\n")[2].partition("\n## ")[0]
ROWS = [line.strip("| ").split(" | ") for line in SECTION.splitlines() if re.match(r"\| \d", line)]
NAMED = sorted(
    {
        (path, name)
        for _, code in ROWS
        for path, names in re.findall(r"`([\w/]+\.py)`(?: \(([^()]+)\))?", code)
        for name in re.findall(r"`([\w.]+)`", names) or [""]
    }
)


def test_each_rule_has_a_row():
    rules = [int(number) for rule, _ in ROWS for number in re.findall(r"(?:^|, )(\d+) ", rule)]
    assert sorted(set(rules)) == list(range(1, 16))


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[f"{path} {name}".strip() for path, name in NAMED])
def test_what_a_row_names_is_there(path: str, name: str):
    where = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    module = importlib.import_module(f"llama3_tools.{where}")
    assert reduce(getattr, name.split("."), module) if name else module
