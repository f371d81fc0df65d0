"""Arguments checked against all that their schema says, by `jsonschema`, in words that a model can act on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, TypeAlias

from llama3_tools.arguments.schema import SchemaReader
from llama3_tools.arguments.wording import (
    MAX_LISTED,
    Path,
    listed,
    no_alternative,
    problem_at,
    said_of,
    unknown_name,
)
from llama3_tools.errors import ToolDefinitionError, of_extra
from llama3_tools.tools.schema_check import require_parameters, schema_flaw
from llama3_tools.values import ArgumentProblem, ProblemReason

_Error: TypeAlias = Any
"""A `jsonschema.ValidationError`, whose attributes may be unset, say its types."""
_SHOWN = (None, "type", "enum", "const")
"""Of which it is said what was expected, and what was found; `None` is the schema `false`."""
_REASONS = {
    None: ProblemReason.WRONG_TYPE,
    "type": ProblemReason.WRONG_TYPE,
    "enum": ProblemReason.NOT_IN_ENUM,
    "const": ProblemReason.NOT_IN_ENUM,
    "required": ProblemReason.MISSING_PARAMETER,
    "unevaluatedProperties": ProblemReason.UNKNOWN_PARAMETER,
}
_Problem = tuple[Path, ArgumentProblem]


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
        require_parameters(schema)
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
        found: dict[_Problem, None] = {}  # without what several parts of the schema say of one place
        places = set[Path]()
        try:
            errors = self._find(self._validator, arguments)
            for one in self._all_problems(errors, ()):
                found[one] = None
                places.add(one[0])
                if len(places) > MAX_LISTED:
                    break
        except RecursionError:  # by the arguments, by a schema that is a reference to itself, or by the caller's frames
            detail = "nested too deep to be checked"
            return (problem_at((), "object", arguments, ProblemReason.TOO_DEEP, detail=detail),)
        of_wrong_type = {path for path, problem in found if problem.reason is ProblemReason.WRONG_TYPE}
        return listed(
            problem
            for path, problem in found  # what is of another type is none of the values either
            if problem.reason is not ProblemReason.NOT_IN_ENUM or path not in of_wrong_type
        )

    def _all_problems(self, errors: Iterable[_Error], above: Path) -> Iterator[_Problem]:
        for error in errors:
            path = (*above, *error.relative_path)
            if error.validator in {"anyOf", "oneOf"} and error.context:
                yield from self._alternatives(path, error)
            else:
                yield path, self._problem(path, error)

    def _problem(self, path: Path, error: _Error) -> ArgumentProblem:
        rule, schema, detail = error.validator, error.schema, ""
        if rule == "additionalProperties":
            detail = unknown_name(schema.get("properties", {}))
            return problem_at(path, "", error.instance, ProblemReason.UNKNOWN_PARAMETER, detail=detail)
        if rule == "required":
            schema = schema.get("properties", {}).get(path[-1], True)
        elif rule not in _SHOWN:
            detail = said_of(error.message, rule, error.validator_value)
        reason = _REASONS.get(rule, ProblemReason.INVALID_VALUE)
        return problem_at(path, self._reader.node(schema).declared, error.instance, reason, detail=detail)

    def _alternatives(self, path: Path, error: _Error) -> Iterator[_Problem]:
        """Report what is wrong with the alternative that was meant, or that there is none."""
        branches = _branches(error)
        meant = [branch for branch in branches if _is_meant(branch)]
        if len(meant) == 1:
            yield from self._all_problems(meant[0], path)
            return
        own_rules = [{inner.validator for inner in branch if not inner.relative_path} for branch in branches]
        if not meant and all(not rules.isdisjoint(_SHOWN) for rules in own_rules):
            is_of_type = any(rules.isdisjoint(("type", None)) for rules in own_rules)
            reason, detail = ProblemReason.NOT_IN_ENUM if is_of_type else ProblemReason.WRONG_TYPE, ""
        else:
            closest_branch: list[_Error] = min(meant or branches, key=len)
            _, closest = next(self._all_problems(closest_branch, path))
            reason, detail = ProblemReason.NO_ALTERNATIVE, no_alternative(closest)
        declared = self._reader.node(error.schema).declared
        yield path, problem_at(path, declared, error.instance, reason, detail=detail)


def _branches(error: _Error) -> list[list[_Error]]:
    """Return what is wrong with each alternative. All of them, at all depths, may be very many."""
    # The schema `false` as an alternative has no path.
    branches = groupby(error.context, lambda inner: next(iter(inner.relative_schema_path), None))
    return [list(errors) for _, errors in branches]


def _is_meant(branch: list[_Error]) -> bool:
    """Return whether the value may have been meant for an alternative: not if its type or a constant of it differs."""
    for error in branch:
        depth, rule = len(error.relative_path), error.validator
        is_constant = rule == "const" or (rule == "enum" and len(error.validator_value) == 1)
        if (depth == 0 and rule in _SHOWN) or (depth == 1 and is_constant):
            return False
        if depth == 0 and error.context and not any(map(_is_meant, _branches(error))):
            return False
    return True
