"""Figures that several pages tell are those of the tables."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-well-it-reads.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8").partition("## How well it reads\n")[2].partition("\n## ")[0]


def table(name: str) -> list[list[str]]:
    lines = PAGE.partition(f"<!-- {name} -->\n")[2].partition("<!-- end -->")[0].strip().splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" |")] for line in lines if line.startswith("|")][2:]


def test_the_readme_says_what_the_table_says() -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in README.splitlines() if "(" in line[30:]]
    due = [[row[1], row[3], row[2]] for row in table("all")]
    decoder, plain, *_ = table("options")
    count = int(decoder[5])
    none_due = [str(count), *(f"{right} ({int(right) / count:.1%})" for right in (plain[6], decoder[6]))]
    said = [[words.split()[0], *cells] for words, *cells in rows if words[:1].isdigit()]
    assert said == [*due, none_due]


def test_counts_of_recorded_outputs_are_those_of_their_page() -> None:
    counted = (ROOT / "docs" / "what-llama-3-writes.md").read_text(encoding="utf-8")
    pages = [ROOT / "README.md", ROOT / "docs" / "why.md", ROOT / "docs" / "arguments.md"]
    told = {count for page in pages for count in re.findall(r"\d+\sof\s\d+", page.read_text(encoding="utf-8"))}
    assert len(told) == 5
    assert {" ".join(count.split()) for count in told} <= set(re.findall(r"\d+ of \d+", counted))
