"""Pass rates with their 95 % intervals: over all, by tool, by tag and by reason, as parsed and after coercion."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from llama3_acceptance.running.results import CaseResult, Results
from llama3_acceptance.values import Allowance, Case, Judgement, Verdict

NO_TOOL = "(no call)"
"""What tables call the tool of a case that expects no call."""

_Z = 1.959963984540054
"""The standard normal deviate of a 95 % interval."""


def wilson(count: int, total: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a share, which also suits few cases and shares near 0 and 1.

    >>> tuple(round(edge, 3) for edge in wilson(19, 30))
    (0.455, 0.781)
    >>> wilson(0, 0)
    (0.0, 1.0)
    """
    if total == 0:
        return 0.0, 1.0
    share, square = count / total, _Z * _Z
    middle = (share + square / (2 * total)) / (1 + square / total)
    half = _Z / (1 + square / total) * math.sqrt(share * (1 - share) / total + square / (4 * total * total))
    return (0.0 if count == 0 else middle - half), (1.0 if count == total else middle + half)


@dataclass(frozen=True, slots=True)
class Score:
    """A count, and the share that it is."""

    count: int
    total: int
    clean: int | None = None
    """How many of them are clean, if it is passes that are counted."""

    @property
    def share(self) -> float:
        """The share, from 0 to 1; 0 of nothing."""
        return self.count / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share (Wilson)."""
        return wilson(self.count, self.total)

    def __str__(self) -> str:
        """Return the share and its interval in per cent, as tables show them.

        >>> str(Score(19, 30))
        '63 % (46 to 78)'
        """
        if not self.total:
            return "none"
        low, high = self.interval
        return f"{self.share * 100:.0f} % ({low * 100:.0f} to {high * 100:.0f})"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: the same score before and after coercion."""

    name: str
    """What is counted: a tool, a tag or a verdict."""
    parsed: Score
    """What the model did."""
    coerced: Score
    """The same after coercion."""

    @property
    def is_perfect(self) -> bool:
        """Whether all passed, and all are clean."""
        return all(one.clean == one.count == one.total for one in (self.parsed, self.coerced))


@dataclass(frozen=True, slots=True)
class Scores:
    """All that a run is scored by."""

    overall: Row
    """How many passed."""
    let_through: tuple[Row, ...]
    """How many of those that passed are not clean, by what let them through."""
    by_tool: tuple[Row, ...]
    """How many passed, by the tool that the case expects."""
    by_tag: tuple[Row, ...]
    """How many passed, by tag; a case with several counts under each."""
    by_reason: tuple[Row, ...]
    """How many got which verdict, the passed ones first."""


def _both(results: Iterable[CaseResult]) -> list[tuple[Judgement, ...]]:
    """Return the judgements of what the models wrote, and those after coercion."""
    several = list(results)
    return [tuple(one.judgements.of(coerced=coerced) for one in several) for coerced in (False, True)]


def _passed(name: str, results: Iterable[CaseResult]) -> Row:
    def passes(judged: Sequence[Judgement]) -> Score:
        return Score(sum(one.passed for one in judged), len(judged), sum(one.is_clean for one in judged))

    return Row(name, *map(passes, _both(results)))


def _counted(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(row for row in rows if row.parsed.count or row.coerced.count)


def score(results: Results) -> Scores:
    """Score a run."""
    found = results.results
    both = _both(found)

    def grouped(names_of: Callable[[Case], Iterable[str]]) -> tuple[Row, ...]:
        names = dict.fromkeys(name for case in results.suite.cases for name in names_of(case))
        rows = (_passed(name, (one for one in found if name in names_of(one.case))) for name in names)
        return tuple(row for row in rows if row.parsed.total)

    def allowed(why: Allowance, judged: Sequence[Judgement]) -> Score:
        return Score(sum(why in one.allowances for one in judged), sum(one.passed for one in judged))

    def having(verdict: Verdict, judged: Sequence[Judgement]) -> Score:
        return Score(sum(one.verdict is verdict for one in judged), len(judged))

    return Scores(
        _passed("all", found),
        _counted(Row(why.value, *(allowed(why, judged) for judged in both)) for why in Allowance),
        grouped(lambda case: [case.tool or NO_TOOL]),
        grouped(lambda case: case.tags),
        _counted(Row(verdict.value, *(having(verdict, judged) for judged in both)) for verdict in Verdict),
    )
