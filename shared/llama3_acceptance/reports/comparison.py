"""What changed between two runs: which cases pass now, and which do not any more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from llama3_acceptance.reports.json_report import REPORT_VERSION
from llama3_acceptance.reports.scores import Score
from llama3_acceptance.running.records import RecordsError, to_json
from llama3_acceptance.values import Verdict, repeat_name
from llama3_tools.values import shortened

Judged: TypeAlias = Literal["parsed", "coerced"]
"""Which judgement is meant: of what the model wrote, or after coercion."""

_PASSED = Verdict.PASSED.value
_NO_REPORT = f"no report of version {REPORT_VERSION}: make one with `llama3-tools accept … --replay FILE --json FILE`"


@dataclass(frozen=True, slots=True)
class Change:
    """A response whose verdict is another one in the second run."""

    name: str
    """The case, and which repeat if it is not the first."""
    before: str
    after: str
    detail: str
    """What the second run's judgement says."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of a suite, side by side, by one of the judgements."""

    judged: Judged
    before: Score
    """How many of the common responses passed in the first run."""
    after: Score
    """How many of them passed in the second."""
    fixed: tuple[Change, ...]
    """What passes in the second run only."""
    broken: tuple[Change, ...]
    """What passed in the first run only."""
    changed: tuple[Change, ...]
    """What fails in both, for another reason."""
    only_before: tuple[str, ...]
    """The responses that only the first run has, as `case` or `case[repeat]`."""
    lost: tuple[str, ...]
    """Those of them that passed."""
    only_after: tuple[str, ...]
    """Those that only the second run has."""


def read_report(path: Path) -> dict[str, Any]:
    """Read a JSON report of a run.

    Raises:
        OSError: the file cannot be opened.
        RecordsError: it is no such report.
    """
    try:
        report: object = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise RecordsError(f"{path}: not JSON: {error}; {_NO_REPORT}") from None
    if not isinstance(report, dict) or report.get("llama3_tools_report") != REPORT_VERSION:
        raise RecordsError(f"{path}: {_NO_REPORT}")
    try:
        compare_reports(report, report, "parsed"), compare_reports(report, report, "coerced")
        differences(report, report)
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordsError(f"{path}: a broken report: {error!r}") from None
    return report


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Say how two runs were made differently, one sentence for each value that is another: the model, a policy."""
    first, second = _described(before), _described(after)
    changes = [
        f"{name}: {_value(first, name)} → {_value(second, name)}"
        for name in first | second
        if first.get(name) != second.get(name)
    ]
    if before["run"]["fingerprint"] != after["run"]["fingerprint"]:
        changes.append("the suite asks something else now: its tools or commands have changed")
    return tuple(changes)


def _described(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run was made with, flat: also what it sent, how text was read, and its policies."""
    run = report["run"]
    told = (run["settings"], report["prompt"], report["reading"], report["policies"])
    return {"suite": run["suite"], "model": run["model"], **{key: one[key] for one in told for key in one}}


def _value(described: Mapping[str, Any], name: str) -> str:
    return shortened(to_json(described[name])) if name in described else "none"


def compare_reports(before: Mapping[str, Any], after: Mapping[str, Any], judged: Judged) -> Comparison:
    """Compare two reports, as `report_json` gives them, by one of the judgements."""
    first, second = _by_case(before), _by_case(after)
    was, now = ({key: one[judged]["verdict"] for key, one in run.items()} for run in (first, second))
    common = [key for key in was if key in now]
    changes = [
        Change(repeat_name(*key), was[key], now[key], second[key][judged]["detail"])
        for key in common
        if was[key] != now[key]
    ]
    gone = [key for key in was if key not in now]
    return Comparison(
        judged,
        Score(sum(was[key] == _PASSED for key in common), len(common)),
        Score(sum(now[key] == _PASSED for key in common), len(common)),
        fixed=tuple(change for change in changes if change.after == _PASSED),
        broken=tuple(change for change in changes if change.before == _PASSED),
        changed=tuple(change for change in changes if _PASSED not in (change.before, change.after)),
        only_before=tuple(repeat_name(*key) for key in gone),
        lost=tuple(repeat_name(*key) for key in gone if was[key] == _PASSED),
        only_after=tuple(repeat_name(*key) for key in now if key not in was),
    )


def _by_case(report: Mapping[str, Any]) -> dict[tuple[str, int], Mapping[str, Any]]:
    return {(one["case"], one["repeat"]): one for one in report["results"]}
