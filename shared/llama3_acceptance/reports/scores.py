"""Pass rates with their 95 % intervals: over all, by tool, by tag and by reason, as parsed and after coercion."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from llama3_acceptance.running.results import CaseResult, Results
from llama3_acceptance.values import Allowance, Case, Judgement, Verdict

NO_TOOL = "(no call)"
"""What tables call the tool of a case that expects no call."""

_BOTH = (False, True)

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
    """How many."""
    total: int
    """Of how many."""
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


def _passed(judgements: Sequence[Judgement]) -> Score:
    passed, clean = (sum(map(kind, judgements)) for kind in (attrgetter("passed"), attrgetter("is_clean")))
    return Score(passed, len(judgements), clean)


def score(results: Results) -> Scores:
    """Score a run."""
    found = results.results

    def passed(name: str, among: Iterable[CaseResult]) -> Row:
        among = list(among)
        return Row(name, *(_passed([one.judgement(coerced=coerced) for one in among]) for coerced in _BOTH))

    def grouped(names_of: Callable[[Case], Iterable[str]]) -> tuple[Row, ...]:
        names = dict.fromkeys(name for case in results.suite.cases for name in names_of(case))
        rows = (passed(name, (one for one in found if name in names_of(one.case))) for name in names)
        return tuple(row for row in rows if row.parsed.total)

    passes = [[one for both in found if (one := both.judgement(coerced=coerced)).passed] for coerced in _BOTH]
    allowed = (
        Row(why.value, *(Score(sum(why in one.allowances for one in passing), len(passing)) for passing in passes))
        for why in Allowance
    )
    counts = [Counter(one.judgement(coerced=coerced).verdict for one in found) for coerced in _BOTH]
    reasons = (Row(verdict.value, *(Score(count[verdict], len(found)) for count in counts)) for verdict in Verdict)
    return Scores(
        passed("all", found),
        tuple(row for row in allowed if row.parsed.count or row.coerced.count),
        grouped(lambda case: [case.tool or NO_TOOL]),
        grouped(lambda case: case.tags),
        tuple(row for row in reasons if row.parsed.count or row.coerced.count),
    )
