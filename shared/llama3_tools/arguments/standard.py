"""The JSON Schema library as it is, but for four leniencies. Importing this needs the extra `validation`.

- OpenAPI's `nullable` allows null.
- Patterns and references that cannot be read, and keywords with odd values, restrict nothing.
- What older drafts had, such as `items` as a list, is read as far as it goes, whatever `$schema` says.
- A reference is followed once for each value.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import UnknownType, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from llama3_tools.arguments.equality import AllowedValues, has_twice
from llama3_tools.arguments.patterns import readable
from llama3_tools.tools.schema_check import WITH_NAMED

Rule = Callable[..., "Iterator[ValidationError] | None"]

_MAX_RULES = 128  # within each other; at Python's own limit, the library's Rust half would panic
_VALUES = ("const", "default", "enum", "examples")
"""The keywords that contain no schemas."""
_REFERENCES = ("$ref", "$dynamicRef")
TOO_LARGE = "a number that is too large"
"""What is said of one that the library cannot compare, or put into a message."""


class _Run(threading.local):
    """What is known of the validation that goes on in this thread."""

    def __init__(self) -> None:
        self.rules = 0
        """How many rules are being applied within each other."""
        self.seen: dict[tuple[int, int, int], list[ValidationError]] = {}
        """What is wrong with a value by a kind of reference, by their ids: all live as long as the run."""
        self.enums: dict[int, AllowedValues] = {}
        """The values of each `enum`, by its id."""


_run = _Run()


def validator_for(schema: Mapping[str, Any]) -> Validator:
    """Return a validator that fetches nothing."""
    validator: Validator = _Lenient(_prepared(schema), registry=Registry())
    return validator


def find_errors(validator: Validator, arguments: dict[str, Any]) -> Iterator[ValidationError]:
    """Yield what is wrong with arguments, in the order of the schema, as it is found.

    Raises:
        RecursionError: rules are nested too deep, by the arguments or by a schema that only refers to itself.
    """
    try:
        yield from validator.iter_errors(arguments)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of the library's Rust half, where no frames are left
            raise
        raise RecursionError from None
    finally:
        _run.seen, _run.enums = {}, {}


def _prepared(schema: Any) -> Any:  # noqa: ANN401 (JSON)
    """Copy a schema without what would be read by another draft, or not at all."""
    if isinstance(schema, list):
        return list(map(_prepared, schema))
    if not isinstance(schema, Mapping):
        return schema
    copy = {key: value for key, value in schema.items() if key != "$schema" and not _is_ignored(key, value)}
    if isinstance(copy.get("items"), list):  # as it was before draft 2020-12
        copy["prefixItems"] = copy.pop("items")
        if "additionalItems" in copy:
            copy["items"] = copy["additionalItems"]
    for key, value in copy.items():
        if key in WITH_NAMED and isinstance(value, Mapping):
            copy[key] = {name: _prepared(inner) for name, inner in value.items()}
        elif key not in _VALUES:
            copy[key] = _prepared(value)
    patterns = copy.get("patternProperties")
    if isinstance(patterns, Mapping) and not all(map(readable, patterns)):
        copy["patternProperties"] = {"^": True}  # any name may be declared by it
    return copy


def _is_ignored(key: str, value: object) -> bool:
    if key in {"exclusiveMaximum", "exclusiveMinimum"}:
        return isinstance(value, bool)  # as it was before draft 6
    return key == "pattern" and isinstance(value, str) and readable(value) is None


def _lenient(keyword: str, rule: Rule, *given: Any) -> Iterator[ValidationError]:  # noqa: ANN401 (JSON)
    """Let a rule pass over null if `nullable` allows it, and raise nothing but for too many levels."""
    *_, value, schema = given
    if value is None and schema.get("nullable") is True:
        return
    if _run.rules >= _MAX_RULES:
        raise RecursionError
    _run.rules += 1
    try:
        yield from rule(*given) or ()
    except (Unresolvable, UnknownType, re.error, TypeError, AttributeError, LookupError):
        return
    except (ArithmeticError, ValueError):  # an integer with too many digits to divide, or to put into a message
        if keyword not in _REFERENCES:  # of a reference, only one that is not an address
            yield ValidationError(TOO_LARGE)
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
        yield ValidationError("none of the values that are allowed")


def _unique_items(_validator: Any, wanted: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    """Compare no item with each other one, as the library does."""
    if wanted and isinstance(value, list) and has_twice(value):
        yield ValidationError("has an item twice")


_RULES: dict[str, Rule] = {
    **Draft202012Validator.VALIDATORS,
    "enum": _enum,
    "uniqueItems": _unique_items,
}
_Lenient: type[Validator] = extend(  # type: ignore[no-untyped-call]  # so it is in its stubs
    Draft202012Validator,
    {
        keyword: partial(_lenient, keyword, partial(_once, rule) if keyword in _REFERENCES else rule)
        for keyword, rule in _RULES.items()
    },
)
