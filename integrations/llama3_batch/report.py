"""A summary as those read it who want to know what their model does wrong: its headline, and its tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from llama3_batch.summary import Example, Finding, Summary, TableName

_TITLE = re.compile(rb"Tool calls in [0-9,]+ outputs?[<\"]")
_BEGINNING = 500
"""In how many bytes a report has its title."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table."""

    name: str
    count: int
    share: float
    """Of all that the section counts, from 0 to 1."""
    remark: str = ""
    """What else there is to say."""
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A table."""

    title: str
    explanation: str
    """What that means, in a sentence."""
    lines: tuple[Line, ...]
    """The most frequent first."""


_TABLES: dict[TableName, tuple[str, str, str]] = {
    "unread": (
        "Calls, if their tools were declared",
        "Outputs that call nothing, by the name that each seems to call.",
        "",
    ),
    "rejections": (
        "Rejected, by reason",
        "Text that looked like a call, but is not one. In an attempt, the model meant to call.",
        "attempt",
    ),
    "unknown_tools": ("Tools that were not declared", "Names of rejected calls.", ""),
    "arguments": (
        "Arguments that do not have the declared type",
        "Coercion makes them fit, except the misfits.",
        "misfit",
    ),
    "tools": ("Calls, by tool", "{calls:,} in all, {repaired:,} repaired, {deviating:,} deviating.", ""),
    "forms": ("Calls, by form", "How the model writes them.", ""),
    "errors": ("Rows that could not be read", "They have an error in the results.", ""),
}
"""The title and the explanation of each table, and what marked findings in it are."""


def title(summary: Summary) -> str:
    """Return the title of a report."""
    return f"Tool calls in {plural(summary.counts['rows'], 'output')}"


def undeclared(summary: Summary) -> str | None:
    """Return what to say first if no tools were declared, so that some forms of calls were not read.

    >>> from collections import Counter
    >>> undeclared(Summary(Counter(rows=5, undeclared=5)))
    'No tools were declared for 5 outputs, so forms that need declared tools were not read. 0 outputs look like them.'
    """
    if not (count := summary.counts["undeclared"]):
        return None
    alike = summary.total("unread")
    cure = ": add --tools with your tools" if alike else ""
    return (
        f"No tools were declared for {plural(count, 'output')}, so forms that need declared tools were not read. "
        f"{plural(alike, 'output')} look{'s' * (alike == 1)} like them{cure}."
    )


def headline(summary: Summary) -> list[Line]:
    """Return what happened to the outputs.

    >>> from collections import Counter
    >>> [(line.name, line.count, line.share) for line in headline(Summary(Counter(rows=4, calling=3)))]
    [('with calls', 3, 0.75), ('tried to call, but call nothing', 0, 0.0), ('text alone', 1, 0.25)]
    """
    rows, calling = summary.counts["rows"], summary.counts["calling"]
    errors, failing = summary.total("errors"), summary.total("failing")
    attempts = [example for finding in summary.tables.get("failing", {}).values() for example in finding.examples]
    lines = [
        ("with calls", calling, ()),
        ("tried to call, but call nothing", failing, tuple(attempts)),
        ("text alone", rows - calling - failing - errors, ()),
        *([("could not be read", errors, ())] if errors else []),
    ]
    return [Line(name, count, count / max(rows, 1), examples=examples) for name, count, examples in lines]


def sections(summary: Summary) -> list[Section]:
    """Return the tables that have something in them."""
    counts = {name: summary.counts[name] for name in ("calls", "repaired", "deviating")}
    found = [
        Section(title, explanation.format(**counts), _lines(summary.tables.get(table, {}), marked))
        for table, (title, explanation, marked) in _TABLES.items()
    ]
    return [section for section in found if section.lines]


def may_be_replaced(path: Path) -> bool:
    """Return whether there is no file, or a report."""
    return not path.exists() or _TITLE.search(path.read_bytes()[:_BEGINNING]) is not None


def report_json(summary: Summary, files: Mapping[str, str]) -> str:
    """Return a report as JSON: what was found in all files, and where the results of each are."""
    return (
        json.dumps({"title": title(summary), "files": files, **summary.written()}, ensure_ascii=False, indent=1) + "\n"
    )


def _lines(findings: Mapping[str, Finding], marked: str) -> tuple[Line, ...]:
    total = sum(one.count for one in findings.values())
    ordered = sorted(findings.items(), key=lambda item: (-item[1].count, item[0]))
    return tuple(
        Line(name, one.count, one.count / total, plural(one.marked, marked) if one.marked else "", tuple(one.examples))
        for name, one in ordered
    )


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "output"), plural(2000, "output")
    ('1 output', '2,000 outputs')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"
