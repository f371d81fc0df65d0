"""What a local reference leads to: a JSON Pointer in a fragment, as the standard's own library reads it."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from llama3_tools.arguments.references import resolve_reference

KEYS = ("a b", "a/b", "m~n", "~1", "", "a%25b")
ROOT = {
    "$defs": {key: {"const": f"<{key}>"} for key in KEYS} | {"a": {"b": {"const": "nested"}}},
    "anyOf": [{"const": 0}, {"const": 1}],
}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("#/$defs/a%20b", "<a b>"),
        ("#/$defs/a~1b", "<a/b>"),
        ("#/$defs/a/b", "nested"),
        ("#/$defs/a%2Fb", "nested"),
        ("#/$defs/m~0n", "<m~n>"),
        ("#/$defs/~01", "<~1>"),
        ("#/$defs/", "<>"),
        ("#/$defs/a%2525b", "<a%25b>"),
        ("#/anyOf/1", 1),
    ],
)
def test_a_pointer_leads_where_the_standard_says(reference: str, expected: object):
    assert resolve_reference(ROOT, reference) == {"const": expected}
    validator = Draft202012Validator({"$ref": reference, **ROOT, "anyOf": [{"const": 0}, {"const": 1}, True]})
    assert validator.is_valid(expected)
    assert not validator.is_valid("anything else")


@pytest.mark.parametrize("reference", ["#/$defs/none", "#/anyOf/2", "other.json", "#anchor"])
def test_a_reference_may_lead_nowhere(reference: str):
    assert resolve_reference(ROOT, reference) is True
    with pytest.raises(Unresolvable):
        Draft202012Validator({**ROOT, "$ref": reference, "anyOf": [True]}, registry=Registry()).is_valid("")


@pytest.mark.parametrize(
    "reference", ["#/anyOf/01", "#/anyOf/-1", "#/anyOf/1_0", "#/anyOf/\u0660", "#/anyOf/" + "9" * 5000, 5]
)
def test_an_index_is_written_in_one_way(reference: object):
    assert resolve_reference(ROOT, reference) is True


def test_the_whole_schema_is_a_target_too():
    assert resolve_reference(ROOT, "#") is ROOT
