"""A schema taken apart: the alternatives that there are for a value, and what each says."""

from __future__ import annotations

from typing import Any

import pytest

from llama3_tools.arguments.schema import Node, SchemaReader, Shape

ALL = {"string", "boolean", "null", "integer", "number", "array", "object"}


def node(schema: object) -> Node:
    return SchemaReader(schema).node(schema)


def shape(schema: object) -> Shape:
    (only,) = node(schema).shapes
    return only


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": "number"}, {"integer", "number"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"type": "string", "nullable": True}, {"string", "null"}),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, {"string", "array"}),
        ({"oneOf": [{"type": "boolean"}], "anyOf": [{"type": ["boolean", "null"]}]}, {"boolean"}),
        ({"type": "number", "allOf": [{"type": ["integer", "string"]}]}, {"integer"}),
        ({"const": 5}, {"integer"}),
        ({"enum": ["a", None]}, {"string", "null"}),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, {"null"}),
        ({"type": "integer", "$ref": "#/$defs/a", "$defs": {"a": {"type": "number"}}}, {"integer"}),
    ],
)
def test_types_are_those_of_all_alternatives(schema: object, types: set[str]):
    assert node(schema).types == types


@pytest.mark.parametrize(
    "schema",
    [
        *[True, {}, None, 5, {"type": "any"}, {"type": ["string", "date"]}, {"type": []}, {"type": {"a": 1}}],
        *[{"enum": "a"}, {"anyOf": {}}, {"allOf": 5}, {"$ref": "#/nowhere"}, {"$ref": "https://example.com/a"}],
        {"$ref": "#"},
        {"properties": [], "required": "a"},
    ],
)
def test_what_is_odd_restricts_nothing(schema: object):
    assert node(schema).types == ALL


@pytest.mark.parametrize(
    "schema", [False, {"enum": []}, {"anyOf": [False]}, {"type": "null", "allOf": [{"type": "array"}]}]
)
def test_what_allows_nothing_has_no_types(schema: object):
    assert not node(schema).types


@pytest.mark.parametrize(("count", "found"), [(128, 128), (129, 1)])
def test_alternatives_are_read_up_to_a_limit(count: int, found: int):
    assert len(node({"anyOf": [{"const": number} for number in range(count)]}).shapes) == found


CLOSED = {"properties": {"a": {"type": "string"}}, "additionalProperties": False}
NUMBERS = {"patternProperties": {"^n_": {"type": "number"}}, "additionalProperties": {"type": "null"}}


@pytest.mark.parametrize(
    ("schema", "name", "expected"),
    [
        pytest.param(CLOSED, "a", ({"string"}, True, False), id="a property of a closed object"),
        pytest.param(CLOSED, "b", (ALL, False, True), id="another name in a closed object"),
        pytest.param(
            {"properties": {"a": {"type": "string"}}}, "b", (ALL, False, False), id="another name in an open object"
        ),
        pytest.param(
            {"properties": {}, "additionalProperties": True}, "b", (ALL, True, False), id="additionalProperties"
        ),
        pytest.param(
            {"properties": {}, "unevaluatedProperties": True}, "b", (ALL, True, False), id="unevaluatedProperties"
        ),
        pytest.param({"properties": {}, "if": {}}, "b", (ALL, True, False), id="a condition"),
        pytest.param({}, "b", (ALL, True, False), id="no properties"),
        pytest.param(NUMBERS, "n_a", ({"integer", "number"}, True, False), id="a pattern that fits"),
        pytest.param(NUMBERS, "b", ({"null"}, True, False), id="a pattern that does not fit"),
        pytest.param(
            {"patternProperties": {"(": False}, "additionalProperties": False},
            "b",
            (ALL, True, False),
            id="a pattern that is none",
        ),
        pytest.param(
            {"allOf": [CLOSED, {"properties": {"a": {"minLength": 1}, "b": {}}}]},
            "b",
            (ALL, False, True),
            id="allOf with a closed object",
        ),
        pytest.param(
            {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {"type": "null"}}}]},
            "b",
            ({"null"}, True, False),
            id="allOf with an open object",
        ),
    ],
)
def test_a_name_is_known_or_not_or_forbidden(schema: object, name: str, expected: tuple[Any, ...]):
    found = shape(schema).property(name)
    assert (found.node.types, found.is_known, found.is_forbidden) == expected


def test_names_and_required_ones_are_listed_once_in_their_order():
    parts = [
        {"properties": {"a": {}, "b": {}}, "required": ["b", 5]},
        {"properties": {"b": {}, "c": {}}, "required": ["a", "b"]},
    ]
    found = shape({"allOf": parts})
    assert (found.names, found.required) == (["a", "b", "c"], ["b", "a"])


@pytest.mark.parametrize(
    ("schema", "types", "has_items", "has_prefix"),
    [
        pytest.param({}, [ALL, ALL], False, False, id="any items"),
        pytest.param({"items": {"type": "null"}}, [{"null"}, {"null"}], True, False, id="items alike"),
        pytest.param({"prefixItems": [{"type": "string"}]}, [{"string"}, ALL], True, True, id="a first item"),
        pytest.param(
            {"prefixItems": [{"type": "string"}], "items": {"type": "null"}},
            [{"string"}, {"null"}],
            True,
            True,
            id="a first item and the others",
        ),
        pytest.param(
            {"items": [{"type": "string"}], "additionalItems": {"type": "null"}},
            [{"string"}, {"null"}],
            True,
            True,
            id="a first item and the others, as in draft 7",
        ),
        pytest.param({"items": [{"type": "string"}]}, [{"string"}, ALL], True, True, id="a first item, as in draft 7"),
    ],
)
def test_items_go_by_their_place(schema: object, types: list[set[str]], has_items: bool, has_prefix: bool):
    found = shape(schema)
    assert [found.item(index).types for index in range(2)] == types
    assert (found.has_items, found.has_prefix) == (has_items, has_prefix)


def test_a_value_is_admitted_by_its_type_and_the_values_that_are_allowed():
    found = shape({"type": "integer", "enum": [1, 2, "a"], "allOf": [{"enum": [2, 3]}]})
    assert [value for value in (1, 2, 2.0, 3, "a", True) if found.admits(value)] == [2, 2.0]
    assert found.admits_type(3)
    assert not found.admits_type("a")


@pytest.mark.parametrize(
    ("schema", "is_constant"),
    [
        ({"const": None}, True),
        ({"enum": ["a"]}, True),
        ({"anyOf": [{"const": 1}, {"enum": [2]}]}, True),
        ({"enum": ["a", "b"]}, False),
        ({"type": "null"}, False),
    ],
)
def test_a_constant_has_one_value_in_each_alternative(schema: object, is_constant: bool):
    assert node(schema).is_constant == is_constant


def test_strings_are_alike_but_for_case_and_space_around():
    found = node({"anyOf": [{"enum": ["On", "off", 5]}, {"const": "ON"}]})
    assert found.strings_like(" on\n") == {"On", "ON"}
    assert found.strings_like("OFF") == {"off"}
    assert not found.strings_like("o n")


def test_each_piece_is_read_once_also_where_a_schema_refers_to_itself():
    schema = {"$defs": {"tree": {"properties": {"kids": {"items": {"$ref": "#/$defs/tree"}}}}}, "$ref": "#/$defs/tree"}
    reader = SchemaReader(schema)
    tree = reader.node(schema["$defs"]["tree"])
    kid = tree.shapes[0].property("kids").node.shapes[0].item(0)
    assert kid is tree
    assert reader.node(*[True, schema["$defs"]["tree"], True]) is tree


def test_what_is_declared_is_said_in_words():
    assert node({"type": "array", "items": {"type": "string"}}).declared == "array of string"
