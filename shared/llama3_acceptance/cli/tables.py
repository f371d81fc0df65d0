"""A run, and a comparison of two, as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from llama3_acceptance.reports.comparison import Change, Comparison
from llama3_acceptance.reports.scores import Row, score
from llama3_acceptance.reports.thresholds import ThresholdResult
from llama3_acceptance.running.results import CaseResult, Results
from llama3_tools.text.escaping import escape_invisible
from llama3_tools.values import shortened

_SHOWN_FAILURES = 20
_GAP = 2
"""Between two columns: one of the padding, and one of the box."""


def print_results(
    screen: Console, results: Results, *, coerced: bool, thresholds: Iterable[ThresholdResult] = ()
) -> None:
    """Print what failed and why, then the scores of a run by tool, by tag and by reason, and the thresholds."""
    scores, run = score(results), results.run
    where = " ".join(part for part in (run.model, f"at {run.base_url}" if run.base_url else "") if part)
    screen.print(
        Text.assemble((escape_invisible(results.suite.name), "bold"), f"  {escape_invisible(where)}"), soft_wrap=True
    )
    failed = [one for one in results.results if not one.judgements.of(coerced=coerced).passed]
    _print_failed(screen, failed, coerced=coerced)
    for title, rows, total in (
        ("passed, by tool", scores.by_tool, scores.overall),
        ("passed, by tag", scores.by_tag, None),
        ("by reason", scores.by_reason, None),
        ("allowances, of those that passed", scores.let_through, None),
    ):
        if rows or total:
            screen.print()
            table = _table(title, rows, total, gap=" ")
            screen.print(table if _fits(screen, table) else _table(title, rows, total, gap="\n"))
    screen.print(Text("\nshare of the responses, and its 95 % interval (Wilson)", "dim"))
    if results.missing:
        told = f"{missing} responses are" if (missing := len(results.missing)) > 1 else "1 response is"
        screen.print(Text(f"\n{told} missing: the run is not complete.", "yellow"))
    for one in thresholds:
        screen.print(Text(f"\n{escape_invisible(str(one))}", "green" if one.is_met else "red"), soft_wrap=True)


def _fits(screen: Console, table: Table) -> bool:
    """Return whether a table has room on a screen without a break in a name or in a score."""
    names, *scores = [[screen.measure(cell) for cell in (column.header, *column.cells)] for column in table.columns]
    widths = [max(cell.minimum for cell in names), *(max(cell.maximum for cell in column) for column in scores)]
    return sum(widths) + _GAP * len(scores) <= screen.width


def _table(title: str, rows: Iterable[Row], total: Row | None, gap: str) -> Table:
    rows = list(rows)
    has_clean = any(row.parsed.clean is not None for row in rows)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(title, overflow="fold")
    for name in ("parsed", "after coercion"):
        table.add_column("n", justify="right", no_wrap=True)
        table.add_column(name.replace(" ", gap))
        if has_clean:
            table.add_column("clean", justify="right", no_wrap=True)
    for row in rows:
        is_good = row.name == "passed" or row.is_perfect
        table.add_row(Text(escape_invisible(row.name)), *_scores(row, gap), style="green" if is_good else "")
    if total is not None:
        table.add_section()
        table.add_row(total.name, *_scores(total, gap), style="bold")
    return table


def _scores(row: Row, gap: str) -> Iterator[str]:
    for one in (row.parsed, row.coerced):
        yield f"{one.count}/{one.total}"
        yield str(one).replace(" (", f"{gap}(")
        yield from () if one.clean is None else [str(one.clean)]


def _print_failed(screen: Console, failed: list[CaseResult], *, coerced: bool) -> None:
    shown = [_failure(result, coerced=coerced) for result in failed[:_SHOWN_FAILURES]]
    _print_rows(screen, Text(f"{len(failed)} failed", "bold red"), "red", shown)
    if len(failed) > _SHOWN_FAILURES:
        screen.print(Text(f"and {len(failed) - _SHOWN_FAILURES} more: --html or --json has them all", "dim"))


def print_failure(screen: Console, result: CaseResult, *, coerced: bool) -> None:
    """Print one response that failed, as soon as it is there."""
    name, verdict, detail = _failure(result, coerced=coerced)
    told = ("first failure: ", escape_invisible(name), "  ", (verdict, "red"), "  ", _detail(detail))
    screen.print(Text.assemble(*told), soft_wrap=True)


def _failure(result: CaseResult, *, coerced: bool) -> tuple[str, str, str]:
    judgement = result.judgements.of(coerced=coerced)
    return result.name, judgement.verdict.value, judgement.detail


def print_comparison(
    screen: Console, before: str, after: str, comparisons: Iterable[Comparison], differences: Iterable[str] = ()
) -> None:
    """Print what changed between two runs of these names, for each judgement, and how they were made differently."""
    for difference in differences:
        screen.print(Text(escape_invisible(difference), "yellow"), soft_wrap=True)
    names = {"parsed": "parsed", "coerced": "after coercion"}
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("passed", escape_invisible(before), escape_invisible(after), "fixed", "broken"):
        table.add_column(Text(heading), overflow="fold")
    several = list(comparisons)
    for one in several:
        table.add_row(names[one.judged], str(one.before), str(one.after), str(len(one.fixed)), str(len(one.broken)))
    screen.print(table)
    for one in several:
        for kind, style, changes in (("fixed", "green", one.fixed), ("broken", "red", one.broken)):
            _print_changes(screen, f"{names[one.judged]}: {kind}", style, changes)
        _print_changes(screen, f"{names[one.judged]}: fails for another reason", "yellow", one.changed)
        if one.lost:
            lost = escape_invisible(", ".join(one.lost))
            screen.print(Text(f"\n{names[one.judged]}: passed before, and missing now: {lost}", "red"))
    for name, only in ((before, several[0].only_before), (after, several[0].only_after)):
        if only:
            screen.print(Text(f"\nonly in {escape_invisible(name)}: {escape_invisible(', '.join(only))}"))


def _print_changes(screen: Console, heading: str, style: str, changes: Iterable[Change]) -> None:
    rows = ((one.name, escape_invisible(f"{one.before} → {one.after}"), one.detail) for one in changes)
    _print_rows(screen, Text(heading, "bold"), style, rows)


def _print_rows(screen: Console, heading: Text, style: str, rows: Iterable[tuple[str, str, str]]) -> None:
    """Print responses, each with its verdict and the reason."""
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True, style=style)
    table.add_column(overflow="fold")
    for name, verdict, detail in rows:
        table.add_row(Text(escape_invisible(name)), Text(verdict), _detail(detail))
    if table.row_count:
        screen.print()
        screen.print(heading)
        screen.print(table)


def _detail(detail: str) -> Text:
    return Text(shortened(escape_invisible(" ".join(detail.split()), exact=True), 200))
