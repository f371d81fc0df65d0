"""The JSON Schema library, set up for tools' schemas. Importing this needs the extra `validation`."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

import attrs
from jsonschema import Draft202012Validator
from jsonschema.exceptions import UnknownType, ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from llama3_tools.arguments.equality import AllowedValues
from llama3_tools.arguments.rules import RULES, Rule
from llama3_tools.arguments.wording import TOO_LARGE, Path, json_path
from llama3_tools.errors import ToolDefinitionError
from llama3_tools.tools.schema_check import WITH_NAMED, WITH_ONE, WITH_SEVERAL
from llama3_tools.values import shortened

__all__ = ["Enums", "Violation", "find_violations", "validator_for"]

_MAX_RULES = 128  # within each other; at Python's own limit, the library's Rust half would panic
_REFERENCES = ("$ref", "$dynamicRef")
_OLDER = ("exclusiveMaximum", "exclusiveMinimum", "items")
"""The keywords whose values had another type in older drafts."""
_COMBINING = ("$dynamicRef", "allOf", *range(9))
"""What the schema of schemas is put together with."""


Enums = dict[int, AllowedValues]
"""The values of each `enum` that a value was looked up in, by the id of its list, which it keeps alive."""


class _Run(threading.local):
    """What is known of the validation that goes on in this thread."""

    def __init__(self) -> None:
        self.rules = 0
        """How many rules are being applied within each other."""
        self.seen: dict[tuple[int, int, int], list[ValidationError]] = {}
        """What is wrong with a value by a kind of reference, by their ids: all live as long as the run."""
        self.enums: Enums = {}
        """What is known of the schema's enums."""


_run = _Run()


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
    """What stands in the schema under the keyword."""
    schema: Any
    """The schema that has the keyword."""
    message: str
    """The library's own words, which may be as long as the value."""
    context: list[ValidationError] = field(repr=False)
    """Where no alternative fits: what is wrong with all of them."""

    @property
    def branches(self) -> list[list[Violation]]:
        """Where no alternative fits: what is wrong with each of them. All of them, at all depths, may be very many."""
        # The schema `false` as an alternative has no path.
        branches = groupby(self.context, lambda inner: next(iter(inner.relative_schema_path), None))
        return [[_violation(error, self.path) for error in errors] for _, errors in branches]


def validator_for(schema: Mapping[str, Any]) -> Validator:
    """Return a validator that fetches nothing: what a reference does not find in the schema restricts nothing.

    Raises:
        ToolDefinitionError: the schema is none by the standard.
    """
    try:
        with _few_frames():
            return _validator(schema)
    except RecursionError:
        raise ToolDefinitionError("no JSON Schema that can be read: it is nested too deep") from None


def _validator(schema: Mapping[str, Any]) -> Validator:
    whole = _without_drafts(dict(schema))
    flaw = best_match(_flaws(whole))
    if flaw is None:
        validator: Validator = _Lenient(whole, registry=Registry())
        return validator
    raise ToolDefinitionError(f"no JSON Schema, at {json_path(flaw.absolute_path)}: {shortened(flaw.message)}")


def _without_drafts(schema: Any) -> Any:  # noqa: ANN401 (JSON, which may be no schema)
    """Copy a schema without `$schema`, by which the library would look for the names of its parts in another way."""
    if isinstance(schema, list):
        return [_without_drafts(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: value for key, value in schema.items() if key != "$schema"}
    for keyword in copy.keys() & {*WITH_ONE, *WITH_SEVERAL}:
        copy[keyword] = _without_drafts(copy[keyword])
    for keyword in copy.keys() & {*WITH_NAMED}:
        if isinstance(copy[keyword], dict):
            copy[keyword] = {name: _without_drafts(inner) for name, inner in copy[keyword].items()}
    return copy


def find_violations(validator: Validator, value: dict[str, Any], enums: Enums) -> Iterator[Violation]:
    """Yield all that is wrong with a value, in the order of the schema, as it is found.

    Args:
        validator: the validator of the schema.
        value: the value.
        enums: empty at first, and kept from one run to the next of the same validator.

    Raises:
        RecursionError: rules are nested too deep, by the value or by a schema that does nothing but refer to itself.
    """
    _run.enums = enums
    try:
        with _few_frames():
            yield from (_violation(error, ()) for error in validator.iter_errors(value))
    finally:
        _run.seen, _run.enums = {}, {}


@contextmanager
def _few_frames() -> Iterator[None]:
    """Raise `RecursionError` for the panic of the library's Rust half, where the caller has used up Python's frames."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RecursionError from None


def _flaws(schema: object) -> Iterator[ValidationError]:
    """Yield what is wrong with a schema, but for its patterns, and for what older drafts had."""
    for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema):
        *_, keyword, rule = ["", "", *(step for step in error.schema_path if step not in _COMBINING)]
        if keyword in _OLDER and rule == "type" and isinstance(error.instance, (list, bool)):
            yield from (flaw for inner in _listed(error.instance) for flaw in _flaws(inner))
        else:
            yield error


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _violation(error: Any, above: Path) -> Violation:  # noqa: ANN401 (its attributes may be unset, say its types)
    return Violation(
        path=(*above, *error.relative_path),
        depth=len(error.relative_path),
        value=error.instance,
        rule=error.validator,
        wanted=error.validator_value,
        schema=error.schema,
        message=error.message,
        context=error.context,
    )


def _lenient(keyword: str, rule: Rule, *given: Any) -> Iterator[ValidationError]:  # noqa: ANN401 (JSON)
    """Let a rule pass over null where OpenAPI's `nullable` allows it, and raise nothing but for too many levels."""
    *_, value, schema = given
    if value is None and schema.get("nullable") is True:
        return
    if _run.rules >= _MAX_RULES:
        raise RecursionError
    _run.rules += 1
    try:
        yield from rule(*given) or ()
    except (Unresolvable, UnknownType):
        return
    except (ArithmeticError, ValueError):  # an integer with too many digits to divide, or to put into a message
        if keyword not in _REFERENCES:  # but of a reference, one that is no address
            yield ValidationError(TOO_LARGE)
    except (TypeError, AttributeError, LookupError):
        if keyword not in _REFERENCES:  # what they lead to may be no schema: only places for schemas are checked
            raise
    finally:
        _run.rules -= 1


def _once(rule: Rule, *given: object) -> Iterator[ValidationError]:
    """Follow a reference once for each value: else the alternatives of a recursive schema are tried 2**depth times."""
    *_, value, schema = given
    key = id(rule), id(schema), id(value)
    if key not in _run.seen:
        _run.seen[key] = list(rule(*given) or ())
    # They are told their places on the way out, each time anew.
    yield from map(ValidationError.create_from, _run.seen[key])


def _enum(_validator: Any, wanted: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401 (JSON)
    """Look a value up, rather than to compare it with each that is allowed."""
    allowed = _run.enums.get(id(wanted))
    if allowed is None:
        allowed = _run.enums[id(wanted)] = AllowedValues(wanted)
    if value not in allowed:
        yield ValidationError("")


_Lenient: type[Validator] = extend(  # type: ignore[no-untyped-call]  # so it is in its stubs
    Draft202012Validator,
    {
        keyword: partial(_lenient, keyword, partial(_once, rule) if keyword in _REFERENCES else rule)
        for keyword, rule in {**RULES, "enum": _enum}.items()
    },
)
_FIELDS = [(each.name, each.alias) for each in attrs.fields(_Lenient) if each.init]  # type: ignore[arg-type]


def _evolve(validator: Any, **changes: Any) -> Validator:  # noqa: ANN401 (what the fields hold)
    """Go on with the same rules, where the library would change to those of a draft that `$schema` names."""
    unchanged = {alias: getattr(validator, name) for name, alias in _FIELDS}
    return _Lenient(**{**unchanged, **changes})


_Lenient.evolve = _evolve  # type: ignore[assignment]
