"""Tables in Markdown, and pages that have places for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from figures import Row

__all__ = ["filled", "table"]

_FIRST_WIDTH, _WIDTH = 38, 9


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, each as soon as it is measured."""
    widths: list[int] = []
    for row in rows:
        if not widths:
            widths = [_FIRST_WIDTH, *(max(_WIDTH, len(heading)) for heading in row.headings[1:])]
            yield _line(row.headings, widths)
            yield "|" + "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]) + "|"
        yield _line(row.cells(), widths)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    escaped = [cell.replace("|", r"\|") for cell in cells]
    first, *others = zip(escaped, widths, strict=True)
    return "| " + " | ".join([f"{first[0]:{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)]) + " |"


def filled(page: str, tables: Mapping[str, Sequence[str]]) -> str:
    r"""Put tables into a page that has places for them.

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
