"""Tables in Markdown, and pages that have places for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

_FIRST_WIDTH, _WIDTH = 38, 9


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    r"""Yield the lines of a table in Markdown, each as soon as it is measured; none without a row.

    >>> print(*table(["of", "time"], [["a call", "1 µs"]]), sep="\n")
    | of                                     |      time |
    |----------------------------------------|----------:|
    | a call                                 |      1 µs |
    """
    widths = [_FIRST_WIDTH, *(max(_WIDTH, len(heading)) for heading in headings[1:])]
    for number, row in enumerate(rows):
        if not number:
            yield _line(headings, widths)
            yield "|" + "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]) + "|"
        yield _line(row, widths)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip((cell.replace("|", r"\|") for cell in cells), widths, strict=True)
    return "| " + " | ".join([f"{first[0]:{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)]) + " |"


def time_shown(seconds: float) -> str:
    """Show a time in the unit that fits.

    >>> time_shown(0.0000123), time_shown(2)
    ('12.3 µs', '2.0 s')
    """
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if abs(seconds) * factor >= 1:
            return f"{seconds * factor:.1f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def fill(paths: Iterable[Path], tables: Mapping[str, Sequence[str]]) -> None:
    """Put tables into pages that have places for them."""
    for path in paths:
        path.write_text(filled(path.read_text(encoding="utf-8"), tables), encoding="utf-8")


def filled(page: str, tables: Mapping[str, Sequence[str]]) -> str:
    r"""Return a page with tables in its places for them.

    >>> print(filled("<!-- a -->\n<!-- end -->", {"a": ["| 1 |"], "b": ["| 2 |"]}))
    <!-- a -->
    <BLANKLINE>
    | 1 |
    <BLANKLINE>
    <!-- end -->
    """
    for name, lines in tables.items():
        begins, found, rest = page.partition(f"<!-- {name} -->\n")
        _, _, ends = rest.partition("<!-- end -->")
        if found:
            page = "\n".join([begins + found, *lines, "", f"<!-- end -->{ends}"])
    return page
