"""The JSON Schema library, set up for tools' schemas. Importing this needs the extra `validation`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from llama3_tools.arguments.wording import Path, json_path
from llama3_tools.errors import ToolDefinitionError
from llama3_tools.values import shortened

__all__ = ["Violation", "find_violations", "validator_for"]

_MAX_RULES = 128  # within each other; at Python's own limit, the library's Rust half would panic


class _Nesting(threading.local):
    """How many rules are being applied within each other in this thread."""

    rules = 0


_nesting = _Nesting()
_Rule = Callable[[Any, Any, Any, Any], "Iterator[ValidationError] | None"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of the schema that a value breaks."""

    path: Path
    """Where the value stands."""
    depth: int
    """How many steps of the path lead from the value that has alternatives to this one inside of it."""
    value: Any
    rule: str | None
    """The keyword, such as `minimum`; `None` for the schema `false`."""
    wanted: Any
    """What stands in the schema behind the keyword."""
    schema: Any
    """The schema that has the keyword."""
    message: str
    """The library's own words, which may be as long as the value."""
    branches: list[list[Violation]]
    """Where no alternative fits: what is wrong with each of them."""


def validator_for(schema: Mapping[str, Any]) -> Validator:
    """Give a validator that fetches nothing: what a reference does not find in the schema restricts nothing.

    Raises:
        ToolDefinitionError: the schema is none by the standard.
    """
    whole = dict(schema)
    try:
        Draft202012Validator.check_schema(whole)
    except SchemaError as error:
        where = json_path(error.absolute_path)
        raise ToolDefinitionError(f"no JSON Schema, at {where}: {shortened(error.message)}") from None
    except RecursionError:
        raise ToolDefinitionError("no JSON Schema that can be read: it is nested too deep") from None
    validator: Validator = _Lenient(whole, registry=Registry())
    return validator


def find_violations(validator: Validator, value: dict[str, Any]) -> list[Violation]:
    """Give all that is wrong with a value, in the order of the schema.

    Raises:
        RecursionError: rules are nested too deep, by the value or by a schema that does nothing but refer to itself.
    """
    return list(map(_violation, validator.iter_errors(value)))


def _violation(error: Any) -> Violation:  # noqa: ANN401 (its attributes may be unset, say its types)
    # The schema `false` as an alternative has no path.
    branches = groupby(error.context or (), lambda inner: next(iter(inner.relative_schema_path), None))
    return Violation(
        path=tuple(error.absolute_path),
        depth=len(error.relative_path),
        value=error.instance,
        rule=error.validator,
        wanted=error.validator_value,
        schema=error.schema,
        message=error.message,
        branches=[list(map(_violation, errors)) for _, errors in branches],
    )


def _lenient(rule: _Rule) -> _Rule:
    """Let a rule pass over null where OpenAPI's `nullable` allows it, and raise nothing but for too many levels."""

    def apply(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401 (JSON)
        if value is None and schema.get("nullable") is True:
            return
        if _nesting.rules >= _MAX_RULES:
            raise RecursionError
        _nesting.rules += 1
        try:
            yield from rule(validator, wanted, value, schema) or ()
        except Unresolvable:
            return
        except (ArithmeticError, ValueError):  # an integer with too many digits to divide, or to put into a message
            yield ValidationError("a number that is too large")
        finally:
            _nesting.rules -= 1

    return apply


_Lenient: type[Validator] = extend(  # type: ignore[no-untyped-call]  # so it is in its stubs
    Draft202012Validator, {keyword: _lenient(rule) for keyword, rule in Draft202012Validator.VALIDATORS.items()}
)
