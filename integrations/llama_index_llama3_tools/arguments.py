"""Arguments and the schema of their tool: made to fit it, checked against it, and told of where they did not.

Calls that were written in another way than the documented ones are told of in the same place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, final

from llama3_tools import ArgumentProblem, MissingExtraError, ProblemReason, ToolCall, ToolDefinitionError
from llama3_tools.arguments import ArgumentValidator, Coercion
from llama3_tools.json_writing import written_arguments
from llama3_tools.toolset import Toolset

__all__ = [
    "COERCED_ARGUMENTS",
    "ToolSchemas",
    "coerced_arguments",
    "coerced_call",
    "mendable",
    "misfits_told",
    "with_misfits",
]

COERCED_ARGUMENTS = "coerced_arguments"
"""Where in a message's `additional_kwargs` it is told what became of arguments."""

_MENDABLE = {
    ProblemReason.WRONG_TYPE,
    ProblemReason.NOT_IN_ENUM,
    ProblemReason.MISSING_PARAMETER,
    ProblemReason.NO_ALTERNATIVE,
    ProblemReason.INVALID_VALUE,
}
"""What a model can mend. A parameter that nobody declared is the tool's to take or to refuse."""


def coerced_arguments(calls: Iterable[ToolCall]) -> list[dict[str, Any]]:
    """Tell of each call in which something was changed, does not fit, or was written otherwise; in values of JSON.

    `deviations` and `repaired_from` are there only where there is something to tell.

    >>> from llama3_tools import extract
    >>> tool = {"name": "wait", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}}
    >>> text = '{"name": "wait", "parameters": {"days": "3"}}'
    >>> [told] = coerced_arguments(extract(text, tools=[tool], coerce_arguments=True).tool_calls)
    >>> told["written"], told["changes"]
    ('{"days": "3"}', [{'path': '$.days', 'declared': 'integer', 'before': '3', 'after': 3}])
    """
    return [
        {
            **_told(call.id, call.name, call.arguments_json, Coercion(call.arguments, call.changes, call.problems)),
            **({"deviations": list(call.deviations)} if call.deviations else {}),
            **({} if call.repaired_from is None else {"repaired_from": call.repaired_from}),
        }
        for call in calls
        if call.changes or call.problems or call.deviations or call.repaired_from is not None
    ]


def coerced_call(call_id: str, name: str, arguments: Mapping[str, Any], coercion: Coercion) -> list[dict[str, Any]]:
    """Tell the same of a call that the server found: a list of one, or of none."""
    is_told = coercion.changes or coercion.problems
    return [_told(call_id, name, written_arguments(arguments), coercion)] if is_told else []


def misfits_told(additional_kwargs: Mapping[str, Any]) -> dict[str, list[str]]:
    """Read what was told: what a model can mend in the arguments of a message's calls, by their ids."""
    told = additional_kwargs.get(COERCED_ARGUMENTS) or []
    return {
        call["id"]: [problem["message"] for problem in call["problems"] if problem["reason"] in _MENDABLE]
        for call in told
    }


def with_misfits(result: str, misfits: Iterable[str]) -> str:
    r"""Add to what a tool gave, for the model, what did not fit in its arguments.

    >>> with_misfits("not supported", ["$.days: expected integer, got the string \"soon\""])
    'not supported\n(The arguments did not fit. $.days: expected integer, got the string "soon")'
    """
    told = "; ".join(misfits)
    return f"{result}\n(The arguments did not fit. {told})" if told else result


@final
class ToolSchemas:
    """The schemas of the tools of one turn."""

    def __init__(self, tools: Toolset, *, depth: int) -> None:
        """Take the tools, and how many levels arguments may come to have."""
        self._tools = tools.declared
        self._coercers = tools.coercers
        self._depth = depth

    def coerce(self, name: str, arguments: dict[str, Any]) -> Coercion:
        """Make arguments fit; those of an unknown tool stay as they are."""
        coercer = self._coercers.get(name)
        return coercer.coerce(arguments, depth=self._depth) if coercer else Coercion(arguments)

    def misfits(self, name: str, arguments: dict[str, Any]) -> list[str]:
        """Say what a model can mend in arguments, by all that the schema says where `jsonschema` is installed."""
        if name not in self._tools:
            return []
        try:
            problems = ArgumentValidator(self._tools[name].parameters).validate(arguments)
        except (MissingExtraError, ToolDefinitionError):
            problems = self.coerce(name, arguments).problems
        return mendable(problems)


def mendable(problems: Iterable[ArgumentProblem]) -> list[str]:
    """Give the messages of what a model can mend."""
    return [problem.message for problem in problems if problem.reason in _MENDABLE]


def _told(call_id: str, name: str, written: str, coercion: Coercion) -> dict[str, Any]:
    return {
        "id": call_id,
        "name": name,
        "written": written,
        "changes": [asdict(change) for change in coercion.changes],
        "problems": [{**asdict(problem), "reason": str(problem.reason)} for problem in coercion.problems],
    }
