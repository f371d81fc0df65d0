"""A run, and a comparison of two, as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from llama3_acceptance.comparison import Change, Comparison
from llama3_acceptance.results import Results
from llama3_acceptance.scores import Row, Score, score
from llama3_acceptance.values import CaseResult, Verdict, repeat_name
from llama3_tools.text.escaping import escape_invisible
from llama3_tools.values import shortened

__all__ = ["print_comparison", "print_results"]

_SHOWN_FAILURES = 20


def print_results(screen: Console, results: Results, *, coerced: bool) -> None:
    """Print the scores of a run by tool and by reason, then what failed and why.

    Args:
        screen: where to.
        results: the run.
        coerced: whether the judgement after coercion decides what failed.
    """
    scores, run = score(results), results.run
    where = " ".join(part for part in (run.model, f"at {run.base_url}" if run.base_url else "") if part)
    screen.print(
        Text.assemble((escape_invisible(results.suite.name), "bold"), f"  {escape_invisible(where)}"), soft_wrap=True
    )
    tables = [_table("passed, by tool", scores.by_tool, scores.overall)]
    tables += [_table("passed, by tag", scores.by_tag)] if scores.by_tag else []
    for table in (*tables, _table("by reason", scores.by_reason)):
        screen.print()
        screen.print(table)
    _print_mended(screen, scores.mended)
    screen.print(Text("\nshare of the responses, and its 95 % interval (Wilson)", "dim"))
    failed = [one for one in results.results if not one.judgement(coerced=coerced).passed]
    _print_failed(screen, failed, coerced=coerced)
    if results.missing:
        screen.print(Text(f"\n{_count(results.missing, 'response')} missing: the run is not complete.", "yellow"))


def _table(title: str, rows: Iterable[Row], total: Row | None = None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(title, overflow="fold")
    for name in ("parsed", "after coercion"):
        table.add_column("n", justify="right")
        table.add_column(name)
    for row in rows:
        table.add_row(*_cells(row))
    if total is not None:
        table.add_section()
        table.add_row(*_cells(total), style="bold")
    return table


def _cells(row: Row) -> list[Text]:
    style = "green" if row.name == Verdict.PASSED.value else ""
    scores = (cell for one in (row.parsed, row.coerced) for cell in _score(one))
    return [Text(escape_invisible(row.name), style), *scores]


def _score(score: Score) -> tuple[Text, Text]:
    return Text(f"{score.count}/{score.total}"), Text(str(score))


def _print_mended(screen: Console, mended: Row) -> None:
    """Say how many of those that passed would not have, had text been read strictly."""
    if mended.parsed.count or mended.coerced.count:
        parsed, coerced = (f"{one.count} of {one.total}" for one in (mended.parsed, mended.coerced))
        told = f"read leniently or repaired, of those that passed: {parsed}; after coercion {coerced}"
        screen.print(Text(f"\n{told}", "yellow"), soft_wrap=True)


def _print_failed(screen: Console, failed: list[CaseResult], *, coerced: bool) -> None:
    if not failed:
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True, style="red")
    table.add_column(overflow="fold")
    for result in failed[:_SHOWN_FAILURES]:
        judgement = result.judgement(coerced=coerced)
        table.add_row(Text(escape_invisible(result.name)), judgement.verdict.value, _detail(judgement.detail))
    screen.print()
    screen.print(table)
    if len(failed) > _SHOWN_FAILURES:
        screen.print(Text(f"and {len(failed) - _SHOWN_FAILURES} more: --html or --json has them all", "dim"))


def print_comparison(
    screen: Console, before: str, after: str, comparisons: Iterable[Comparison], differences: Iterable[str] = ()
) -> None:
    """Print what changed between two runs, for each judgement.

    Args:
        screen: where to.
        before: what the first run is called.
        after: what the second run is called.
        comparisons: the comparison by each judgement.
        differences: how the runs were made differently.
    """
    for difference in differences:
        screen.print(Text(escape_invisible(difference), "yellow"), soft_wrap=True)
    names = {"parsed": "parsed", "coerced": "after coercion"}
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("passed", escape_invisible(before), escape_invisible(after), "fixed", "broken", "p (sign test)"):
        table.add_column(Text(heading), overflow="fold")
    several = list(comparisons)
    for one in several:
        counts = (str(len(one.fixed)), str(len(one.broken)), f"{one.p_value:.2g}")
        table.add_row(names[one.judged], str(one.before), str(one.after), *counts)
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
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True, style=style)
    table.add_column(overflow="fold")
    for one in changes:
        name = repeat_name(one.case, one.repeat)
        verdicts = f"{one.before} → {one.after}"
        table.add_row(Text(escape_invisible(name)), Text(escape_invisible(verdicts)), _detail(one.detail))
    if table.row_count:
        screen.print(Text(f"\n{heading}", "bold"))
        screen.print(table)


def _detail(detail: str) -> Text:
    return Text(shortened(escape_invisible(" ".join(detail.split()), exact=True), 200))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s are' if number != 1 else ' is'}"
