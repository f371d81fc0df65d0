"""Arguments and the schema of their tool: made to fit it, checked against it, and what of that a model is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, final

from llama3_tools import ArgumentProblem, MissingExtraError, ProblemReason, ToolDefinitionError
from llama3_tools.arguments import ArgumentValidator, Coercion
from llama3_tools.arguments.call_report import COERCED_ARGUMENTS
from llama3_tools.chat.toolset import Toolset

__all__ = [
    "ToolSchemas",
    "mendable",
    "misfits_told",
    "with_misfits",
]

_MENDABLE = {
    ProblemReason.WRONG_TYPE,
    ProblemReason.NOT_IN_ENUM,
    ProblemReason.MISSING_PARAMETER,
    ProblemReason.NO_ALTERNATIVE,
    ProblemReason.INVALID_VALUE,
}
"""What a model can mend. A parameter that nobody declared is the tool's to take or to refuse."""


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
    """Return the messages of what a model can mend."""
    return [problem.message for problem in problems if problem.reason in _MENDABLE]
