"""What happened to calls that did not fit, as values of JSON on a framework's message.

That is arguments which are not as their tool's schema has them, and calls which deviate from the documented forms, or
were repaired.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from llama3_tools.values import ArgumentChange, ArgumentProblem, ToolCall

COERCED_ARGUMENTS = "coerced_arguments"
"""Where in a message's data this is."""


def coerced_arguments(calls: Iterable[ToolCall]) -> list[dict[str, Any]]:
    """Report each call in which something was changed, deviates or does not fit.

    >>> from llama3_tools import extract
    >>> tool = {"name": "wait", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}}
    >>> text = '{"name": "wait", "parameters": {"days": "3"}}'
    >>> [told] = coerced_arguments(extract(text, tools=[tool], coerce_arguments=True).tool_calls)
    >>> told["written"], told["changes"]
    ('{"days": "3"}', [{'path': '$.days', 'declared': 'integer', 'before': '3', 'after': 3}])

    Returns:
        The `id` and the `name` of each such call, its arguments as the model has `written` them, the `changes` and the
        `problems`; and its `deviations` and what it was `repaired_from`, if there is something to tell.
    """
    return [_described(call) for call in calls if _is_reported(call)]


def _is_reported(call: ToolCall) -> bool:
    return bool(call.changes or call.problems or call.deviations or call.repaired_from is not None)


def _described(call: ToolCall) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": call.id,
        "name": call.name,
        "written": call.arguments_json,
        "changes": [_members(change) for change in call.changes],
        "problems": [_members(problem) | {"reason": str(problem.reason)} for problem in call.problems],
    }
    if call.deviations:
        described["deviations"] = list(call.deviations)
    if call.repaired_from is not None:
        described["repaired_from"] = call.repaired_from
    return described


def _members(one: ArgumentChange | ArgumentProblem) -> dict[str, Any]:
    return {member.name: getattr(one, member.name) for member in fields(one)}
