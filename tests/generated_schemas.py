"""Schemas and values for the property tests, many of them odd, and values as models write them: as text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAMES = ["a", "b", "kind", "first name"]
REFERENCES = ["#", "#/$defs/x", "#/$defs/y", "#/$defs/none", "https://example.com/a.json"]
KEYWORDS = [
    *("type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if", "$ref", "$defs", "$id", "nullable"),
    *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "required"),
    *("items", "prefixItems", "additionalItems"),
]
WORDS = ["", "a", "A", "b", "None", "null", "true", "False", "5", "-2.5", "5.0", "1e3", " 7 ", "[a]", "yes", "1e999"]

scalars = (
    st.sampled_from([None, True, False, 0, 1, 5, -3, 5.0, 2.5, *WORDS])
    | st.integers(-10, 10)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
)


def _written(value: object) -> st.SearchStrategy[object]:
    return st.sampled_from([value, value, json.dumps(value), repr(value)])


values: st.SearchStrategy[Any] = st.recursive(
    scalars.flatmap(_written),
    lambda inner: (st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)).flatmap(
        _written
    ),
    max_leaves=8,
)

arguments = st.dictionaries(st.sampled_from(NAMES), values, max_size=3)

types = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])


def _combining(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    properties = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    whole = st.fixed_dictionaries(
        {},
        optional={
            "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
            "items": inner,
            "prefixItems": several,
            "properties": properties,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "n", "."]), inner, max_size=2),
            "additionalProperties": inner,
            "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
            "$ref": st.sampled_from(REFERENCES[1:4]),
        },
    )
    usual = [
        st.builds(
            lambda found, names: {"type": "object", "properties": found, "required": names}, properties, st.just([])
        ),
        st.builds(lambda item: {"type": "array", "items": item}, inner),
        st.builds(lambda branches: {"anyOf": branches}, several),
        st.builds(lambda branch: {"anyOf": [branch, {"type": "null"}]}, inner),
    ]
    return st.one_of(whole, *usual)


schemas: st.SearchStrategy[Any] = st.recursive(
    st.booleans()
    | st.builds(lambda found: {"type": found}, types)
    | st.builds(lambda found: {"type": found}, st.lists(types, min_size=1, max_size=3, unique=True))
    | st.builds(lambda found: {"enum": found}, st.lists(scalars, min_size=1, max_size=3))
    | st.builds(lambda found: {"const": found}, scalars)
    | st.builds(lambda found: {"$ref": found}, st.sampled_from(REFERENCES)),
    _combining,
    max_leaves=10,
)

roots: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda properties, required, closed, defs: (
        {
            "type": "object",
            "properties": properties,
            "required": required,
            "$defs": defs,
        }
        | closed
    ),
    st.dictionaries(st.sampled_from(NAMES), schemas, min_size=1, max_size=4),
    st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
    st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": {"type": "integer"}}]),
    st.fixed_dictionaries({"x": schemas, "y": schemas}),
)


odd_schemas: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from(["object", "array", "integer", "#", "#/a", "(", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYWORDS, "a", "(", "#"]), inner, max_size=4)
    ),
    max_leaves=12,
)
