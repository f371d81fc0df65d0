"""Arguments checked against all that their schema says, by `jsonschema`, in words that a model can act on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from llama3_tools.arguments.schema import SchemaReader
from llama3_tools.arguments.wording import (
    MAX_LISTED,
    TOO_LARGE,
    Path,
    declared_as,
    json_path,
    listed,
    no_alternative,
    problem_at,
    unknown_name,
)
from llama3_tools.errors import of_extra
from llama3_tools.text.json_writing import write_json
from llama3_tools.tools.schema_check import require_parameters
from llama3_tools.values import ArgumentProblem, ProblemReason, shortened

if TYPE_CHECKING:
    from llama3_tools.arguments.standard import Enums, Violation

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
    "minProperties": "at least {} properties",
    "maxProperties": "at most {} properties",
    "unevaluatedItems": "no further items",
    "not": "anything but {}",
    "contains": "an item that is {}",
    "minContains": "more items that are {}",
    "maxContains": "fewer items that are {}",
}


def validate_arguments(arguments: dict[str, Any], schema: Mapping[str, Any]) -> tuple[ArgumentProblem, ...]:
    """Check a call's arguments against the schema of its tool, by draft 2020-12 and OpenAPI's `nullable`.

    >>> schema = {"type": "object", "properties": {"days": {"type": "integer", "maximum": 14}}}
    >>> [problem.message for problem in validate_arguments({"days": 30}, schema)]
    ['$.days: expected at most 14, got the integer 30']

    Args:
        arguments: the arguments, with JSON values.
        schema: the `parameters` of the tool, a JSON Schema. A reference to another document is never fetched: it
            restricts nothing, and neither does `format`. No `$schema`, be it of a part, chooses another draft: what
            older ones had and 2020-12 has not, such as `"exclusiveMaximum": true`, restricts nothing; but `items` may
            be a list.

    Raises:
        MissingExtraError: `jsonschema` is not installed (extra `validation`).
        ToolDefinitionError: the schema is no JSON Schema, or a whole tool.
        TypeError: `arguments` is no dict, or `schema` no mapping.
    """
    return ArgumentValidator(schema).validate(arguments)


class ArgumentValidator:
    """A schema, checked once for many calls of its tool. The schema must not change afterwards."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Take a tool's `parameters`.

        Raises:
            MissingExtraError: `jsonschema` is not installed (extra `validation`).
            ToolDefinitionError: the schema is no JSON Schema, or a whole tool.
            TypeError: `schema` is no mapping.
        """
        require_parameters(schema)
        to_do = "validate_arguments needs jsonschema 4.21 or newer: pip install 'llama3-tools[validation]'"
        with of_extra(to_do, "attrs", "jsonschema", "referencing"):
            from llama3_tools.arguments.standard import find_violations, validator_for  # noqa: PLC0415 (the extra)
        self._root = schema
        self._validator = validator_for(schema)
        self._enums: Enums = {}
        self._declared: dict[int, str] = {}
        self._find = find_violations

    def validate(self, arguments: dict[str, Any]) -> tuple[ArgumentProblem, ...]:
        """Check arguments, as `validate_arguments` does.

        Raises:
            TypeError: `arguments` is no dict.
        """
        if not isinstance(arguments, dict):
            raise TypeError(f"arguments must be a dict, got {type(arguments).__name__}")
        found: dict[tuple[Path, ProblemReason, str, str], ArgumentProblem] = {}
        places = set[Path]()
        try:
            violations = self._find(self._validator, arguments, self._enums)
            for path, problem in (one for violation in violations for one in self._problems(violation)):
                found.setdefault((path, problem.reason, problem.declared, problem.message), problem)
                places.add(path)
                if len(places) > MAX_LISTED:
                    break
        except RecursionError:  # by the arguments, by a schema that is a reference to itself, or by the caller's frames
            detail = "nested too deep to be checked"
            return (problem_at((), "object", arguments, ProblemReason.TOO_DEEP, detail=detail),)
        of_wrong_type = {path for path, reason, *_ in found if reason is ProblemReason.WRONG_TYPE}
        return listed(
            problem
            for (path, reason, *_), problem in found.items()  # what is of another type is none of the values either
            if reason is not ProblemReason.NOT_IN_ENUM or path not in of_wrong_type
        )

    def _problems(self, violation: Violation) -> Iterator[tuple[Path, ArgumentProblem]]:
        path, value, rule = violation.path, violation.value, violation.rule
        properties = _properties(violation)
        if rule in ("required", "dependentRequired"):
            for name in _missing(violation):
                declared = self._declared_as(properties.get(name))
                yield (*path, name), problem_at((*path, name), declared, None, ProblemReason.MISSING_PARAMETER)
        elif rule in ("additionalProperties", "unevaluatedProperties"):
            names = properties if rule == "additionalProperties" else self._names(violation.schema)
            detail = unknown_name(names)
            yield path, problem_at(path, "", value, ProblemReason.UNKNOWN_PARAMETER, detail=detail)
        elif rule == "propertyNames":
            _, wrong = next(self._problems(violation.branches[0][0]))
            inner = wrong.message.removeprefix(f"{json_path(path)}: ")
            yield path, problem_at(path, "", value, ProblemReason.INVALID_VALUE, detail=f"its name is wrong, {inner}")
        elif violation.context:
            yield from self._alternatives(violation)
        else:
            declared = self._declared_as(violation.schema)
            reason = _REASONS.get(rule, ProblemReason.INVALID_VALUE)
            expected, detail = self._expected(violation), _detail(violation)
            yield path, problem_at(path, declared, value, reason, expected=expected, detail=detail)

    def _declared_as(self, schema: object) -> str:
        """Put a schema into words, once for all of its problems."""
        if id(schema) not in self._declared:  # the validator keeps it alive
            self._declared[id(schema)] = declared_as(schema, self._root)
        return self._declared[id(schema)]

    def _names(self, schema: object) -> list[str]:
        """Return the names that a schema declares, be it by what it refers to."""
        shapes = SchemaReader(self._root).node(schema).shapes
        return list(dict.fromkeys(name for shape in shapes for name in shape.names))

    def _expected(self, violation: Violation) -> str:
        """Return what a rule about numbers, lengths, items and the like expects."""
        rule = violation.rule or ""
        if rule not in _RULES:
            return ""
        if rule == "not" or rule.lower().endswith("contains"):
            written = self._declared_as(violation.schema[rule if rule == "not" else "contains"])
        else:
            written = shortened(write_json(violation.wanted, default=str))
        return _RULES[rule].format(written)

    def _alternatives(self, violation: Violation) -> Iterator[tuple[Path, ArgumentProblem]]:
        """Report what is wrong with the alternative that was meant, or that there is none."""
        branches = violation.branches
        meant = [branch for branch in branches if _is_meant(branch)]
        if len(meant) == 1:
            for inner in meant[0]:
                yield from self._problems(inner)
            return
        declared = self._declared_as(violation.schema)
        own_rules = [{inner.rule for inner in branch if not inner.depth} for branch in branches]
        if not meant and all(not rules.isdisjoint(_REASONS) for rules in own_rules):
            is_of_type = any(rules.isdisjoint(("type", None)) for rules in own_rules)
            reason, detail = ProblemReason.NOT_IN_ENUM if is_of_type else ProblemReason.WRONG_TYPE, ""
        else:
            _, closest = next(self._problems(min(meant or branches, key=len)[0]))
            reason, detail = ProblemReason.NO_ALTERNATIVE, no_alternative(closest)
        yield violation.path, problem_at(violation.path, declared, violation.value, reason, detail=detail)


def _is_meant(branch: list[Violation]) -> bool:
    """Return whether the value may have been meant for an alternative: not if its type or a constant of it differs."""
    for violation in branch:
        is_constant = violation.rule == "const" or (violation.rule == "enum" and len(violation.wanted) == 1)
        if (violation.depth == 0 and violation.rule in _REASONS) or (violation.depth == 1 and is_constant):
            return False
        if violation.depth == 0 and violation.context and not any(map(_is_meant, violation.branches)):
            return False
    return True


def _detail(violation: Violation) -> str:
    """Return what to say about a rule that has no words of its own here."""
    if violation.rule in _REASONS or violation.rule in _RULES:
        return ""
    if violation.rule == "oneOf" and violation.message != TOO_LARGE:
        return "fits more than one of the alternatives"
    return violation.message  # which is of our own, and short


def _properties(violation: Violation) -> Mapping[str, Any]:
    return violation.schema.get("properties", {}) if isinstance(violation.schema, Mapping) else {}


def _missing(violation: Violation) -> list[str]:
    names = violation.wanted
    if isinstance(names, Mapping):
        names = [name for key, needed in names.items() if key in violation.value for name in needed]
    return [name for name in names if name not in violation.value]
