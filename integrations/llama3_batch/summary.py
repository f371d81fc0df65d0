"""What a model did in many outputs: how many call, what is rejected and why, which tools and forms, which arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from llama3_batch.rows import Row, RowError
from llama3_tools import Extraction, ToolCall
from llama3_tools.values import shortened

MOST_NAMES = 1_000
"""How many names are counted apart: a model may make up any number of them."""
OTHERS = "(other names)"
"""The name under which all further ones are counted."""
_EXAMPLES = 3
_SHOWN = 240


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
    attempts: int = 0
    """How often the model meant to call (principle 7), if it is a rejection."""
    misfits: int = 0
    """How often it does not fit, even after coercion, if it is an argument."""
    examples: list[Example] = field(default_factory=list)
    """The first few."""

    def add(self, other: Finding) -> None:
        """Add what was found after it."""
        self.count += other.count
        self.attempts += other.attempts
        self.misfits += other.misfits
        self.examples = (self.examples + other.examples)[:_EXAMPLES]


@dataclass(slots=True)
class Summary:
    """What was found in some rows. Summaries of rows that follow each other can be added."""

    rows: int = 0
    """How many rows were read, those with errors among them."""
    calling: int = 0
    """How many outputs call a tool."""
    undeclared: int = 0
    """How many outputs were read without declared tools."""
    calls: int = 0
    """How many calls there are in all."""
    repaired: int = 0
    """How many of them were repaired."""
    deviating: int = 0
    """How many of them are written in another way than a manual has it."""
    tools: Counter[str] = field(default_factory=Counter)
    """Calls by tool."""
    unknown_tools: Counter[str] = field(default_factory=Counter)
    """Rejected calls of tools that were not declared, by name."""
    forms: Counter[str] = field(default_factory=Counter)
    """Calls by the form in which they are written."""
    failing: dict[str, Finding] = field(default_factory=dict)
    """Outputs that call nothing and hold an attempt, by the first one's reason: the model meant to call."""
    unread: dict[str, Finding] = field(default_factory=dict)
    """Outputs that call nothing as no tools were declared, by the tool whose call they seem to begin with."""
    rejections: dict[str, Finding] = field(default_factory=dict)
    """Rejections by reason."""
    errors: dict[str, Finding] = field(default_factory=dict)
    """Rows that could not be read, by reason."""
    arguments: dict[str, Finding] = field(default_factory=dict)
    """Arguments that are not as the tool declares them, by tool, place and declared type."""


def add_row(
    summary: Summary, where: tuple[str, int], row: Row, found: Extraction | RowError, unread: Sequence[ToolCall] | None
) -> None:
    """Add one row to a summary.

    Args:
        summary: what was found before it.
        where: the name of its file, and its number there.
        row: the row.
        found: what was extracted from it, or why nothing was.
        unread: the calls that it would have if its tools were declared; `None`: they are.
    """
    summary.rows += 1
    if isinstance(found, RowError):
        text = row.text if isinstance(row.text, str) else ""
        _find(summary.errors, str(found.problem), Example(*where, str(found), shortened(text, _SHOWN)))
        return
    text = str(row.text)
    summary.undeclared += unread is not None
    summary.calling += bool(found.tool_calls)
    for call in found.tool_calls:
        _add_call(summary, where, call)
    is_failing = not found.tool_calls
    for rejection in found.rejections:
        example = Example(*where, rejection.detail, shortened(text[slice(*rejection.span)], _SHOWN))
        _find(summary.rejections, rejection.reason.value, example, is_attempt=rejection.is_attempt)
        if rejection.reason.value == "unknown_tool" and rejection.name:
            _count(summary.unknown_tools, rejection.name)
        if is_failing and rejection.is_attempt:
            _find(summary.failing, rejection.reason.value, example)
            is_failing = False
    if unread:
        example = Example(*where, f"read as {unread[0].format}", shortened(text[slice(*unread[0].span)], _SHOWN))
        _find(summary.unread, unread[0].name, example)


def _add_call(summary: Summary, where: tuple[str, int], call: ToolCall) -> None:
    summary.calls += 1
    summary.repaired += call.repaired_from is not None
    summary.deviating += bool(call.deviations)
    _count(summary.tools, call.name)
    _count(summary.forms, call.format)
    written = shortened(call.arguments_json, _SHOWN) if call.changes or call.problems else ""
    for change in call.changes:
        detail = f"{change.path} was made {change.declared}"
        _find(summary.arguments, f"{call.name} {change.path}: {change.declared}", Example(*where, detail, written))
    for problem in call.problems:
        name = f"{call.name} {problem.path}: {problem.declared or problem.reason.value}"
        _find(summary.arguments, name, Example(*where, problem.message, written), is_misfit=True)


def _count(counter: Counter[str], name: str, count: int = 1) -> None:
    counter[name if name in counter or len(counter) < MOST_NAMES else OTHERS] += count


def _find(
    findings: dict[str, Finding], name: str, example: Example, *, is_attempt: bool = False, is_misfit: bool = False
) -> None:
    if name not in findings and len(findings) >= MOST_NAMES:
        name = OTHERS
    finding = findings.setdefault(name, Finding())
    finding.count += 1
    finding.attempts += is_attempt
    finding.misfits += is_misfit
    if len(finding.examples) < _EXAMPLES:
        finding.examples.append(example)


def merge(summary: Summary, following: Summary) -> None:
    """Add a summary of the rows that follow.

    >>> one, other = Summary(rows=2, calling=1), Summary(rows=3)
    >>> merge(one, other)
    >>> one.rows, one.calling
    (5, 1)
    """
    for name in _NUMBERS:
        setattr(summary, name, getattr(summary, name) + getattr(following, name))
    for name in _COUNTERS:
        for word, count in getattr(following, name).items():
            _count(getattr(summary, name), word, count)
    for name in _FINDINGS:
        findings = getattr(summary, name)
        for word, finding in getattr(following, name).items():
            known = word if word in findings or len(findings) < MOST_NAMES else OTHERS
            findings.setdefault(known, Finding()).add(finding)


def written_summary(summary: Summary) -> dict[str, Any]:
    """Return a summary in values of JSON."""
    return {
        **{name: getattr(summary, name) for name in _NUMBERS},
        **{name: dict(getattr(summary, name)) for name in _COUNTERS},
        **{name: {word: asdict(one) for word, one in getattr(summary, name).items()} for name in _FINDINGS},
    }


def loaded_summary(written: Mapping[str, Any]) -> Summary:
    """Return the summary that was written.

    >>> loaded_summary(written_summary(Summary(rows=1, tools=Counter(f=1)))).tools
    Counter({'f': 1})

    Raises:
        KeyError: something is not there.
        TypeError: something is of another kind.
    """
    loaded = Summary(**{name: written[name] for name in _NUMBERS})
    for name in _COUNTERS:
        setattr(loaded, name, Counter(written[name]))
    for name in _FINDINGS:
        setattr(loaded, name, {word: _loaded_finding(one) for word, one in written[name].items()})
    return loaded


def _loaded_finding(written: Mapping[str, Any]) -> Finding:
    examples = [Example(**example) for example in written["examples"]]
    return Finding(written["count"], written["attempts"], written["misfits"], examples)


def _fields_of(kind: type) -> tuple[str, ...]:
    empty = Summary()
    return tuple(one.name for one in fields(Summary) if type(getattr(empty, one.name)) is kind)


_NUMBERS, _COUNTERS, _FINDINGS = _fields_of(int), _fields_of(Counter), _fields_of(dict)
"""The fields of a summary, by what they hold."""
