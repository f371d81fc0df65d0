"""What a model did in many outputs: how many call, what is rejected and why, which tools and forms, which arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from llama3_batch.rows import ReadRow, RowError
from llama3_tools import ToolCall
from llama3_tools.values import shortened

MOST_NAMES = 1_000
"""How many names are counted apart: a model may make up any number of them."""
OTHERS = "(other names)"
"""The name under which all further ones are counted."""
_EXAMPLES = 3
_SHOWN = 240

TableName: TypeAlias = Literal[
    "failing", "unread", "rejections", "unknown_tools", "arguments", "tools", "forms", "errors"
]
"""What is counted by name.

`failing`: outputs that call nothing and hold an attempt, by the first one's reason. `unread`: outputs that call nothing
as no tools were declared, by the tool whose call they seem to begin with. `rejections`: by reason. `unknown_tools`:
rejected calls, by tool. `arguments`: those that are not as the tool declares them, by tool, place and declared type.
`tools`, `forms`: calls by tool, and by how they are written. `errors`: rows that could not be read, by reason.
"""


@dataclass(frozen=True, slots=True)
class Example:
    """One place where something was found."""

    file: str
    """The name of the file."""
    row: int
    """The number of the row, from 0."""
    detail: str
    """What is wrong, in a sentence."""
    text: str
    """The piece of the output that it is about, shortened."""


@dataclass(slots=True)
class Finding:
    """How often something was found, and the first examples of it."""

    count: int = 0
    """How often."""
    marked: int = 0
    """How many of them are attempts (principle 7), if it is a rejection; or misfits, if it is an argument."""
    examples: list[Example] = field(default_factory=list)
    """The first few."""


@dataclass(slots=True)
class Summary:
    """What was found in some rows. Summaries of rows that follow each other can be added."""

    counts: Counter[str] = field(default_factory=Counter)
    """`rows`, `calling` (outputs with calls), `undeclared` (read without tools), `calls`, `repaired`, `deviating`."""
    tables: dict[TableName, dict[str, Finding]] = field(default_factory=dict)
    """What was found, by table and name."""

    def total(self, table: TableName) -> int:
        """Return how often anything of a table was found."""
        return sum(finding.count for finding in self.tables.get(table, {}).values())

    def add_row(self, where: tuple[str, int], row: ReadRow) -> None:
        """Add one row; `where` is the name of its file, and its number there."""
        found, text = row.found, row.text
        self.counts["rows"] += 1
        if isinstance(found, RowError):
            _add_example(self._find("errors", found.problem), where, str(found), text)
            return
        self.counts["calling"] += bool(found.tool_calls)
        for call in found.tool_calls:
            self._add_call(where, call)
        is_failing = not found.tool_calls
        for rejection in found.rejections:
            reason, name, (start, end) = rejection.reason.value, rejection.name, rejection.span
            piece = text[start : max(end, start + _SHOWN) if rejection.is_attempt else end]  # it broke, and goes on
            _add_example(self._find("rejections", reason, rejection.is_attempt), where, rejection.detail, piece)
            if reason == "unknown_tool" and name:
                self._find("unknown_tools", name)
            if is_failing and rejection.is_attempt:
                _add_example(self._find("failing", reason), where, rejection.detail, piece)
                is_failing = False
        unread = row.if_declared
        self.counts["undeclared"] += unread is not None
        for call in (unread or ())[:1]:
            piece = text[slice(*call.span)]
            _add_example(self._find("unread", call.name), where, f"read as {call.format}", piece)

    def _add_call(self, where: tuple[str, int], call: ToolCall) -> None:
        self.counts["calls"] += 1
        self.counts["repaired"] += call.repaired_from is not None
        self.counts["deviating"] += bool(call.deviations)
        self._find("tools", call.name)
        self._find("forms", call.format)
        for change in call.changes:
            finding = self._find("arguments", f"{call.name} {change.path}: {change.declared}")
            _add_example(finding, where, f"{change.path} was made {change.declared}", call.arguments_json)
        for problem in call.problems:
            name = f"{call.name} {problem.path}: {problem.declared or problem.reason.value}"
            _add_example(self._find("arguments", name, marked=True), where, problem.message, call.arguments_json)

    def _find(self, table: TableName, name: str, marked: int = 0, count: int = 1) -> Finding:
        findings = self.tables.setdefault(table, {})
        if name not in findings and len(findings) >= MOST_NAMES:
            name = OTHERS
        finding = findings.setdefault(name, Finding())
        finding.count += count
        finding.marked += marked
        return finding

    def merge(self, following: Summary) -> None:
        """Add a summary of the rows that follow.

        >>> one, other = Summary(Counter(rows=2)), Summary(Counter(rows=3))
        >>> one.merge(other)
        >>> one.counts["rows"]
        5
        """
        self.counts.update(following.counts)
        for table, findings in following.tables.items():
            for name, found in findings.items():
                finding = self._find(table, name, found.marked, found.count)
                finding.examples = (finding.examples + found.examples)[:_EXAMPLES]

    def written(self) -> dict[str, Any]:
        """Return it in values of JSON."""
        tables = {
            table: {name: asdict(one) for name, one in findings.items()} for table, findings in self.tables.items()
        }
        return {"counts": dict(self.counts), "tables": tables}


def loaded_summary(written: Mapping[str, Any]) -> Summary:
    """Return the summary that was written.

    >>> loaded_summary(Summary(Counter(rows=1), {"tools": {"f": Finding(2)}}).written()).tables
    {'tools': {'f': Finding(count=2, marked=0, examples=[])}}

    Raises:
        KeyError: something is not there.
        TypeError: something is of another kind.
    """
    summary = Summary(Counter(written["counts"]), {})
    for table, findings in written["tables"].items():
        for name, one in findings.items():
            examples = [Example(**example) for example in one["examples"]]
            summary.tables.setdefault(table, {})[name] = Finding(one["count"], one["marked"], examples)
    return summary


def _add_example(finding: Finding, where: tuple[str, int], detail: str, text: str) -> None:
    if len(finding.examples) < _EXAMPLES:
        finding.examples.append(Example(*where, detail, shortened(text, _SHOWN)))
