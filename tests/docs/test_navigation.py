"""Each page of the documentation is in the navigation, and in what assistants are given."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SITE = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]


def pages(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        for target in entry.values():
            yield from [target] if isinstance(target, str) else pages(target)


def test_the_navigation_has_every_page_once() -> None:
    assert sorted(pages(SITE["nav"])) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_assistants_are_given_every_page_of_the_navigation() -> None:
    sections = SITE["plugins"]["llmstxt"]["sections"].values()
    given = [entry if isinstance(entry, str) else next(iter(entry)) for section in sections for entry in section]
    assert set(pages(SITE["nav"])) - set(given) == set(), (
        "list it in zensical.toml, below [project.plugins.llmstxt.sections]"
    )
    assert sorted(given) == sorted(pages(SITE["nav"]))
