"""The rules that the JSON Schema library words, places or reads otherwise than tools' schemas need them.

- A value where the schema is `false` has a place, and so has each name that is not allowed.
- A pattern that Python cannot read restricts nothing, rather than to be an error.
- `items` may be a list, `exclusiveMinimum` a boolean, as in older drafts.
- Whether an item stands twice is told without comparing each with each other one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from llama3_tools.arguments.equality import first_twice
from llama3_tools.arguments.patterns import readable
from llama3_tools.arguments.wording import item_twice

__all__ = ["RULES", "Rule"]

Rule = Callable[[Any, Any, Any, Any], "Iterator[ValidationError] | None"]

_STANDARD: dict[str, Rule] = dict(Draft202012Validator.VALIDATORS)
_PROBE = "x-unevaluated"


def _inside(validator: Any, value: object, schema: object, step: str | int) -> Iterator[ValidationError]:  # noqa: ANN401
    """Check what is one step inside; the library gives the schema `false` no place."""
    if schema is False:
        nothing: Any = None
        yield ValidationError("", validator=nothing, instance=value, schema=False, path=[step])
    else:
        yield from validator.descend(value, schema, path=step)


def _unknown(name: str, value: object) -> ValidationError:
    return ValidationError("", path=[name], instance=value)


def _properties(validator: Any, wanted: Any, value: Any, _: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    for name, schema in wanted.items() if isinstance(value, dict) else ():
        if name in value:
            yield from _inside(validator, value[name], schema, name)


def _pattern_properties(validator: Any, wanted: Any, value: Any, _: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    for pattern, schema in wanted.items() if isinstance(value, dict) else ():
        regex = readable(pattern)
        for name, member in value.items():
            if regex is not None and regex.search(name):
                yield from _inside(validator, member, schema, name)


def _additional_properties(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    patterns = [readable(pattern) for pattern in schema.get("patternProperties", ())]
    for name, member in value.items() if isinstance(value, dict) else ():
        if name in schema.get("properties", ()) or any(regex is None or regex.search(name) for regex in patterns):
            continue
        if wanted is False:
            yield _unknown(name, member)
        else:
            yield from _inside(validator, member, wanted, name)


def _unevaluated_properties(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    found: list[ValidationError] = []
    try:
        for _ in _STANDARD["unevaluatedProperties"](validator, {_PROBE: found}, value, schema) or ():
            pass
    except (re.error, OverflowError):  # one of the patterns around it
        return
    for name in [error.path[0] for error in found]:
        if wanted is False:
            yield _unknown(str(name), value[name])
        else:
            yield from _inside(validator, value[name], wanted, name)


def _probe(_validator: Any, found: Any, _value: Any, _schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    """Note what the library takes for unevaluated: on its way out, the error is told where it stands."""
    error = ValidationError("")
    found.append(error)
    yield error


def _property_names(validator: Any, wanted: Any, value: Any, _: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    for name, member in value.items() if isinstance(value, dict) else ():
        wrong = list(validator.descend(name, wanted))
        if wrong:
            yield ValidationError("", path=[name], instance=member, context=wrong)


def _prefix_items(validator: Any, wanted: Any, value: Any, _: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    for index, (item, schema) in enumerate(zip(value, wanted, strict=False) if isinstance(value, list) else ()):
        yield from _inside(validator, item, schema, index)


def _items(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    if isinstance(wanted, list):
        yield from _prefix_items(validator, wanted, value, schema)
    else:
        yield from _rest(validator, wanted, value, len(schema.get("prefixItems", ())))


def _additional_items(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    if isinstance(schema.get("items"), list):
        yield from _rest(validator, wanted, value, len(schema["items"]))


def _rest(validator: Any, schema: Any, value: Any, start: int) -> Iterator[ValidationError]:  # noqa: ANN401
    for index in range(start, len(value) if isinstance(value, list) else 0):
        yield from _inside(validator, value[index], schema, index)


def _pattern(_validator: Any, wanted: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    regex = readable(wanted)
    if isinstance(value, str) and regex is not None and not regex.search(value):
        yield ValidationError("")


def _unique_items(_validator: Any, wanted: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401
    twice = first_twice(value) if wanted and isinstance(value, list) else None
    if twice is not None:
        yield ValidationError(item_twice(value[twice[0]], *twice))


def _unless_boolean(rule: Rule, validator: object, wanted: object, *given: object) -> Iterator[ValidationError] | None:
    return None if isinstance(wanted, bool) else rule(validator, wanted, *given)


RULES: dict[str, Rule] = {
    **_STANDARD,
    "additionalItems": _additional_items,
    "additionalProperties": _additional_properties,
    "exclusiveMaximum": partial(_unless_boolean, _STANDARD["exclusiveMaximum"]),
    "exclusiveMinimum": partial(_unless_boolean, _STANDARD["exclusiveMinimum"]),
    "items": _items,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "prefixItems": _prefix_items,
    "properties": _properties,
    "propertyNames": _property_names,
    "unevaluatedProperties": _unevaluated_properties,
    "uniqueItems": _unique_items,
    _PROBE: _probe,
}
"""All rules by their keywords."""
