"""A summary as those read it who want to know what their model does wrong: its headline, and its tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from llama3_batch.summary import Example, Finding, Summary, written_summary

TITLE = "Tool calls in"
"""What the title of a report's page begins with."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table."""

    name: str
    """What was counted."""
    count: int
    """How often it was found."""
    share: float
    """Of all that the section counts, from 0 to 1."""
    remark: str = ""
    """What else there is to say."""
    examples: tuple[Example, ...] = ()
    """The first few."""


@dataclass(frozen=True, slots=True)
class Section:
    """A table."""

    title: str
    """What it counts."""
    explanation: str
    """What that means, in a sentence."""
    lines: tuple[Line, ...]
    """The most frequent first."""


def undeclared(summary: Summary) -> str | None:
    """Return what to say first if no tools were declared, so that some forms of calls were not read.

    >>> undeclared(Summary(rows=5, undeclared=5))
    'No tools were declared, so forms that need declared tools were not read. 0 outputs look like them.'
    """
    if not summary.undeclared:
        return None
    is_all = summary.undeclared == summary.rows - _total(summary.errors)
    which = "" if is_all else f" for {_plural(summary.undeclared, 'output')}"
    alike = _total(summary.unread)
    cure = ": add --tools with your tools" if alike else ""
    return (
        f"No tools were declared{which}, so forms that need declared tools were not read. "
        f"{_plural(alike, 'output')} look{'s' * (alike == 1)} like them{cure}."
    )


def headline(summary: Summary) -> list[Line]:
    """Return what happened to the outputs.

    >>> [(line.name, line.count, line.share) for line in headline(Summary(rows=4, calling=3))]
    [('call a tool', 3, 0.75), ('tried to call, but call nothing', 0, 0.0), ('text alone', 1, 0.25)]
    """
    errors, failing = _total(summary.errors), _total(summary.failing)
    attempts = [example for finding in summary.failing.values() for example in finding.examples]
    lines = [
        ("call a tool", summary.calling, ()),
        ("tried to call, but call nothing", failing, tuple(attempts)),
        ("text alone", summary.rows - summary.calling - failing - errors, ()),
        *([("could not be read", errors, ())] if errors else []),
    ]
    return [Line(name, count, count / max(summary.rows, 1), examples=examples) for name, count, examples in lines]


def sections(summary: Summary) -> list[Section]:
    """Return the tables that have something in them."""
    mended = [
        f"{count:,} {what}"
        for count, what in ((summary.repaired, "repaired"), (summary.deviating, "deviating"))
        if count
    ]
    found = [
        Section(
            "Calls, if their tools were declared",
            "Outputs that call nothing, by the name that each seems to call.",
            _findings(summary.unread),
        ),
        Section(
            "Rejected, by reason",
            "Text that looked like a call, but is not one. In an attempt, the model meant to call.",
            _findings(summary.rejections),
        ),
        Section("Tools that were not declared", "Names of rejected calls.", _counted(summary.unknown_tools)),
        Section(
            "Arguments that do not have the declared type",
            "Coercion makes them fit, except the misfits.",
            _findings(summary.arguments),
        ),
        Section("Calls, by tool", f"{summary.calls:,} in all{', '.join(['', *mended])}.", _counted(summary.tools)),
        Section("Calls, by form", "How the model writes them.", _counted(summary.forms)),
        Section("Rows that could not be read", "They have an error in the results.", _findings(summary.errors)),
    ]
    return [section for section in found if section.lines]


def report_json(summary: Summary, files: Mapping[str, str]) -> dict[str, Any]:
    """Return a report in values of JSON: the summary of all files, and where the results of each are."""
    return {"files": dict(files), **written_summary(summary)}


def is_report(written: bytes) -> bool:
    """Return whether a file is a report, as JSON or as a page.

    >>> is_report(json.dumps(report_json(Summary(), {})).encode()), is_report(b'{"mine": 1}')
    (True, False)
    """
    if f"<title>{TITLE}".encode() in written:
        return True
    try:
        found = json.loads(written)
    except ValueError:
        return False
    return isinstance(found, dict) and {"files", *written_summary(Summary())} <= found.keys()


def _total(findings: Mapping[str, Finding]) -> int:
    return sum(finding.count for finding in findings.values())


def _counted(counts: Counter[str]) -> tuple[Line, ...]:
    return _lines((name, count, "", ()) for name, count in counts.items())


def _findings(findings: Mapping[str, Finding]) -> tuple[Line, ...]:
    return _lines((name, one.count, _remark(one), tuple(one.examples)) for name, one in findings.items())


def _remark(finding: Finding) -> str:
    if finding.attempts:
        return _plural(finding.attempts, "attempt")
    return _plural(finding.misfits, "misfit") if finding.misfits else ""


def _lines(found: Iterable[tuple[str, int, str, tuple[Example, ...]]]) -> tuple[Line, ...]:
    rows = sorted(found, key=lambda row: (-row[1], row[0]))
    total = sum(row[1] for row in rows)
    return tuple(Line(name, count, count / total, remark, examples) for name, count, remark, examples in rows)


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
