"""Arguments that do not fit the schema of their tool, as far as a model can mend them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, TypeAlias

from llama3_tools.arguments import ArgumentValidator, Coercer
from llama3_tools.errors import MissingExtraError, ToolDefinitionError
from llama3_tools.tools import Tool
from llama3_tools.values import ArgumentProblem, ProblemReason

ClassCheck: TypeAlias = Callable[[str, dict[str, Any]], list[str] | None]
"""What a framework's own class says of arguments for a tool, by its name: what does not fit, a sentence each, or
`None`, so that the tool's schema decides. Such classes convert more than a schema says, and check more. What does not
fit is said in the schema's words, if it says that, too."""

_NOT_FOR_MODELS = {ProblemReason.TOO_DEEP, ProblemReason.TOO_MANY}


def class_problems(model: Any, arguments: dict[str, Any], hidden: Collection[str] = ()) -> list[str] | None:  # noqa: ANN401 (a class of pydantic's, which is not imported here)
    """Return what pydantic says does not fit in arguments for a class; `None` if a validator of it fails otherwise.

    Args:
        model: the class.
        arguments: the arguments.
        hidden: the fields that others fill in.
    """
    try:
        model.model_validate(copy.deepcopy(arguments))
    except Exception as error:  # noqa: BLE001 (a validator raises what it likes)
        if not callable(errors := getattr(error, "errors", None)):
            return None
        problems = [one for one in errors() if not (one["loc"] and one["loc"][0] in hidden)]
        return [f"${''.join(f'.{place}' for place in one['loc'])}: {one['msg']}" for one in problems]
    return []


class ArgumentChecks:
    """Checks arguments against the schemas of the tools: by all that they say, if `jsonschema` is installed.

    >>> schema = {"type": "object", "properties": {"days": {"type": "integer"}}}
    >>> ArgumentChecks({"wait": Tool("wait", "", schema)}).misfits("wait", {"days": "soon"})
    ['$.days: expected integer, got the string "soon"']
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        """Keep the tools by name."""
        self._tools = tools
        self._checks: dict[str, Callable[[dict[str, Any]], tuple[ArgumentProblem, ...]]] = {}

    def misfits(self, name: str, arguments: dict[str, Any], class_check: ClassCheck | None = None) -> list[str]:
        """Say what does not fit, a sentence each. A parameter that the schema forbids is one; an unknown tool has none.

        Args:
            name: the tool's name.
            arguments: the arguments, made to fit as far as they can be.
            class_check: what a framework's own class says of them. `None`: the schema decides.
        """
        if name not in self._tools:
            return []
        said = None if class_check is None else class_check(name, arguments)
        if said == []:
            return []
        check = self._checks.get(name)
        if check is None:
            check = self._checks[name] = _check_of(self._tools[name].parameters)
        problems = [one for one in check(arguments) if one.reason not in _NOT_FOR_MODELS]
        if said is None:
            return [one.message for one in problems]
        by_place = {one.path: one.message for one in problems}
        return [by_place.get(one.partition(": ")[0], one) for one in said]


def _check_of(schema: Mapping[str, Any]) -> Callable[[dict[str, Any]], tuple[ArgumentProblem, ...]]:
    try:
        return ArgumentValidator(schema).validate
    except ToolDefinitionError:  # what is wrong is the schema, and no model can mend it
        return lambda _: ()
    except MissingExtraError:
        return partial(_misfits, Coercer(schema))


def _misfits(coercer: Coercer, arguments: dict[str, Any]) -> tuple[ArgumentProblem, ...]:
    """Return what does not fit the schema's types."""
    try:
        return tuple(problem for _, problem in coercer.misfits(arguments))
    except RecursionError:  # no model can mend it
        return ()
