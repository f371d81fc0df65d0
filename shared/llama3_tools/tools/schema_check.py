"""Whether something has the shape of a JSON Schema, as far as a model and a server have to read it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from llama3_tools.errors import ToolDefinitionError, a_type

SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
"""The key of the arguments' schema in tool dicts."""

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
WITH_ONE = (
    *("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"),
    *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
)
"""The keywords that contain a schema."""
WITH_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
"""The keywords that contain a list of schemas; `items` did too, in older drafts."""
WITH_NAMED = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
"""The keywords that contain schemas by name."""

_OF_A_VALUE = ("$ref", "allOf", "anyOf", "const", "enum", "oneOf", "type")
"""What a parameter that is declared at all has one of."""
_KEYWORDS = frozenset((*WITH_ONE, *WITH_SEVERAL, *WITH_NAMED, *_OF_A_VALUE, "dependencies"))
"""Those whose value may look like a parameter."""

_MAX_DEPTH = 256  # what is deeper could not be copied, were the stack rather full


def require_parameters(schema: object) -> None:
    """Raise for anything but a tool's `parameters`, such as the whole tool.

    Raises:
        TypeError: it is not a mapping.
        ToolDefinitionError: it is a tool dict, nested too deep, or has a name that is not a string.
    """
    if not isinstance(schema, Mapping):
        raise TypeError(f'schema is the "parameters" of a tool, a JSON Schema object, not {a_type(schema)}')
    key = _schema_key(schema)
    if key is not None:
        raise ToolDefinitionError(f'this is a whole tool, not the schema of its arguments: pass its "{key}"')
    flaw = _structural_flaw(schema) or _flat_flaw(schema)
    if flaw is not None:
        raise ToolDefinitionError(f"no JSON Schema: {flaw}")


def schema_flaw(schema: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the schema of a tool's arguments, and where; `None` where nothing is.

    Only the shape is checked, of what the drafts of JSON Schema agree on: keywords that are not known may be there.

    >>> schema_flaw({"type": "object", "properties": {"city": {"type": "strng"}}})
    'type at properties.city is "strng", not "array", "boolean", "integer", "null", "number", "object" or "string"'

    Args:
        schema: the schema of an object.
    """
    flaw = _structural_flaw(schema) or _flat_flaw(schema)
    if flaw is not None:
        return flaw
    try:
        json.dumps(dict(schema))
    except (TypeError, ValueError, RecursionError) as error:
        return f"it cannot be written as JSON: {error}"
    kind = schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        return f'type is {_shown(kind)}, not "object": arguments have names'
    schemas: list[tuple[str, object]] = [("", schema)]
    for path, inner in schemas:  # it grows meanwhile
        if isinstance(inner, bool):  # `True` takes anything, `False` nothing
            continue
        if not isinstance(inner, Mapping):
            return f"{path} is {_shown(inner)}, not a schema"
        for keyword, expected in _flaws(inner):
            return f"{keyword}{_at(path)} is {_shown(inner[keyword])}, not {expected}"
        schemas += [(_joined(path, place), below) for place, below in _below(inner)]
    return None


def _schema_key(tool: Mapping[str, Any]) -> str | None:
    """Return under which key a tool dict has the schema of its arguments; `None`: it is none."""
    function = tool.get("function")
    holder = function if isinstance(function, Mapping) else tool
    key = next((key for key in SCHEMA_KEYS if isinstance(holder.get(key), Mapping)), None)
    if tool.get("type") == "function":
        return key or SCHEMA_KEYS[0]
    return key if isinstance(holder.get("name"), str) and "properties" not in tool else None


def _structural_flaw(schema: Mapping[str, Any]) -> str | None:
    """Return where a name is not a string, as `json` writes 1 like "1"; and whether it is nested too deep."""
    layer: list[tuple[str, Any]] = [("", schema)]
    for _ in range(_MAX_DEPTH):
        below: dict[int, tuple[str, Any]] = {}  # each value is looked at once
        for path, holder in layer:
            is_object = isinstance(holder, Mapping)
            for key, inner in holder.items() if is_object else enumerate(holder):
                if is_object and not isinstance(key, str):
                    return f"a name{_at(path)} is {key!r:.60}, not a string"
                if isinstance(inner, (Mapping, list, tuple)):
                    below[id(inner)] = (f"{path}[{key}]" if isinstance(key, int) else _joined(path, key)), inner
        layer = list(below.values())
        if not layer:
            return None
    return f"it is nested deeper than {_MAX_DEPTH} levels"


def _flat_flaw(schema: Mapping[str, Any]) -> str | None:
    """Return whether these are parameters by name: as keywords that nobody knows, they would declare nothing."""
    if not schema or any(name in _KEYWORDS or name.startswith(("$", "x-")) for name in schema):
        return None
    if not all(map(_is_parameter, schema.values())):
        return None
    example = '{"type": "object", "properties": {…}}'
    return f'{_shown(next(iter(schema)))} is not a keyword: put the parameters under "properties", as in {example}'


def _is_parameter(schema: object) -> bool:
    if isinstance(schema, str):  # a type alone is not a JSON Schema, and often meant as one
        return schema in _TYPES
    if not isinstance(schema, Mapping) or schema.keys().isdisjoint(_OF_A_VALUE):
        return False
    return "type" not in schema or _is_type(schema["type"])


def _is_type(kind: object) -> bool:
    kinds = kind if isinstance(kind, list) else [kind]
    return bool(kinds) and all(inner in _TYPES for inner in kinds)


def _flaws(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the keywords whose value is wrong, each with what it has to be."""
    if "type" in schema and not _is_type(schema["type"]):
        *most, last = (f'"{name}"' for name in _TYPES)
        yield "type", f"{', '.join(most)} or {last}"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield "required", "a list of names"
    for keyword in WITH_SEVERAL:
        if not isinstance(schema.get(keyword, []), list):
            yield keyword, "a list of schemas"
    for keyword in WITH_NAMED:
        if not isinstance(schema.get(keyword, {}), Mapping):
            yield keyword, "an object with a schema for each name"


def _below(schema: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the schemas right inside one, each with its place."""
    for keyword in (*WITH_ONE, *WITH_SEVERAL):
        if keyword not in schema:
            continue
        below = schema[keyword]
        if isinstance(below, list) and keyword in {"items", *WITH_SEVERAL}:
            yield from ((f"{keyword}[{index}]", item) for index, item in enumerate(below))
        else:
            yield keyword, below
    for keyword in WITH_NAMED:
        yield from ((f"{keyword}.{name}", item) for name, item in schema.get(keyword, {}).items())


def _joined(path: str, place: str) -> str:
    return f"{path}.{place}" if path else place


def _at(path: str) -> str:
    return f" at {path}" if path else ""


def _shown(value: object) -> str:
    return f"{json.dumps(value, ensure_ascii=False):.60}"
