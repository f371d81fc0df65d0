"""Each page of the documentation is in the navigation, and in what assistants are given."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SITE = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
START = sorted((DOCS / "start").glob("*.md"))


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


def test_there_is_a_way_in_for_each_kind_of_user() -> None:
    assert {page.stem for page in START} == {"chain", "agent", "server", "logs", "tests"}
    home = (DOCS / "index.md").read_text("utf-8")
    assert all(f"(start/{page.name})" in home for page in START)


@pytest.mark.parametrize("page", START, ids=lambda page: page.stem)
def test_a_way_in_has_the_line_that_installs_an_example_what_to_do_and_what_is_next(page: Path) -> None:
    text = page.read_text("utf-8")
    install, example = text.find("pip install '"), text.find("```python")
    doubt, following = text.find("?**"), text.find("**Next:**")
    assert 0 < install < example < doubt < following
    assert "doctor.md" in text or "command.md" in text
    assert "#>" in text


@pytest.mark.parametrize("page", START, ids=lambda page: page.stem)
def test_a_way_in_is_a_screen_long(page: Path) -> None:
    text = page.read_text("utf-8")
    assert max(len(part.splitlines()) for part in re.split("^## ", text, flags=re.MULTILINE)) <= 45
