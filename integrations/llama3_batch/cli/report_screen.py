"""A report on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from llama3_batch.report import Line, headline, plural, sections, undeclared
from llama3_batch.summary import Summary
from llama3_tools.text import escape_invisible
from llama3_tools.values import shortened

_MOST_LINES = 12
_WIDTH = 160


def print_report(screen: Console, summary: Summary) -> None:
    """Print what was not read, what happened to the outputs, then a table for each thing that was counted.

    Args:
        screen: where to.
        summary: what was found.
    """
    if (remark := undeclared(summary)) is not None:
        screen.print(Text(remark, "yellow"), soft_wrap=True)
    screen.print(Text(plural(summary.counts["rows"], "output"), "bold"))
    _print_lines(screen, headline(summary))
    for section in sections(summary):
        screen.print()
        screen.print(Text.assemble((section.title, "bold"), (f". {section.explanation}", "dim")), soft_wrap=True)
        _print_lines(screen, section.lines[:_MOST_LINES])
        more = len(section.lines) - _MOST_LINES
        if more > 0:
            screen.print(Text(f"and {more:,} more", "dim"))


def _print_lines(screen: Console, lines: Iterable[Line]) -> None:
    cells = [(f"{line.count:,}", f"{line.share:.1%}", line) for line in lines]
    widths = [max(map(len, column)) for column in list(zip(*cells, strict=True))[:2]]
    margin = " " * (sum(widths) + 6)
    for count, share, line in cells:
        head = f"  {count.rjust(widths[0])}  {share.rjust(widths[1])}  "
        told = Text.assemble(head, escape_invisible(line.name, exact=True))
        if line.remark:
            told.append(f"  {line.remark}", "yellow")
        screen.print(told, soft_wrap=True)
        for text in _example(line):
            screen.print(Text(f"{margin}{text}", "dim"), soft_wrap=True)


def _example(line: Line) -> Iterator[str]:
    for example in line.examples[:1]:
        yield f"row {example.row:,} of {escape_invisible(example.file)}: {_one_line(example.detail)}"
        if example.text:
            yield _one_line(example.text)


def _one_line(text: str) -> str:
    return shortened(escape_invisible(" ".join(text.split()), exact=True), _WIDTH)
