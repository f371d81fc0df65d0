"""Whether arguments plainly fit their schema, as most do: what cannot be seen at a glance is for `coercion`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["PlainFit"]

_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)}
_SAYS_NOTHING = {"type", "description", "title", "default", "examples"}
_OF_OBJECTS = _SAYS_NOTHING | {"properties", "required", "additionalProperties"}


class PlainFit:
    """A schema of an object, as far as it declares nothing but types.

    >>> schema = {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}
    >>> PlainFit(schema).admits({"city": "Paris", "days": 3}), PlainFit(schema).admits({"city": "Paris", "days": "3"})
    (True, False)
    """

    __slots__ = ("_lists", "_required", "_types")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Take the schema of the arguments."""
        properties, required = schema.get("properties"), schema.get("required") or ()
        is_read = schema.keys() <= _OF_OBJECTS and schema.get("type", "object") == "object"
        is_read = is_read and isinstance(properties, Mapping) and isinstance(required, (list, tuple))
        declared = properties.items() if is_read and isinstance(properties, Mapping) else ()
        self._types = {name: types for name, one in declared if (types := _types_of(one, _SAYS_NOTHING))}
        self._lists = {name: types for name, one in declared if (types := _types_of_items(one))}
        self._required = tuple(required) if is_read else ("",)

    def admits(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether arguments fit at a glance; if not, they may fit all the same."""
        types, lists = self._types, self._lists
        for name, value in arguments.items():
            kind = type(value)
            if kind is list and name in lists:
                allowed = lists[name]
                if not all(type(item) in allowed for item in value):
                    return False
            elif kind not in types.get(name, ()):
                return False
        return all(name in arguments for name in self._required)


def _types_of(schema: object, known: set[str]) -> tuple[type, ...]:
    """Return the types of values that fit a schema, if it says no more than one."""
    if not isinstance(schema, Mapping) or not schema.keys() <= known or not isinstance(schema.get("type"), str):
        return ()
    return _TYPES.get(schema["type"], ())


def _types_of_items(schema: object) -> tuple[type, ...]:
    is_list = (
        isinstance(schema, Mapping) and schema.get("type") == "array" and schema.keys() <= {*_SAYS_NOTHING, "items"}
    )
    return _types_of(schema.get("items"), _SAYS_NOTHING) if is_list and isinstance(schema, Mapping) else ()
