"""Arguments checked against all that their schema says, by `jsonschema`, in words that a model can act on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, groupby, islice
from typing import Any, TypeAlias

from llama3_tools.arguments.coercion import Coercer
from llama3_tools.arguments.schema import SchemaReader
from llama3_tools.arguments.wording import MAX_LISTED, Path, listed, no_alternative, problem_at, said_of
from llama3_tools.errors import ToolDefinitionError, of_extra
from llama3_tools.tools.schema_check import schema_flaw
from llama3_tools.values import ArgumentProblem, ProblemReason

_Error: TypeAlias = Any
"""A `jsonschema.ValidationError`, whose attributes may be unset, say its types."""
_REASONS: dict[str | None, ProblemReason] = {
    None: ProblemReason.WRONG_TYPE,  # the schema `false`
    "type": ProblemReason.WRONG_TYPE,
    "enum": ProblemReason.NOT_IN_ENUM,
    "const": ProblemReason.NOT_IN_ENUM,
    "required": ProblemReason.MISSING_PARAMETER,
    "additionalProperties": ProblemReason.UNKNOWN_PARAMETER,
    "unevaluatedProperties": ProblemReason.UNKNOWN_PARAMETER,
    **dict.fromkeys(("anyOf", "oneOf", "items"), ProblemReason.INVALID_VALUE),
}
"""The rules about types, of which coercion says more. The others are about values."""
_SHOWN = {ProblemReason.WRONG_TYPE, ProblemReason.NOT_IN_ENUM}
"""Of these, what was expected says more than the library."""


def validate_arguments(arguments: dict[str, Any], schema: Mapping[str, Any]) -> tuple[ArgumentProblem, ...]:
    """Check a call's arguments against the schema of its tool, by draft 2020-12 and OpenAPI's `nullable`.

    >>> schema = {"type": "object", "properties": {"days": {"type": "integer", "maximum": 14}}}
    >>> [problem.message for problem in validate_arguments({"days": 30}, schema)]
    ['$.days: 30 is greater than the maximum of 14']

    Args:
        arguments: the arguments, with JSON values.
        schema: the `parameters` of the tool, a JSON Schema. What cannot be read in it restricts nothing: a reference to
            another document, which is never fetched, a pattern that Python does not know, a value that its keyword
            cannot have. `$schema` chooses no other draft.

    Raises:
        MissingExtraError: `jsonschema` is not installed (extra `validation`).
        ToolDefinitionError: the schema does not have the shape of one, or is a whole tool.
        TypeError: `arguments` is not a dict, or `schema` is not a mapping.
    """
    return ArgumentValidator(schema).validate(arguments)


class ArgumentValidator:
    """A schema, prepared once for many calls of its tool. The schema must not change afterwards."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Make it from a tool's `parameters`.

        Raises:
            MissingExtraError: `jsonschema` is not installed (extra `validation`).
            ToolDefinitionError: the schema does not have the shape of one, or is a whole tool.
            TypeError: `schema` is not a mapping.
        """
        self._coercer = Coercer(schema)
        if (flaw := schema_flaw(schema)) is not None:
            raise ToolDefinitionError(f"no JSON Schema: {flaw}")
        to_do = "validate_arguments needs jsonschema 4.21 or newer: pip install 'llama3-tools[validation]'"
        with of_extra(to_do, "attrs", "jsonschema", "referencing"):
            from llama3_tools.arguments.standard import find_errors, validator_for  # noqa: PLC0415 (the extra)
        self._validator = validator_for(schema)
        self._reader = SchemaReader(self._validator.schema)
        self._find = find_errors

    def validate(self, arguments: dict[str, Any]) -> tuple[ArgumentProblem, ...]:
        """Check arguments, as `validate_arguments` does.

        Raises:
            TypeError: `arguments` is not a dict.
        """
        if not isinstance(arguments, dict):
            raise TypeError(f"arguments must be a dict, got {type(arguments).__name__}")
        try:
            return listed(self._problems(arguments))
        except RecursionError:  # by the arguments, by a schema that is a reference to itself, or by the caller's frames
            detail = "nested too deep to be checked"
            return (problem_at((), "object", arguments, ProblemReason.TOO_DEEP, detail=detail),)

    def _problems(self, arguments: dict[str, Any]) -> Iterable[ArgumentProblem]:
        """Return what is wrong with types, as coercion tells it, and what else the library finds."""
        errors = list(islice(self._find(self._validator, arguments), MAX_LISTED + 1))
        if not errors:
            return ()
        found = dict.fromkeys(islice(self._coercer.misfits(arguments), MAX_LISTED + 1))
        told = {path[:length] for path, _ in found for length in range(len(path) + 1)}
        steps = iter(range(MAX_LISTED))
        for path, error in chain.from_iterable(_of_values(error, (), told, steps) for error in errors):
            found[path, self._problem(path, error)] = None
        return (problem for _, problem in found)

    def _problem(self, path: Path, error: _Error) -> ArgumentProblem:
        reason, detail = _REASONS.get(error.validator, ProblemReason.INVALID_VALUE), ""
        schema, value = error.schema, error.instance
        if reason is ProblemReason.MISSING_PARAMETER:
            schema, value = schema.get("properties", {}).get(path[-1], True), None
        elif error.context:
            closest = min(_branches(error), key=len)[0]
            place = _places((*path, *closest.relative_path), closest)[0]
            reason, detail = ProblemReason.NO_ALTERNATIVE, no_alternative(self._problem(place, closest))
        elif reason not in _SHOWN:
            detail = said_of(error.message, error.validator, error.validator_value)
        return problem_at(path, self._reader.node(schema).declared, value, reason, detail=detail)


def _of_values(error: _Error, above: Path, told: Collection[Path], steps: Iterator[int]) -> list[tuple[Path, _Error]]:
    """Return what an error says that is not told: of alternatives, what is wrong with the only one whose types fit.

    Args:
        error: the error.
        above: the place that its path begins at.
        told: the places of what is wrong with types, and all that they are in.
        steps: one for each error whose alternatives are looked at: within each other, they may be very many.
    """
    path = (*above, *error.relative_path)
    alternatives = error.context if next(steps, None) is not None else ()
    meant: list[list[tuple[Path, _Error]]] = []
    for branch in _branches(error) if alternatives else ():
        said = list(chain.from_iterable(_of_values(inner, path, told, steps) for inner in branch))
        if said and all(inner.validator not in _REASONS for _, inner in said):
            meant.append(said)
    if len(meant) == 1:
        return meant[0]
    return [(place, error) for place in _places(path, error) if error.validator not in _REASONS or place not in told]


def _branches(error: _Error) -> list[list[_Error]]:
    """Return what is wrong with each alternative."""
    branches = groupby(error.context, lambda inner: next(iter(inner.relative_schema_path), None))
    return [list(errors) for _, errors in branches]


def _places(path: Path, error: _Error) -> list[Path]:
    """Return where an error at a path is: where the parameters would be that are missing, which it does not say."""
    if error.validator != "required":
        return [path]
    return [(*path, name) for name in error.validator_value if name not in error.instance]
