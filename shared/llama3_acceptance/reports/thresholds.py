"""The share of responses that has to pass: of all, of a tool or of a tag; and whether there are enough to tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from llama3_acceptance.reports.scores import NO_TOOL, Score
from llama3_acceptance.running.results import Results
from llama3_acceptance.values import Case, Suite
from llama3_tools.errors import did_you_mean

_Group: TypeAlias = Literal["all", "tool", "tag"]

_THRESHOLD = re.compile(r"(?:(?P<group>tool|tag):(?P<name>.+)=)?\s*(?P<percent>\d{1,3}(?:\.\d+)?)\s*%\s*")


@dataclass(frozen=True, slots=True)
class Threshold:
    """A share that has to pass."""

    share: float
    """The share, from 0 to 1."""
    group: _Group = "all"
    """Of what: of all responses, of those to the cases of a tool, or of those with a tag."""
    name: str = ""
    """The tool or the tag."""

    def __str__(self) -> str:
        """Return it as it is written.

        >>> str(Threshold(0.8)), str(Threshold(0.5, "tag", "numbers"))
        ('80%', 'tag:numbers=50%')
        """
        share = f"{self.share * 100:g}%"
        return share if self.group == "all" else f"{self.group}:{self.name}={share}"

    def names_of(self, case: Case) -> tuple[str, ...]:
        """Return the names, of those that it may have, under which a case counts."""
        return {"all": ("",), "tool": (case.tool or NO_TOOL,), "tag": case.tags}[self.group]


def parse_threshold(text: str, suite: Suite) -> Threshold:
    """Read `80%`, `tool:NAME=80%` or `tag:NAME=80%`.

    Args:
        text: what was written.
        suite: has the tools and the tags. Cases that expect no call are those of the tool `(no call)`.

    Raises:
        ValueError: it is none of these, or the suite has no case of that tool or tag.
    """
    match = _THRESHOLD.fullmatch(text)
    share = float(match["percent"]) / 100 if match else -1.0
    if not match or not 0 <= share <= 1:
        raise ValueError(f"{text!r} is not a share: write 80%, tool:NAME=80% or tag:NAME=80%")
    if match["group"] is None:
        return Threshold(share)
    threshold = Threshold(share, "tool" if match["group"] == "tool" else "tag", match["name"])
    known = {name for case in suite.cases for name in threshold.names_of(case)}
    if threshold.name not in known:
        there, hint = ", ".join(sorted(known)) or "none", did_you_mean(threshold.name, known)
        raise ValueError(f"{text!r}: no case has the {threshold.group} {threshold.name!r}, only {there}{hint}")
    return threshold


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """A threshold, and the responses that it was held against."""

    threshold: Threshold
    """What was wanted."""
    score: Score
    """What there is."""

    @property
    def is_met(self) -> bool:
        """Whether enough of the responses passed; of none, none did."""
        return self.score.total > 0 and self.score.share >= self.threshold.share

    @property
    def is_certain(self) -> bool:
        """Whether the responses are enough to tell: the threshold is outside of the interval of their share."""
        low, high = self.score.interval
        share = self.threshold.share
        return share in (0, 1) or not low < share <= high

    def __str__(self) -> str:
        """Return a sentence.

        >>> print(ThresholdResult(Threshold(0.8), Score(27, 30)))
        80% of all: met, 27 of 30 passed, 90 % (74 to 97); 30 are too few to tell
        """
        of = {"all": "all", "tool": f"the tool {self.threshold.name}", "tag": f"the tag {self.threshold.name}"}
        share = f"{self.threshold.share * 100:g}% of {of[self.threshold.group]}"
        told = f"{share}: {'met' if self.is_met else 'not met'}, {self.score.count} of {self.score.total} passed"
        if self.score.total:
            told += f", {self.score}"
        return told if self.is_certain else f"{told}; {self.score.total} are too few to tell"


def check_thresholds(
    results: Results, thresholds: Iterable[Threshold], *, coerced: bool = False
) -> tuple[ThresholdResult, ...]:
    """Hold the responses of a run against thresholds, as the model wrote them or after coercion."""

    def held(threshold: Threshold) -> ThresholdResult:
        of = (one.judgements for one in results.results if threshold.name in threshold.names_of(one.case))
        passed = [one.of(coerced=coerced).passed for one in of]
        return ThresholdResult(threshold, Score(sum(passed), len(passed)))

    return tuple(map(held, thresholds))
