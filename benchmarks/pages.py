"""Tables in Markdown, and pages that have places for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from figures import Row

__all__ = ["check_pages", "filled", "table"]

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


def check_pages(paths: Iterable[Path], names: Collection[str]) -> None:
    """Check, before what takes long, that tables can be put into pages.

    Args:
        paths: the files of the pages.
        names: what the tables are called; a page has a place for at least one.

    Raises:
        OSError: a page cannot be read.
        ValueError: it has no such place, or is no text in UTF-8.
    """
    for path in paths:
        try:
            page = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: expected text in UTF-8: {error}") from error
        if not any("<!-- end -->" in page.partition(f"<!-- {name} -->\n")[2] for name in names):
            places = " or ".join(f"<!-- {name} -->" for name in sorted(names))
            raise ValueError(f"{path} has no place for a table: write the lines {places} and, below it, <!-- end -->")


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
