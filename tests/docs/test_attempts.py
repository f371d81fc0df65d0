"""The table of attempts and mentions in the page on reading: each example is what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from llama3_tools import Extractor

PAGE = (Path(__file__).parents[2] / "docs" / "reading.md").read_text("utf-8")
TABLE = PAGE.partition("| written | an attempt | a mention |\n|---|---|---|\n")[2].partition("\n\n")[0]
CELLS = [
    (cell, is_attempt)
    for row in TABLE.splitlines()
    for cell, is_attempt in zip(row.split(" | ")[1:], (True, False), strict=True)
]
SEARCH = {"name": "search", "parameters": {"properties": {"query": {"type": "string"}}, "required": ["query"]}}


@pytest.mark.parametrize(("cell", "is_attempt"), CELLS)
def test_each_example_is_an_attempt_or_a_mention(cell: str, is_attempt: bool) -> None:
    code = re.search(r"(?<!`)(`+)(?!`) ?(.+?) ?(?<!`)\1(?!`)", cell)
    assert code is not None
    extraction = Extractor([SEARCH]).extract(code[2].replace("⏎", "\n"))
    assert not extraction.tools_called
    assert extraction.rejections
    assert bool(extraction.attempts) is is_attempt


def test_the_table_has_examples() -> None:
    assert len(CELLS) == 10
