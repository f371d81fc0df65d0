"""Arguments that do not fit the schema of their tool, as far as a model can mend them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from llama3_tools.arguments import ArgumentValidator, Coercer
from llama3_tools.errors import MissingExtraError, ToolDefinitionError
from llama3_tools.tools import Tool
from llama3_tools.values import ArgumentProblem, ProblemReason

__all__ = ["Accepts", "ArgumentChecks"]

Accepts: TypeAlias = Callable[[str, dict[str, Any]], bool]
"""Whether a tool, by its name, takes arguments that its schema does not: a framework's own classes convert more."""

_NOT_FOR_MODELS = {ProblemReason.TOO_DEEP, ProblemReason.TOO_MANY}


class ArgumentChecks:
    """Checks arguments against the schemas of the tools: by all that they say, if `jsonschema` is installed.

    >>> schema = {"type": "object", "properties": {"days": {"type": "integer"}}}
    >>> ArgumentChecks({"wait": Tool("wait", "", schema)}).misfits("wait", {"days": "soon"})
    ['$.days: expected integer, got the string "soon"']
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        """Take the tools by name."""
        self._tools = tools
        self._checks: dict[str, Callable[[dict[str, Any]], tuple[ArgumentProblem, ...]]] = {}

    def misfits(self, name: str, arguments: dict[str, Any], accepts: Accepts | None = None) -> list[str]:
        """Say what does not fit, a sentence each. A parameter that the schema forbids is one; an unknown tool has none.

        Args:
            name: the tool's name.
            arguments: the arguments, made to fit as far as they can be.
            accepts: whether the tool takes arguments that its schema does not. `None`: it does not.
        """
        if name not in self._tools:
            return []
        check = self._checks.get(name)
        if check is None:
            check = self._checks[name] = _check_of(self._tools[name].parameters)
        found = [problem.message for problem in check(arguments) if problem.reason not in _NOT_FOR_MODELS]
        return [] if found and accepts is not None and accepts(name, arguments) else found


def _check_of(schema: Mapping[str, Any]) -> Callable[[dict[str, Any]], tuple[ArgumentProblem, ...]]:
    try:
        return ArgumentValidator(schema).validate
    except ToolDefinitionError:  # what is wrong is the schema, and no model can mend it
        return lambda _: ()
    except MissingExtraError:
        return lambda arguments: _problems(schema, arguments)


def _problems(schema: Mapping[str, Any], arguments: dict[str, Any]) -> tuple[ArgumentProblem, ...]:
    """Return what coercion finds: it reports unknown parameters even if the schema allows them."""
    is_closed = schema.get("additionalProperties") is False
    problems = Coercer(schema).coerce(arguments).problems
    return tuple(one for one in problems if is_closed or one.reason is not ProblemReason.UNKNOWN_PARAMETER)
