"""The snippets themselves are run by `conftest.py` at the root. Here: that none slips through, and any runs alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("**/*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_python_snippet_is_marked_in_the_one_way_that_is_run(page: Path) -> None:
    fences = re.findall(r"^[ \t>]*(?:```|~~~)[ \t]*\{?[ \t.]*(py\w*\b[^\n]*)", page.read_text("utf-8"), re.MULTILINE)
    assert [fence for fence in fences if fence != "python"] == []
