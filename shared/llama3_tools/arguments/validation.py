"""Arguments checked against all that their schema says, by `jsonschema`, in words that a model can act on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from llama3_tools.arguments.wording import declared_as, no_alternative, problem_at, unknown_name
from llama3_tools.errors import MissingExtraError
from llama3_tools.values import ArgumentProblem, ProblemReason, shortened

if TYPE_CHECKING:
    from llama3_tools.arguments.standard import Violation

__all__ = ["ArgumentValidator", "validate_arguments"]

_REASONS = {
    None: ProblemReason.WRONG_TYPE,  # the schema `false`
    "type": ProblemReason.WRONG_TYPE,
    "enum": ProblemReason.NOT_IN_ENUM,
    "const": ProblemReason.NOT_IN_ENUM,
}
_RULES = {  # what they expect, with their value
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "text that matches {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "uniqueItems": "no item twice",
    "minProperties": "at least {} properties",
    "maxProperties": "at most {} properties",
}


def validate_arguments(arguments: dict[str, Any], schema: Mapping[str, Any]) -> tuple[ArgumentProblem, ...]:
    """Check a call's arguments against the schema of its tool, by draft 2020-12 and OpenAPI's `nullable`.

    >>> schema = {"type": "object", "properties": {"days": {"type": "integer", "maximum": 14}}}
    >>> [problem.message for problem in validate_arguments({"days": 30}, schema)]
    ['$.days: expected at most 14, got the integer 30']

    Args:
        arguments: the arguments, with JSON values.
        schema: the `parameters` of the tool, a JSON Schema. A reference to another document is never fetched: it
            restricts nothing, and neither does `format`.

    Raises:
        MissingExtraError: `jsonschema` is not installed (extra `validation`).
        ToolDefinitionError: the schema is no JSON Schema.
    """
    return ArgumentValidator(schema).validate(arguments)


class ArgumentValidator:
    """A schema, checked once for many calls of its tool. The schema must not change afterwards."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Take a tool's `parameters`.

        Raises:
            MissingExtraError: `jsonschema` is not installed (extra `validation`).
            ToolDefinitionError: the schema is no JSON Schema.
        """
        try:
            from llama3_tools.arguments.standard import find_violations, validator_for  # noqa: PLC0415 (the extra)
        except ImportError as error:
            if (error.name or "").partition(".")[0] not in ("jsonschema", "referencing"):
                raise
            raise MissingExtraError(
                "validate_arguments needs jsonschema 4.21 or newer: pip install 'llama3-tools[validation]'"
            ) from error
        self._root = schema
        self._validator = validator_for(schema)
        self._find = find_violations

    def validate(self, arguments: dict[str, Any]) -> tuple[ArgumentProblem, ...]:
        """Check arguments, as `validate_arguments` does."""
        try:
            violations = self._find(self._validator, arguments)
            found = [problem for violation in violations for problem in self._problems(violation)]
        except RecursionError:  # by the arguments, or by a schema that is nothing but a reference to itself
            detail = "nested too deep to be checked"
            return (problem_at((), "object", arguments, ProblemReason.TOO_DEEP, detail=detail),)
        return tuple(dict.fromkeys(found))

    def _problems(self, violation: Violation) -> Iterator[ArgumentProblem]:
        path, value, rule = violation.path, violation.value, violation.rule
        properties = _properties(violation)
        if rule in ("required", "dependentRequired"):
            for name in _missing(violation):
                declared = declared_as(properties.get(name, True), self._root)
                yield problem_at((*path, name), declared, None, ProblemReason.MISSING_PARAMETER)
        elif rule == "additionalProperties":
            detail = unknown_name(properties)
            for name in _unknown(violation):
                yield problem_at((*path, name), "", value[name], ProblemReason.UNKNOWN_PARAMETER, detail=detail)
        elif violation.branches:
            yield from self._alternatives(violation)
        else:
            declared = declared_as(violation.schema, self._root)
            reason = _REASONS.get(rule, ProblemReason.INVALID_VALUE)
            expected, detail = _expected(violation), _detail(violation)
            yield problem_at(path, declared, value, reason, expected=expected, detail=detail)

    def _alternatives(self, violation: Violation) -> Iterator[ArgumentProblem]:
        """Report what is wrong with the alternative that was meant, or that there is none."""
        branches = violation.branches
        meant = [branch for branch in branches if _is_meant(branch)]
        if len(meant) == 1:
            for inner in meant[0]:
                yield from self._problems(inner)
            return
        declared = declared_as(violation.schema, self._root)
        own_rules = [{inner.rule for inner in branch if not inner.depth} for branch in branches]
        if not meant and all(not rules.isdisjoint(_REASONS) for rules in own_rules):
            is_of_type = any(rules.isdisjoint(("type", None)) for rules in own_rules)
            reason, detail = ProblemReason.NOT_IN_ENUM if is_of_type else ProblemReason.WRONG_TYPE, ""
        else:
            closest = next(self._problems(min(meant or branches, key=len)[0]))
            reason, detail = ProblemReason.NO_ALTERNATIVE, no_alternative(closest)
        yield problem_at(violation.path, declared, violation.value, reason, detail=detail)


def _is_meant(branch: list[Violation]) -> bool:
    """Tell whether the value may have been meant for an alternative: not if its type or a constant of it differs."""
    for violation in branch:
        is_constant = violation.rule == "const" or (violation.rule == "enum" and len(violation.wanted) == 1)
        if (violation.depth == 0 and violation.rule in _REASONS) or (violation.depth == 1 and is_constant):
            return False
        if violation.depth == 0 and violation.branches and not any(map(_is_meant, violation.branches)):
            return False
    return True


def _expected(violation: Violation) -> str:
    """Give what a rule about numbers, lengths and the like expects."""
    return _RULES.get(violation.rule or "", "").format(json.dumps(violation.wanted, ensure_ascii=False))


def _detail(violation: Violation) -> str:
    """Give what to say about a rule that has no words of its own here."""
    if violation.rule in _REASONS or violation.rule in _RULES:
        return ""
    return "fits more than one of the alternatives" if violation.rule == "oneOf" else shortened(violation.message)


def _properties(violation: Violation) -> Mapping[str, Any]:
    return violation.schema.get("properties", {}) if isinstance(violation.schema, Mapping) else {}


def _missing(violation: Violation) -> list[str]:
    names = violation.wanted
    if isinstance(names, Mapping):
        names = [name for key, needed in names.items() if key in violation.value for name in needed]
    return [name for name in names if name not in violation.value]


def _unknown(violation: Violation) -> list[str]:
    patterns = violation.schema.get("patternProperties", {})
    properties = _properties(violation)
    return [
        name
        for name in violation.value
        if name not in properties and not any(re.search(pattern, name) for pattern in patterns)
    ]
