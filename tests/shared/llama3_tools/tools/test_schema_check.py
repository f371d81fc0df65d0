"""The schemas of tools: whatever JSON Schema allows is taken, and what is none is named when the tool is declared."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from llama3_tools import (
    Tool,
    ToolDefinitionError,
    coerce_arguments,
    declare_tools,
)

TYPES = '"array", "boolean", "integer", "null", "number", "object" or "string"'


def of(**city: object) -> dict[str, Any]:
    return {"type": "object", "properties": {"city": city}}


def holding(keyword: str, value: object) -> dict[str, Any]:
    return {"properties": {"a": {keyword: value}}}


CIRCULAR: dict[str, Any] = {"type": "object"}
CIRCULAR["properties"] = {"me": CIRCULAR}


ALLOWED = {
    "a type that may be null": {"type": ["object", "null"], "properties": {}},
    "properties that are true and false": {
        "type": "object",
        "properties": {"a": True, "b": False, "c": {}},
        "required": ["a"],
    },
    "properties called as keywords": {
        "type": "object",
        "properties": {"type": {"type": "string"}, "required": {"type": "boolean"}},
    },
    "a reference to itself": {
        "$defs": {"Tree": {"properties": {"of": {"$ref": "#/$defs/Tree"}}}},
        "$ref": "#/$defs/Tree",
    },
    "combinations": {
        "anyOf": [{"required": ["a"]}, {"not": {"required": ["b"]}}],
        "additionalProperties": {"type": "number"},
    },
    "null as default and word, an unknown format": of(
        type=["string", "null"], default=None, enum=["a", None], format="city", minLength=1
    ),
    "prefixItems and contains": of(
        type="array", prefixItems=[{"type": "integer"}], items=False, contains={"const": {"type": "anything"}}
    ),
    "schemas in data": of(
        default={"type": "anything", "properties": [], "required": True}, title=5, x_own=[{"type": "anything"}]
    ),
    "a mapping that is no dict": MappingProxyType({"type": "object"}),
    "a key of its own with x-": {"x-own": {"type": "string"}},
    "a key of its own with $": {"$own": {"type": "string"}},
    "a key of its own beside a title": {"own": {"type": "string"}, "title": "With what nobody knows"},
    "a key of its own beside a keyword": {"own": {"type": "string"}, "additionalProperties": {"type": "string"}},
    "a key of its own without keywords": {"own": {"types": "string"}},
}


@pytest.mark.parametrize("schema", ALLOWED.values(), ids=ALLOWED)
def test_what_json_schema_allows_is_taken(schema: dict[str, Any]):
    tool = Tool("f", "", schema)
    assert tool.parameters == schema
    assert declare_tools([tool.to_openai()])["f"].to_openai() == tool.to_openai()


@pytest.mark.parametrize(
    ("parameters", "flaw"),
    [
        ([], "are a list, not a JSON Schema object"),
        ({"type": "objct"}, 'are no JSON Schema: type is "objct", not "object": arguments have names'),
        ({"type": "string"}, 'type is "string", not "object"'),
        ({"type": ["object", "nothing"]}, f'type is ["object", "nothing"], not {TYPES}'),
        ({"properties": ["city"]}, 'properties is ["city"], not an object with a schema for each name'),
        ({"properties": {"city": "string"}}, 'properties.city is "string", not a schema'),
        (of(type="str"), f'type at properties.city is "str", not {TYPES}'),
        (of(type={"a": 1}), 'type at properties.city is {"a": 1}, not'),
        (of(type=str), "it cannot be written as JSON: Object of type type is not JSON serializable"),
        (CIRCULAR, "it is nested deeper than 256 levels"),
        ({"required": "city"}, 'required is "city", not a list of names'),
        (of(type="string", required=True), "required at properties.city is true, not a list of names"),
        (holding("items", {"type": "strng"}), 'type at properties.a.items is "strng"'),
        (holding("items", [True, {"type": "strng"}]), 'type at properties.a.items[1] is "strng"'),
        (holding("additionalProperties", "no"), 'properties.a.additionalProperties is "no", not a schema'),
        (holding("prefixItems", [{"type": 5}]), "type at properties.a.prefixItems[0] is 5"),
        *((holding(name, [5]), f"properties.a.{name}[0] is 5, not a schema") for name in ("anyOf", "oneOf", "allOf")),
        (holding("anyOf", {}), "anyOf at properties.a is {}, not a list of schemas"),
        ({"$defs": {"A": {"type": "A"}}}, 'type at $defs.A is "A"'),
        ({"properties": {1: {}}}, "a name at properties is 1, not a string"),
        ({"properties": {"a": {"enum": [{1: 2}]}, "b": {"enum": [{}]}}}, "a name at properties.a.enum[0] is 1"),
        ({"definitions": []}, "definitions is [], not an object with a schema for each name"),
    ],
)
def test_what_is_no_json_schema_is_named_with_its_tool_and_its_place(parameters: object, flaw: str):
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    with pytest.raises(ToolDefinitionError) as error:
        declare_tools([{"name": "g"}, tool])
    assert str(error.value).startswith("tools[1]: the parameters of f are ")
    assert flaw in str(error.value)


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    "schema",
    [
        {"city": TEXT},
        {"city": {**TEXT, "description": "Where", "required": True}, "days": {"type": ["integer", "null"]}},
        {"city": {"enum": ["Paris"]}, "id": TEXT, "name": {"anyOf": [TEXT]}, "a": {"$ref": "#/b"}, "b": {"const": 1}},
        MappingProxyType({"city": TEXT}),
        {"city": "string", "days": "integer"},
    ],
    ids=range(5),
)
def test_parameters_in_place_of_keywords_are_an_error(schema: dict[str, Any]):
    advice = (
        '"city" is not a keyword: put the parameters under "properties", as in {"type": "object", "properties": {…}}'
    )
    with pytest.raises(ToolDefinitionError) as error:
        declare_tools([{"name": "f", "parameters": schema}])
    assert str(error.value) == f"tools[0]: the parameters of f are no JSON Schema: {advice}"
    with pytest.raises(ToolDefinitionError) as error:
        coerce_arguments({}, schema)
    assert str(error.value) == f"no JSON Schema: {advice}"


def test_a_parameter_may_be_called_as_a_keyword_whose_value_is_no_schema():
    with pytest.raises(ToolDefinitionError, match='"city" is not a keyword'):
        Tool("f", "", {"city": TEXT, "format": TEXT})


def test_what_is_found_is_shown_up_to_a_limit():
    with pytest.raises(ToolDefinitionError, match=r'city is "a{59}, not a schema'):
        Tool("f", "", {"properties": {"city": "a" * 1000}})


def test_a_schema_may_be_deep():
    shared: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        shared = {"type": "array", "items": shared}
    deep = {"type": "object", "properties": {"a": shared}}
    assert Tool("f", "", deep).to_openai()["function"]["parameters"] == deep


@pytest.mark.parametrize("levels", [257, 900, 100_000])
def test_a_schema_that_nobody_can_copy_is_an_error(levels: int):
    deep: dict[str, Any] = {}
    for _ in range(levels - 1):
        deep = {"default": deep}
    Tool("f", "", _inside(deep, levels - 256))
    with pytest.raises(ToolDefinitionError, match="it is nested deeper than 256 levels"):
        Tool("f", "", deep)


def _inside(schema: dict[str, Any], levels: int) -> dict[str, Any]:
    for _ in range(levels):
        schema = schema["default"]
    return schema
