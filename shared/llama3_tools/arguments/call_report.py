"""What happened to calls that did not fit, as values of JSON on a framework's message.

That is arguments which are not as their tool's schema has them, and calls which deviate from the documented forms, or
were repaired.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from llama3_tools.values import ToolCall

COERCED_ARGUMENTS = "coerced_arguments"
"""Where in a message's data this is."""


class ChangedArgument(TypedDict):
    """A value that was made to fit."""

    path: str
    """Where it is, as a JSONPath: `$.labels[0]`."""
    declared: str
    """What the schema declares, in short: `array of string`."""
    before: Any
    """The value as the model wrote it."""
    after: Any
    """The value with which the tool runs."""


class MisfitArgument(TypedDict):
    """A place where the arguments still do not fit. They stay as the model wrote them."""

    path: str
    """Where it is, as a JSONPath."""
    declared: str
    """What the schema declares there; empty for an unknown parameter."""
    value: Any
    """The value; `None` for a missing parameter."""
    reason: str
    """One word for the cause, the value of a `llama3_tools.ProblemReason`."""
    message: str
    """One sentence that says where, what was expected and what was found."""


class _Fit(TypedDict):
    id: str
    """The id of the call."""
    name: str
    """Its tool."""
    written: str
    """The arguments as the model wrote them, as JSON; of a call that the server found, with one space after each comma
    and colon, however it was sent."""
    changes: list[ChangedArgument]
    """What was made to fit."""
    problems: list[MisfitArgument]
    """What still does not fit."""


class CoercedArguments(_Fit, total=False):
    """What is known of a call that did not fit as it was written.

    Its id, its name, what was written, the changes and the problems are always there; the rest, if there is
    something to tell.
    """

    deviations: list[str]
    """How it differs from the documented forms, a sentence each."""
    repaired_from: str
    """With `repair`, the malformed call as the model wrote it."""


def coerced_arguments(calls: Iterable[ToolCall]) -> list[CoercedArguments]:
    """Report each call in which something was changed, deviates or does not fit.

    >>> from llama3_tools import extract
    >>> tool = {"name": "wait", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}}
    >>> text = '{"name": "wait", "parameters": {"days": "3"}}'
    >>> [told] = coerced_arguments(extract(text, tools=[tool], coerce_arguments=True).tool_calls)
    >>> told["written"], told["changes"]
    ('{"days": "3"}', [{'path': '$.days', 'declared': 'integer', 'before': '3', 'after': 3}])
    """
    return [_described(call) for call in calls if _is_told(call)]


def _is_told(call: ToolCall) -> bool:
    return bool(call.changes or call.problems or call.deviations or call.repaired_from is not None)


def _described(call: ToolCall) -> CoercedArguments:
    described = CoercedArguments(
        id=call.id,
        name=call.name,
        written=call.arguments_json,
        changes=[
            ChangedArgument(path=change.path, declared=change.declared, before=change.before, after=change.after)
            for change in call.changes
        ],
        problems=[
            MisfitArgument(
                path=problem.path,
                declared=problem.declared,
                value=problem.value,
                reason=str(problem.reason),
                message=problem.message,
            )
            for problem in call.problems
        ],
    )
    if call.deviations:
        described["deviations"] = list(call.deviations)
    if call.repaired_from is not None:
        described["repaired_from"] = call.repaired_from
    return described
