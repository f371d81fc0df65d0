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


PAGE = """
```python
numbers = [1]
print(numbers)
#> [1]
```

```python
numbers.append(2)
print(numbers)
#> [1, 2]
```

```python
print(numbers)
#> [1]
```
"""


@pytest.fixture
def site(pytester: pytest.Pytester) -> pytest.Pytester:
    """A page of three snippets, the last of which says what is wrong, and a README of the same."""
    pytester.syspathinsert(ROOT / "examples")
    pytester.makeconftest((ROOT / "conftest.py").read_text("utf-8"))
    pytester.mkdir("docs").joinpath("page.md").write_text(PAGE, encoding="utf-8")
    pytester.path.joinpath("README.md").write_text(PAGE, encoding="utf-8")
    return pytester


def run(site: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return site.runpytest_inprocess("--disable-plugin-autoload", *arguments)


@pytest.mark.parametrize(
    ("lines", "passed"), [([2, 8, 14], 2), ([8], 1), ([14, 8, 2], 2)], ids=["as it stands", "alone", "backwards"]
)
def test_a_snippet_of_a_page_runs_after_those_before_it(site: pytest.Pytester, lines: list[int], passed: int):
    ran = run(site, *(f"docs/page.md::line:{line},column:1" for line in lines))
    ran.assert_outcomes(passed=passed, failed=len(lines) - passed)


def test_a_snippet_of_the_readme_is_a_program_of_its_own(site: pytest.Pytester):
    run(site, "README.md").assert_outcomes(passed=1, failed=2)
