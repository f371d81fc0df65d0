"""A `$schema` inside of a schema changes nothing, whatever stands there."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from llama3_tools import validate_arguments
from llama3_tools.arguments import ArgumentValidator
from steps import steps_of

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
NAMED: list[Any] = [DRAFT_7, "http://[", 5]
PART = {
    "properties": {
        "n": {"type": "string", "nullable": True},
        "p": {"pattern": r"^\p{L}+$"},
        "t": {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
        "m": {"maximum": 1, "exclusiveMaximum": True},
    }
}
FITS = {"n": None, "p": "1", "t": ["a", 2], "m": 1}
WRONG = {"n": 5, "p": "1", "t": ["a", 2, "b"], "m": 2}


@pytest.mark.parametrize("named", NAMED, ids=repr)
@pytest.mark.parametrize(
    "inside",
    [
        lambda part: {"properties": {"x": part}},
        lambda part: {"properties": {"x": {"$ref": "#/$defs/part"}}, "$defs": {"part": part}},
        lambda part: {"properties": {"x": {"$ref": "#/elsewhere/0"}}, "elsewhere": [part]},
        lambda part: {"properties": {"x": {"$ref": "#a"}}, "$defs": {"part": {"$anchor": "a", **part}}},
        lambda part: {"properties": {"x": {"$schema": DRAFT_7, "anyOf": [{"type": "null"}, part]}}},
    ],
    ids=["properties", "$defs", "elsewhere", "by its anchor", "anyOf"],
)
def test_a_part_is_read_the_same_whatever_draft_it_names(inside: Any, named: object) -> None:
    schema = inside({"$schema": named, **PART})
    before = deepcopy(schema)
    assert validate_arguments({"x": FITS}, schema) == ()
    assert [problem.path for problem in validate_arguments({"x": WRONG}, schema)] == ["$.x.n", "$.x.t[2]", "$.x.m"]
    assert schema == before


@pytest.mark.parametrize(
    ("schema", "fits", "wrong"),
    [
        ({"properties": {"$schema": {"type": "string"}}, "required": ["$schema"]}, {"$schema": "a"}, {}),
        ({"enum": [{"$schema": DRAFT_7}]}, {"$schema": DRAFT_7}, {}),
        ({"properties": {"enum": {"$schema": 5, "const": 1}, "default": {"const": 1}}}, {"enum": 1}, {"enum": 2}),
        ({"default": {"$schema": 5}, "examples": [{"$schema": DRAFT_7}], "const": 1}, 1, 2),
    ],
    ids=range(4),
)
def test_what_only_looks_like_it_stays_what_it_is(schema: dict[str, Any], fits: object, wrong: object) -> None:
    assert validate_arguments({"x": fits}, {"properties": {"x": schema}}) == ()
    assert len(validate_arguments({"x": wrong}, {"properties": {"x": schema}})) == 1


@pytest.mark.parametrize("place", ["$defs", "elsewhere"])
def test_a_part_that_refers_to_itself_costs_no_more_than_its_values(place: str) -> None:
    inner = {"properties": {"and": {"$ref": f"#/{place}/F"}}}
    union = {"$schema": DRAFT_7, "anyOf": [{**inner, "required": ["x"]}, {**inner, "required": ["y"]}]}
    validator = ArgumentValidator({"properties": {"f": {"$ref": f"#/{place}/F"}}, place: {"F": union}})

    def work(depth: int) -> int:
        value: object = 1
        for _ in range(depth):
            value = {"and": value}
        return steps_of(lambda: validator.validate({"f": value}))

    work(1)
    assert work(12) < 5 * work(3)
