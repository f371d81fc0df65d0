"""A `$schema` inside of a schema changes nothing, whatever stands there."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from llama3_tools import validate_arguments
from llama3_tools.arguments import ArgumentValidator
from steps import steps_of

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
NAMED: list[Any] = [
    DRAFT_4,
    DRAFT_7,
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
    "https://example.com/own",
    "http://[",
    5,
    None,
    [],
]
FITS = {"n": None, "p": "1", "t": ["a", 2], "m": 1}
WRONG = {"n": 5, "p": "1", "t": ["a", 2, "b"], "m": 2}
MESSAGES = [
    "{}.n: expected string or null, got the integer 5",
    '{}.t[2]: expected integer, got the string "b"',
    "{}.m: expected at most 1, got the integer 2",
]


def part(named: object) -> dict[str, Any]:
    return {
        "$schema": named,
        "properties": {
            "n": {"type": "string", "nullable": True},
            "p": {"pattern": r"^\p{L}+$"},
            "t": {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
            "m": {"maximum": 1, "exclusiveMaximum": True},
        },
    }


PLACES: dict[str, Callable[[Any], Any]] = {
    "properties": lambda part: {"properties": {"x": part}},
    "patternProperties": lambda part: {"patternProperties": {"x": part}},
    "additionalProperties": lambda part: {"additionalProperties": part},
    "unevaluatedProperties": lambda part: {"unevaluatedProperties": part},
    "dependentSchemas": lambda part: {"dependentSchemas": {"x": {"properties": {"x": part}}}},
    "$defs": lambda part: {"properties": {"x": {"$ref": "#/$defs/part"}}, "$defs": {"part": part}},
    "definitions": lambda part: {"properties": {"x": {"$ref": "#/definitions/part"}}, "definitions": {"part": part}},
    "elsewhere": lambda part: {"properties": {"x": {"$ref": "#/elsewhere/0"}}, "elsewhere": [part]},
    "by its id": lambda part: {
        "properties": {"x": {"$ref": "https://example.com/part"}},
        "$defs": {"part": {"$id": "https://example.com/part", **part}},
    },
    "by its anchor": lambda part: {"properties": {"x": {"$ref": "#a"}}, "$defs": {"part": {"$anchor": "a", **part}}},
    "allOf": lambda part: {"properties": {"x": {"allOf": [part]}}},
    "anyOf": lambda part: {"properties": {"x": {"$schema": DRAFT_7, "anyOf": [{"type": "null"}, part]}}},
    "oneOf": lambda part: {"properties": {"x": {"oneOf": [part, {"type": "string"}]}}},
    "then": lambda part: {"properties": {"x": {"if": {"$schema": DRAFT_4}, "then": part}}},
    "else": lambda part: {"properties": {"x": {"if": False, "else": part}}},
    "items": lambda part: {"properties": {"x": {"items": part}}},
    "a list of items": lambda part: {"properties": {"x": {"items": [part]}}},
    "prefixItems": lambda part: {"properties": {"x": {"prefixItems": [part]}}},
}


@pytest.mark.parametrize("named", NAMED, ids=repr)
@pytest.mark.parametrize("place", PLACES)
def test_a_part_is_read_the_same_whatever_draft_it_names(place: str, named: object):
    schema = PLACES[place](part(named))
    before = deepcopy(schema)
    where, among = ("$.x[0]", lambda value: {"x": [value]}) if "tems" in place else ("$.x", lambda value: {"x": value})
    assert validate_arguments(among(FITS), schema) == ()
    problems = validate_arguments(among(WRONG), schema)
    assert [problem.message for problem in problems] == [message.format(where) for message in MESSAGES]
    assert schema == before


@pytest.mark.parametrize("named", NAMED, ids=repr)
@pytest.mark.parametrize(
    ("inside", "fits", "wrong"),
    [
        (lambda part: {"not": part}, 5, None),
        (lambda part: {"contains": part}, [None], [5]),
        (lambda part: {"unevaluatedItems": part}, [None], [5]),
        (lambda part: {"propertyNames": {"not": part}}, {}, {"a": 1}),
    ],
    ids=["not", "contains", "unevaluatedItems", "propertyNames"],
)
def test_so_is_one_that_only_asks(inside: Callable[[Any], Any], fits: object, wrong: object, named: object):
    schema = {"properties": {"x": inside({"$schema": named, "type": "string", "nullable": True})}}
    assert validate_arguments({"x": fits}, schema) == ()
    assert len(validate_arguments({"x": wrong}, schema)) == 1


@pytest.mark.parametrize("named", NAMED, ids=repr)
@pytest.mark.parametrize("reference", ["https://example.com/s", "#a"])
@pytest.mark.parametrize("rule", [{}, {"unevaluatedProperties": {"$schema": DRAFT_7}}], ids=["", "unevaluated"])
def test_what_a_part_names_keeps_no_reference_from_its_place(rule: dict[str, Any], reference: str, named: object):
    """The library looks through all parts for ids and anchors, where each draft has its own places for them."""
    named_part = {"$id": reference} if reference.startswith("http") else {"$anchor": reference[1:]}
    schema = {
        "allOf": [{"$ref": reference}],
        "properties": {"y": {"$schema": named, "items": True, "$defs": {"s": {**named_part, "required": ["z"]}}}},
        **rule,
    }
    (problem,) = validate_arguments({"x": 1}, schema)
    assert problem.message == "$.z: missing"


@pytest.mark.parametrize(
    ("schema", "fits", "wrong"),
    [
        ({"properties": {"$schema": {"type": "string"}}, "required": ["$schema"]}, [{"$schema": "a"}], [{}]),
        ({"properties": {"$schema": {"type": "string"}}}, [{"$schema": DRAFT_7}, {}], [{"$schema": 1}]),
        ({"properties": {"$schema": {}}, "additionalProperties": False}, [{"$schema": 1}], [{"schema": 1}]),
        ({"patternProperties": {"$schema": {}}, "additionalProperties": False}, [{}], [{"a": 1}]),
        ({"dependentSchemas": {"$schema": {"required": ["a"]}}}, [{"$schema": 1, "a": 1}, {}], [{"$schema": 1}]),
        ({"enum": [{"$schema": DRAFT_7}, {"items": {"$schema": 1}}]}, [{"$schema": DRAFT_7}], [{}, {"items": {}}]),
        ({"const": {"properties": {"a": {"$schema": 1}}}}, [{"properties": {"a": {"$schema": 1}}}], [{}]),
        ({"not": {"const": [{"$schema": DRAFT_7}]}}, [[{}]], [[{"$schema": DRAFT_7}]]),
        ({"properties": {"enum": {"$schema": 5, "const": 1}, "default": {"const": 1}}}, [{"enum": 1}], [{"enum": 2}]),
        ({"$ref": "#/$defs/$schema", "$defs": {"$schema": {"const": 1}}}, [1], [2]),
        ({"default": {"$schema": 5}, "examples": [{"$schema": DRAFT_4}], "const": 1}, [1], [2]),
    ],
    ids=range(11),
)
def test_what_only_looks_like_it_stays_what_it_is(schema: dict[str, Any], fits: list[Any], wrong: list[Any]):
    whole = {"properties": {"x": schema}, "$defs": schema.get("$defs", {})}
    assert [validate_arguments({"x": value}, whole) for value in fits] == [()] * len(fits)
    assert [len(validate_arguments({"x": value}, whole)) for value in wrong] == [1] * len(wrong)


@pytest.mark.parametrize("target", ["default", "examples/0", "const"])
def test_a_reference_to_a_value_finds_what_stands_there(target: str):
    """Not that it is a schema there; but that it is looked up in what was written."""
    kept = {"$schema": DRAFT_4, "type": "string"}
    values = {"default": kept, "examples": [kept], "const": kept}
    schema = {"properties": {"y": values, "x": {"$ref": f"#/properties/y/{target}"}, "z": {"const": kept}}}
    assert [problem.path for problem in validate_arguments({"x": 1, "z": kept}, schema)] == ["$.x"]


@pytest.mark.parametrize("named", NAMED, ids=repr)
@pytest.mark.parametrize("place", ["$defs", "elsewhere"])
def test_a_part_that_refers_to_itself_costs_no_more_than_its_values(place: str, named: object):
    inner = {"properties": {"and": {"$ref": f"#/{place}/F"}}}
    union = {"$schema": named, "anyOf": [{**inner, "required": ["x"]}, {**inner, "required": ["y"]}]}
    validator = ArgumentValidator({"properties": {"f": {"$ref": f"#/{place}/F"}}, place: {"F": union}})

    def work(depth: int) -> int:
        value: object = 1
        for _ in range(depth):
            value = {"and": value}
        return steps_of(lambda: validator.validate({"f": value}))

    work(1)
    assert work(12) < 5 * work(3)


def test_a_schema_of_schemas_is_read_with_the_same_rules():
    """It is at hand in the library, under its address, and names its draft."""
    schema = {"properties": {"x": {"$ref": DRAFT_7}}}
    assert validate_arguments({"x": {"type": "string", "minLength": 1}}, schema) == ()
    assert len(validate_arguments({"x": {"type": "string", "minLength": -1}}, schema)) == 1
