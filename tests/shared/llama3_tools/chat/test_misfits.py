"""Arguments that do not fit, as far as a model can mend them."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from llama3_tools import Tool
from llama3_tools.chat.misfits import ArgumentChecks, class_problems

OPEN = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}}
CLOSED = {**OPEN, "additionalProperties": False}


@pytest.fixture(params=["with jsonschema", "without"])
def has_extra(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "without":
        monkeypatch.delitem(sys.modules, "llama3_tools.arguments.standard", raising=False)
        monkeypatch.setitem(sys.modules, "jsonschema", None)
    return bool(request.param == "with jsonschema")


@pytest.mark.parametrize(
    ("schema", "arguments", "problems"),
    [
        pytest.param(OPEN, {"n": 1}, 0, id="a number for a number"),
        pytest.param(OPEN, {"n": "soon"}, 1, id="a word for a number"),
        pytest.param(OPEN, {"m": 1}, 0, id="another name"),
        pytest.param(CLOSED, {"m": 1}, 1, id="a forbidden name"),
        pytest.param({**OPEN, "required": ["n"]}, {}, 1, id="a missing one"),
        pytest.param({}, {"m": 1}, 0, id="no schema"),
    ],
)
def test_they_are_told_and_a_parameter_that_is_forbidden_is_one(
    has_extra: bool, schema: dict[str, Any], arguments: dict[str, Any], problems: int
):
    del has_extra
    checks = ArgumentChecks({"f": Tool("f", "", schema)})
    assert len(checks.misfits("f", arguments)) == problems
    assert checks.misfits("f", arguments) == checks.misfits("f", arguments)


def test_other_rules_of_a_schema_take_jsonschema(has_extra: bool):
    assert len(ArgumentChecks({"f": Tool("f", "", OPEN)}).misfits("f", {"n": 10})) == has_extra


def test_an_unknown_tool_has_none_and_no_model_can_mend_a_schema():
    assert ArgumentChecks({}).misfits("f", {"n": "x"}) == []
    odd = Tool("f", "", {"type": "object", "properties": {"n": {"type": "string", "minLength": "x"}}})
    assert ArgumentChecks({"f": odd}).misfits("f", {"n": "x"}) == []


def test_too_deep_is_no_misfit():
    nested: dict[str, Any] = {}
    for _ in range(50_000):
        nested = {"n": nested}
    schema = {"type": "object", "properties": {"n": {"$ref": "#"}}}
    assert ArgumentChecks({"f": Tool("f", "", schema)}).misfits("f", nested) == []


def test_a_framework_s_class_may_accept_more_or_less_or_let_the_schema_decide():
    says: dict[object, list[str] | None] = {"one": [], "two": None, 3: ["too many"]}
    checks = ArgumentChecks({"f": Tool("f", "", OPEN)})
    found = [checks.misfits("f", {"n": n}, lambda _, arguments: says[arguments["n"]]) for n in says]
    assert [len(problems) for problems in found] == [0, 1, 1]
    assert found[2] == ["too many"]


def test_of_a_class_whose_validator_fails_nothing_is_known():
    class Failing:
        @classmethod
        def model_validate(cls, given: dict[str, Any]) -> None:
            raise KeyError(*given)

    assert class_problems(Failing, {"place": 1}) is None
