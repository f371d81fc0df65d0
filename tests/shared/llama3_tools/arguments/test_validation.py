"""What validation says, rule by rule; and what it does with schemas that are odd."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import pytest

from llama3_tools import ArgumentProblem, ProblemReason, ToolDefinitionError, coerce_arguments, validate_arguments
from llama3_tools.arguments import ArgumentValidator

KINDS = {
    "oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]},
        {"type": "object", "properties": {"kind": {"enum": ["b"]}, "n": {"type": "string"}}, "required": ["kind"]},
    ]
}
NESTED = {"anyOf": [KINDS, {"type": "null"}]}

NEST: dict[str, Any] = {}
for _ in range(300):
    NEST = {"x": NEST}

BOTH = [
    ({"type": "integer"}, "soon", "wrong_type $.x: expected integer, got"),
    ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, "b", 'not_in_enum $.x: expected "a" or null'),
    ({"anyOf": [False, {"type": "string"}]}, 5, "wrong_type $.x: expected string"),
    ({"$ref": "#/$defs/n", "enum": [1, 2]}, 3, "not_in_enum $.x: expected 1 or 2"),
    ({"required": ["a b"]}, {}, "missing_parameter $.x['a b']: missing"),
    (
        {"allOf": [{"properties": {"a": {}}}, {"required": ["a"], "properties": {"a": {"type": "integer"}}}]},
        {},
        "missing_parameter $.x.a: missing, expected integer",
    ),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1, "b": 1}, "unknown_parameter $.x.b: unknown"),
    ({"type": "array", "items": {"$ref": "#/$defs/n"}}, [1, "x"], "wrong_type $.x[1]: expected integer"),
    (KINDS, {"kind": "a", "n": "x"}, "wrong_type $.x.n: expected integer"),
    (KINDS, {"kind": "c"}, "no_alternative $.x: fits none of the alternatives; of the closest one, $.x.kind: expected"),
    (NESTED, {"kind": "b", "n": 5}, "wrong_type $.x.n: expected string"),
]

RULES = [
    ({"minimum": 1}, 0, "0 is less than the minimum of 1"),
    ({"maximum": 1}, 10**5000, "a number that is too large"),
    ({"allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/properties/x/low"}], "low": {"maximum": 1}}, 2, "maximum of 1"),
    ({"maxLength": 2}, "abc" * 999, "(maxLength 2)"),
    ({"pattern": "^a"}, "b", "'b' does not match '^a'"),
    ({"maxItems": 1}, [1, 2], "[1, 2] is too long (maxItems 1)"),
    ({"uniqueItems": True}, [1, 1], "twice"),
    ({"not": {"$ref": "#/$defs/n"}}, 5, "5 should not"),
    ({"oneOf": [{"type": "integer"}, {"minimum": 0}]}, 5, "5 is valid under each"),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "'b' is a dependency of 'a'"),
]


def whole(schema: object) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": schema}, "$defs": {"n": {"type": "integer"}}}


@pytest.mark.parametrize(("schema", "value", "message"), BOTH)
def test_validation_and_coercion_report_the_same(schema: object, value: object, message: str):
    (problem,) = validate_arguments({"x": value}, whole(schema))
    assert f"{problem.reason} {problem.message}".startswith(message)
    (coerced,) = coerce_arguments({"x": value}, whole(schema)).problems
    assert coerced == problem


@pytest.mark.parametrize(("schema", "value", "message"), RULES, ids=range(len(RULES)))
def test_other_rules_are_told_by_the_library(schema: object, value: object, message: str):
    (problem,) = validate_arguments({"x": value}, whole(schema))
    assert (problem.path, problem.reason) == ("$.x", ProblemReason.INVALID_VALUE)
    assert message in problem.message
    assert len(problem.message) < 350


SMALL = {"anyOf": [{"type": "integer", "maximum": 5}, {"type": "null"}]}
NAMED_KINDS = [
    {"properties": {"kind": {"const": kind}, "n": {"type": "integer"}, "s": {"pattern": f"^{kind}$"}}} for kind in "ab"
]
ALTERNATIVES = [
    (SMALL, 9, ["$.x: 9 is greater than the maximum of 5"]),
    ({"anyOf": [{"items": SMALL}, {"type": "null"}]}, [9, 1], ["$.x[0]: 9 is greater than the maximum of 5"]),
    ({"anyOf": NAMED_KINDS}, {"kind": "a", "s": "b"}, ["$.x.s: 'b' does not match '^a$'"]),
    (
        {"anyOf": NAMED_KINDS},
        {"kind": "a", "s": "c", "n": "?"},
        ['$.x.n: expected integer, got the string "?"', "$.x.s: 'c' does not match '^a$'"],
    ),
    (
        {"anyOf": [{"maximum": 1}, {"minimum": 9}]},
        5,
        ["$.x: fits none of the alternatives; of the closest one, $.x: 5 is greater than the maximum of 1"],
    ),
    ({"if": {}, "then": {"enum": [1, 2]}}, 5, ["$.x: expected 1 or 2, got the integer 5"]),
]


@pytest.mark.parametrize(("schema", "value", "messages"), ALTERNATIVES, ids=range(len(ALTERNATIVES)))
def test_of_alternatives_the_one_that_is_meant_is_told(schema: object, value: object, messages: list[str]):
    assert [problem.message for problem in validate_arguments({"x": value}, whole(schema))] == messages


@pytest.mark.parametrize(
    ("schema", "arguments", "messages"),
    [
        ({"required": ["a", "b"]}, {}, ["$.a: missing", "$.b: missing"]),
        (
            {"properties": {"n": {"type": "integer"}}, "dependentSchemas": {"n": {"required": ["b"]}}},
            {"n": "x"},
            ['$.n: expected integer, got the string "x"', "$.b: missing"],
        ),
        (
            {"additionalProperties": False, "patternProperties": {"^a": {}}},
            {"a": 1, "b": 1, "c": 1},
            ["$.b: unknown, expected none", "$.c: unknown, expected none"],
        ),
        (
            {"properties": {"a": {"type": "integer"}}, "required": ["b"]},
            {"a": "x"},
            ['$.a: expected integer, got the string "x"', "$.b: missing"],
        ),
        (
            {"properties": {"a": {"anyOf": [False, {"type": "string"}]}}},
            {"a": 1},
            ["$.a: expected string, got the integer 1"],
        ),
    ],
)
def test_all_that_is_wrong_is_reported_once(schema: dict[str, Any], arguments: dict[str, Any], messages: list[str]):
    assert [problem.message for problem in validate_arguments(arguments, schema)] == messages


@pytest.mark.parametrize(
    ("schema", "arguments", "place"),
    [
        ({"properties": {"a": {"properties": {"b": False}}}}, {"a": {"b": 1}}, "$.a.b"),
        ({"patternProperties": {"^b": False}}, {"a": 1, "b1": 1}, "$.b1"),
        ({"properties": {"a": {"items": False}}}, {"a": [1]}, "$.a[0]"),
        ({"properties": {"a": False}, "dependentSchemas": {"a": {"additionalProperties": False}}}, {"a": 1}, "$.a"),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"a": 1, "c": 1}, "$"),
        ({"unevaluatedProperties": {"type": "string"}}, {"a": 1, "c": "x"}, "$"),
    ],
)
def test_what_may_not_be_there_is_told_with_its_place(schema: dict[str, Any], arguments: dict[str, Any], place: str):
    assert [problem.path for problem in validate_arguments(arguments, schema)] == [place]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "#/$defs/nowhere"},
        {"allOf": [{"$ref": "other.json"}], "unevaluatedProperties": False, "type": "string"},
        {"type": "integer", "nullable": True},
    ],
)
def test_nothing_is_fetched_and_null_may_be_allowed(schema: object, monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", asked.append)
    value = "x" if isinstance(schema, dict) and "allOf" in schema else None
    assert validate_arguments({"x": value}, whole(schema)) == ()
    assert not asked


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "str"}, "type at properties.x"),
        ({"items": [{"type": "str"}]}, r"type at properties.x.items\[0\]"),
    ],
)
def test_a_schema_that_is_none_is_an_error(schema: object, place: str):
    with pytest.raises(ToolDefinitionError, match=rf"^no JSON Schema: .*{place}"):
        validate_arguments({}, whole(schema))


@pytest.mark.parametrize(
    "schema",
    [
        {"exclusiveMinimum": "1"},
        {"minLength": "a"},
        {"enum": 5},
        {"multipleOf": None},
    ],
)
def test_a_keyword_with_an_odd_value_restricts_nothing(schema: object):
    for value in (5, "x"):
        assert validate_arguments({"x": value}, whole(schema)) == ()


@pytest.mark.parametrize(
    ("schema", "arguments", "is_too_deep"),
    [
        ({"$ref": "#"}, {}, True),
        ({"additionalProperties": {"$ref": "#"}}, {}, False),
        ({"additionalProperties": {"$ref": "#"}}, NEST, True),
        ({"additionalProperties": {"$ref": "#"}}, NEST["x"]["x"], True),
    ],
    ids=range(4),
)
def test_what_has_no_end_is_a_problem_and_leaves_nothing_behind(
    schema: dict[str, Any], arguments: dict[str, Any], is_too_deep: bool
):
    message = "$: nested too deep to be checked"
    problem = ArgumentProblem("$", "object", arguments, ProblemReason.TOO_DEEP, message)
    assert validate_arguments(arguments, schema) == (problem,) * is_too_deep
    assert validate_arguments({"n": "x"}, {"properties": {"n": {"anyOf": [{"not": {"$ref": "#"}}, {}]}}}) == ()


@pytest.mark.parametrize(("references", "is_too_deep"), [(128, False), (129, True)])
def test_rules_are_followed_within_each_other_to_a_limit_in_any_thread(references: int, is_too_deep: bool):
    followed = {str(number): {"$ref": f"#/$defs/{number + 1}"} for number in range(1, references)}
    schema = {"$ref": "#/$defs/1", "$defs": {**followed, str(references): True}}
    with ThreadPoolExecutor(1) as pool:
        for problems in (validate_arguments({}, schema), pool.submit(validate_arguments, {}, schema).result()):
            assert len(problems) == is_too_deep


NO_PATTERNS = [r"^\p{L}+$", "a{99999999999}", "(" * 5000 + ")" * 5000]


@pytest.mark.parametrize("pattern", NO_PATTERNS, ids=range(len(NO_PATTERNS)))
def test_a_pattern_that_cannot_be_read_restricts_nothing(pattern: str):
    named = {"patternProperties": {pattern: {"type": "string"}}, "additionalProperties": False}
    schema = {"properties": {"x": {"pattern": pattern}, "y": named}}
    arguments = {"x": "1", "y": {"a": 1}}
    assert validate_arguments(arguments, schema) == ()
    assert coerce_arguments(arguments, schema).problems == ()


@pytest.mark.parametrize("pattern", NO_PATTERNS[:-1])
def test_nor_do_unevaluated_properties_then(pattern: str):
    schema = {"patternProperties": {pattern: {}}, "unevaluatedProperties": False}
    assert validate_arguments({"a": 1}, schema) == ()


@pytest.mark.parametrize(
    ("schema", "value", "places"),
    [
        ({"items": [{"type": "string"}], "additionalItems": {"type": "integer"}}, [1, "a"], ["$.x[0]", "$.x[1]"]),
        ({"items": [{"type": "string"}]}, ["a", 1], []),
        ({"items": {}, "additionalItems": False}, ["a", 1], []),
        ({"minimum": 1, "exclusiveMinimum": True}, 0, ["$.x"]),
        ({"maximum": 1, "exclusiveMaximum": True}, 1, []),
        ({"$id": "https://example.com/", "$ref": "http://["}, 1, []),
    ],
)
def test_schemas_of_older_drafts_are_read_as_far_as_they_go(schema: object, value: object, places: list[str]):
    problems = validate_arguments({"x": value}, whole(schema))
    assert [problem.path for problem in problems] == places


UNION: dict[str, Any] = {
    "anyOf": [
        {"properties": {"kind": {"const": kind}, "left": {"$ref": "#/$defs/u"}, "right": {"$ref": "#/$defs/u"}}}
        for kind in ("and", "or")
    ]
    + [{"properties": {"kind": {"const": "leaf"}, "n": {"type": "integer"}}}]
}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("leaf", ["x", 5])
def test_a_recursive_union_costs_no_more_than_its_values(keyword: str, leaf: object):
    """Tried anew for each alternative around it, a leaf would be looked at 2**24 times."""
    value: dict[str, Any] = {"kind": "leaf", "n": leaf}
    for _ in range(24):
        value = {"kind": "or", "left": value, "right": {"kind": "leaf", "n": 1}}
    schema = {"properties": {"x": {"$ref": "#/$defs/u"}}, "$defs": {"u": {keyword: UNION["anyOf"]}}}
    problems = validate_arguments({"x": value}, schema)
    wrong = [f"$.x{'.left' * 24}.n"] if leaf == "x" else []
    assert [problem.path for problem in problems] == wrong


def test_nor_does_one_whose_alternatives_look_alike():
    inner = {"properties": {"and": {"$ref": "#/$defs/F"}}}
    union = {"anyOf": [{**inner, "required": ["x"]}, {**inner, "required": ["y"]}]}
    value: dict[str, Any] = {}
    for _ in range(24):
        value = {"and": value}
    problems = validate_arguments({"f": value}, {"properties": {"f": {"$ref": "#/$defs/F"}}, "$defs": {"F": union}})
    assert problems[0].path == "$.f"


def test_a_value_that_stands_in_two_places_is_reported_in_both():
    value = {"kind": "leaf", "n": "x"}
    schema = {"properties": {name: {"$ref": "#/$defs/u"} for name in "ab"}, "$defs": {"u": UNION}}
    assert [problem.path for problem in validate_arguments({"a": value, "b": value}, schema)] == ["$.a.n", "$.b.n"]


@pytest.mark.parametrize("target", [5, [], None, {"type": "str"}, {"required": 5}, {"properties": [1]}])
def test_a_reference_to_what_is_no_schema_restricts_nothing(target: object):
    schema = {"properties": {"x": {"$ref": "#/odd"}, "y": {"type": "integer"}}, "odd": target}
    for value in ("x", {"a": 1}):
        (problem,) = validate_arguments({"x": value, "y": "1"}, schema)
        assert problem.path == "$.y"


def test_a_validator_remembers_no_values():
    values = ["1"]
    schema = {"properties": {"x": {"$ref": "#/$defs/list"}}, "$defs": {"list": {"maxItems": 1}}}
    validator = ArgumentValidator(schema)
    assert validator.validate({"x": values}) == ()
    values.append("2")
    assert len(validator.validate({"x": values})) == 1


@pytest.mark.parametrize(
    ("schema", "error", "message"),
    [
        (
            {"type": "function", "function": {"name": "f", "parameters": {}}},
            ToolDefinitionError,
            r'^this is a whole tool, not the schema of its arguments: pass its "parameters"$',
        ),
        (None, TypeError, 'schema is the "parameters" of a tool, a JSON Schema object, not None'),
        ({"properties": {1: {}}}, ToolDefinitionError, "no JSON Schema: a name at properties is 1, not a string"),
    ],
)
def test_what_is_no_schema_of_arguments_is_an_error(schema: Any, error: type[Exception], message: str):
    for use in (coerce_arguments, validate_arguments):
        with pytest.raises(error, match=message):
            use({}, schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {}, "name": "f", "parameters": {}},
        {"name": "f", "parameters": "none"},
        {"properties": {"name": {}}, "function": {"name": "f", "parameters": {}}},
        {"name": "f", "function": {"parameters": {}}},
        {"name": "f"},
    ],
)
def test_a_schema_with_a_name_of_its_own_is_no_tool(schema: dict[str, Any]):
    assert coerce_arguments({}, schema).problems == ()


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


def test_what_only_looks_like_it_stays_what_it_is() -> None:
    schema = {"properties": {"x": {"enum": [{"$schema": DRAFT_7}]}, "$schema": {"const": 1}}}
    assert validate_arguments({"x": {"$schema": DRAFT_7}, "$schema": 1}, schema) == ()
    assert len(validate_arguments({"x": {}, "$schema": 2}, schema)) == 2
