"""What coercion makes of a value, by its schema; what it leaves; and what it says about both."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from llama3_tools import (
    ArgumentChange,
    ArgumentProblem,
    Coercion,
    ProblemReason,
    coerce_arguments,
    validate_arguments,
)

STRINGS = {"type": "array", "items": {"type": "string"}}
INTEGERS = {"type": "array", "items": {"type": "integer"}}
PLACE = {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}}, "required": ["city"]}
OPTIONAL = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
TREE = {
    "type": "object",
    "properties": {"v": {"type": "number"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
}
KINDS = {
    "oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]},
        {"type": "object", "properties": {"kind": {"enum": ["b"]}, "n": {"type": "string"}}, "required": ["kind"]},
    ]
}
LINE = {"type": "array", "items": {"$ref": "#/$defs/Point"}}
DEFS = {
    "Tree": TREE,
    "Place": PLACE,
    "Line": LINE,
    "Point": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
    "a/b ~": {"type": "integer"},
    "Loop": {"$ref": "#/$defs/Loop"},
    "Ping": {"allOf": [{"$ref": "#/$defs/Pong"}]},
    "Pong": {"anyOf": [{"$ref": "#/$defs/Ping"}, {"type": "integer"}]},
}


def coerce(value: object, schema: object) -> Coercion:
    """Coerce one argument, `x`, and see that a second coercion leaves the result alone."""
    whole: dict[str, Any] = {"type": "object", "properties": {"x": schema}, "$defs": DEFS}
    given = {"x": value}
    before = deepcopy(given)
    coercion = coerce_arguments(given, whole)
    assert given == before
    assert coerce_arguments(coercion.arguments, whole).changes == ()
    return coercion


BARE = [
    *("a", "a, b", "it's 5 o'clock, [sic]", '"a"', '"It\'s [sic]"', "- a", "-a\n-b", "• a", "Buy:\n- milk\n- eggs"),
    *(
        "1. FC Köln",
        "1. FC Köln\nHertha BSC",
        "2024. a\n2025. b",
        "1.5\n2.5",
        "- a\nb\n- c",
        "``a``",
        "'a [b]'",
        '"a" b',
    ),
]
CHANGED = [
    # numbers
    ({"type": "integer"}, " -5\n", -5),
    ({"type": "integer"}, "5.0", 5),
    ({"type": "integer"}, "1e23", 10**23),
    ({"type": "integer"}, "12345678901234567891.0", 12345678901234567891),
    ({"type": "integer"}, "5".ljust(399), 5),
    ({"type": "number"}, "5", 5),
    ({"type": "number"}, "2.50", 2.5),
    ({"type": "number"}, "1E-2", 0.01),
    ({"type": ["integer", "boolean"]}, "7", 7),
    # booleans
    ({"type": "boolean"}, "TRUE ", True),
    ({"type": "boolean"}, "false".ljust(399), False),
    # null
    *((OPTIONAL, text, None) for text in ("", " ", "None", " null\n")),
    ({"type": ["integer", "null"]}, "None", None),
    ({"type": "integer", "nullable": True}, "null", None),
    ({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, "None", None),
    # lists and objects, as JSON and as Python
    (STRINGS, '["a", "b"]', ["a", "b"]),
    (STRINGS, " [] ", []),
    (STRINGS, "('a',)", ["a"]),
    (INTEGERS, " (1, '2',) ", [1, 2]),
    ({"type": "array", "items": INTEGERS}, "[(1,), {2}]", [[1], [2]]),
    (PLACE, "{'city': 'Bonn'}", {"city": "Bonn"}),
    ({"type": "array"}, "[True, None, {'a': 1.5}]", [True, None, {"a": 1.5}]),
    ({"type": "array", "items": PLACE}, "[{'city': 'Bonn', 'zip': '1'}]", [{"city": "Bonn", "zip": 1}]),
    # inside of lists and objects
    (INTEGERS, ["1", 2, "3"], [1, 2, 3]),
    (PLACE, {"city": "Bonn", "zip": "1"}, {"city": "Bonn", "zip": 1}),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": "1"}, {"a": 1}),
    (
        {"type": "object", "patternProperties": {"^n_": {"type": "integer"}}},
        {"n_a": "1", "b": "1"},
        {"n_a": 1, "b": "1"},
    ),
    ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, ["1", "1", "1"], ["1", 1, "1"]),
    (
        {"type": "array", "items": [{"type": "integer"}], "additionalItems": {"type": "boolean"}},
        ["1", "true"],
        [1, True],
    ),
    ({"type": "array", "items": INTEGERS}, ["[1]", ["2"]], [[1], [2]]),
    # a bare value for an array
    *((STRINGS, text, [text]) for text in BARE),
    ({"anyOf": [{"type": "array", "items": PLACE}, {"type": "null"}]}, '{"city": "Bonn"}', [{"city": "Bonn"}]),
    (INTEGERS, 5, [5]),
    ({"type": "array"}, "light", ["light"]),
    ({"type": "array", "items": PLACE}, {"city": "Bonn"}, [{"city": "Bonn"}]),
    ({"type": ["array", "null"], "items": {"type": "string"}}, "None", None),
    ({"anyOf": [STRINGS, {"type": "integer"}]}, "5", 5),
    ({"anyOf": [STRINGS, {"const": "all"}]}, "a", ["a"]),
    # enums and constants
    ({"enum": ["celsius", "kelvin"]}, "Celsius ", "celsius"),
    ({"const": 2.5}, "2.5", 2.5),
    ({"type": "array", "items": {"enum": ["light"]}}, "Light", ["light"]),
    ({"type": "integer", "enum": [1, 2, "a"], "allOf": [{"enum": [2, 3]}]}, "2", 2),
    # references and combinations
    ({"$ref": "#/$defs/a~1b%20~0"}, "5", 5),
    ({"anyOf": [{"type": "integer"}, {"$ref": "#/properties/x/anyOf/0"}]}, "5", 5),
    ({"$ref": "#/$defs/Place", "description": "where"}, "{'city': 'Bonn', 'zip': '1'}", {"city": "Bonn", "zip": 1}),
    ({"allOf": [{"$ref": "#/$defs/Place"}], "default": {}}, {"city": "Bonn", "zip": "1"}, {"city": "Bonn", "zip": 1}),
    (
        {
            "allOf": [
                {"properties": {"a": {"type": "integer"}, "b": {"type": "number"}}},
                {"properties": {"a": {"type": "number"}, "b": {"type": "integer"}}},
            ]
        },
        {"a": "5.0", "b": "5.0"},
        {"a": 5, "b": 5},
    ),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        {"a": "1"},
        {"a": 1},
    ),
    (
        {"$ref": "#/$defs/Tree"},
        {"kids": [{"v": "1", "kids": "[{'v': '2'}]"}]},
        {"kids": [{"v": 1, "kids": [{"v": 2}]}]},
    ),
    (KINDS, {"kind": "a", "n": "1"}, {"kind": "a", "n": 1}),
    (KINDS, "{'kind': 'b', 'n': '1'}", {"kind": "b", "n": "1"}),
    (
        {"type": "array", "items": KINDS},
        [{"kind": "a", "n": "1"}, {"kind": "b", "n": "1"}],
        [{"kind": "a", "n": 1}, {"kind": "b", "n": "1"}],
    ),
]


@pytest.mark.parametrize(("schema", "value", "expected"), CHANGED)
def test_a_value_is_read_as_what_is_declared(schema: object, value: object, expected: object):
    coercion = coerce(value, schema)
    assert repr(coercion.arguments) == repr({"x": expected})  # 1 is neither true nor 1.0 here
    assert coercion.changes
    assert coercion.problems == ()


LEFT_ALONE = [
    ({"type": "string"}, "null"),
    ({"type": ["string", "null"]}, ""),
    ({"type": ["string", "integer"]}, "10"),
    ({"anyOf": [STRINGS, {"type": "string"}]}, "['a']"),
    ({"anyOf": [{"type": "string", "format": "date"}, {"type": "integer"}]}, "10"),
    ({"type": "integer"}, 5.0),
    ({"type": "number"}, 5),
    ({"enum": ["a", "A"]}, "A"),
    ({"enum": [1]}, 1.0),
    ({"properties": {"a": {"type": "integer"}}}, "any string"),
    (KINDS, {"kind": "b", "n": "1"}),
    ({"anyOf": [{"properties": {"v": STRINGS}}, {"properties": {"v": INTEGERS}}]}, {"v": [1]}),
    ({}, "['a']"),
    (True, "5"),
    ({"items": [{"type": "string"}]}, ["a", 5]),
    # what is odd, remote or endless restricts nothing
    ({"type": "str"}, "5"),
    ({"type": ["integer", "any"]}, "5"),
    ({"type": []}, "5"),
    ("string", "5"),
    (None, "5"),
    ({"$ref": "https://example.com/place.json"}, "5"),
    ({"$ref": "#/$defs/Nowhere"}, "5"),
    ({"$ref": "#place"}, "5"),
    ({"$ref": 5}, "5"),
    ({"$ref": "#/$defs/Loop"}, "5"),
    ({"$ref": "#/$defs/Ping"}, "5"),
    ({"$id": "https://example.com/", "type": "integer"}, "5"),
    ({"anyOf": "integer", "allOf": {}, "oneOf": [], "enum": "a"}, "5"),
    ({"type": "object", "patternProperties": {"(": {"type": "integer"}}, "properties": []}, {"a": "5"}),
    ({"type": "object", "required": "a", "additionalProperties": "b"}, {"a": "5"}),
    ({"type": "object", "properties": {}, "if": {}, "then": {"properties": {"a": {}}}}, {"a": "5"}),
    ({"type": "object", "properties": {}, "unevaluatedProperties": {"type": "string"}}, {"a": "5"}),
]


@pytest.mark.parametrize(("schema", "value"), LEFT_ALONE)
def test_a_value_that_fits_is_left_alone(schema: object, value: object):
    coercion = coerce(value, schema)
    assert coercion.arguments["x"] is value
    assert (coercion.changes, coercion.problems) == ((), ())


def levels(number: int) -> object:
    return {"allOf": [levels(number - 1)]} if number else {"type": "integer"}


@pytest.mark.parametrize(
    ("most", "schema"),
    [
        (64, levels),
        (998, lambda number: {"allOf": [*[{}] * number, {"type": "integer"}]}),
        (128, lambda number: {"anyOf": [{"enum": [n]} for n in range(number)]}),
    ],
)
def test_a_schema_is_followed_to_a_limit_and_what_is_beyond_restricts_nothing(
    most: int, schema: Callable[[int], object]
):
    assert coerce("5", schema(most)).arguments == {"x": 5}
    assert coerce("5", schema(most + 1)).arguments == {"x": "5"}


BROKEN_LISTS = [
    *("['a', 'b'", '["a", "b"', "['a', 'b'].", " ['a'", "('a', 'b'", "('a')", "(a, b)", "[", "{", "[a, b]"),
    *('"a", "b"', "'a', 'b'", '"a" , "b', "```['a']```", "```json\n['a']\n```", "{a, b}", "{'a': 1}"),
    *('"[1, 2]"', "'[1, 2]'", ' " [1"', "\"{'a': 1}\"", r'"[\"a\", \"b\"]"'),
    *("- a\n- b", "* a\r\n* b", "+ a\n\n  + b\n+ c", "1. a\n2. b", "10) a\n11)\tb", "-\ta, b\n- c", "• a\n• b"),
]
NO_INTEGERS = [
    *(
        "+5",
        ".5",
        "5.",
        "0x1",
        "5 km",
        "1e-1",
        "none",
        "soon",
        "2.5",
        "5.00000000000000000001",
        "4503599627370497.25",
        "9007199254740993.5",
        "05",
        "1_000",
        "٣",
        "",
    ),
    *("1e-400", "1e-9999999999999999999", "5".ljust(400), "[" * 127 + "]" * 127),
    *(True, None, [5], {}, float("nan"), b"5"),
]
WRONG_TYPES: list[tuple[object, list[object]]] = [
    ({"type": "integer"}, [*NO_INTEGERS]),
    ({"type": "number"}, ["1e999", "NaN", "Infinity"]),
    ({"type": "boolean"}, ["true".ljust(400), "true.", "yes", 1]),
    ({"type": "string"}, [5]),
    (False, [5]),
    (OPTIONAL, ["soon", "NULL", "null.", "-"]),
    (STRINGS, [*BROKEN_LISTS, "", "None", None, 5]),
    ({"type": "array"}, [None, b"5", '{"a": 1}', '[{"a": {"b": 1, "b": 1}}]', "[__import__('os')]", "[1] [2]", "[1}"]),
    ({"type": "array"}, ["['a' 'b']", "[NaN]", '["\\ud800"]']),
    ({"type": "array", "items": OPTIONAL}, ["x"]),
    ({"type": "array", "prefixItems": [True]}, ["x"]),
    (PLACE, ["Bonn", "{'a', 'b'}", '{"city": "Bonn", "city": "Rome"}']),
    ({"$ref": "#/$defs/Line"}, [None]),
    ({"enum": [1, 2]}, [True]),
]
NOT_IN_ENUMS = [
    ({"enum": ["a", "A"]}, " a "),
    ({"enum": ["on", "off", None]}, "up"),
    ({"const": [1]}, [1, 2]),
    ({"const": {"a": 1}}, {"b": 1}),
    ({"const": {"a": [1]}}, {"a": [True]}),
]


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        *((schema, value, "wrong_type") for schema, values in WRONG_TYPES for value in values),
        *((schema, value, "not_in_enum") for schema, value in NOT_IN_ENUMS),
        (KINDS, {"kind": "c"}, "no_alternative"),
    ],
)
def test_what_cannot_be_read_stays_and_is_reported(schema: object, value: object, reason: str):
    coercion = coerce(value, schema)
    assert coercion.arguments["x"] is value
    assert coercion.changes == ()
    (problem,) = coercion.problems
    assert (problem.reason.value, problem.path, problem.value is value) == (reason, "$.x", True)
    assert len(problem.message) < 300


@pytest.mark.parametrize(
    ("schema", "value", "arguments", "problems"),
    [
        pytest.param(
            STRINGS,
            "[[], ['a']]",
            [[], ["a"]],
            ["$.x[0]: expected string, got an empty array", "$.x[1]: expected string, got an array of 1"],
            id="lists in a string",
        ),
        pytest.param(
            INTEGERS, ["1", "one"], [1, "one"], ['$.x[1]: expected integer, got the string "one"'], id="an item"
        ),
        pytest.param(
            PLACE,
            "{'zip': 'x'}",
            {"zip": "x"},
            ['$.x.zip: expected integer, got the string "x"', "$.x.city: missing, expected string"],
            id="an object in a string",
        ),
        pytest.param(
            PLACE | {"required": ["land"]}, {"zip": "1"}, {"zip": 1}, ["$.x.land: missing"], id="a missing argument"
        ),
        pytest.param(
            {"anyOf": [PLACE, {"type": "null"}]},
            {"city": 5, "zip": "1"},
            {"city": 5, "zip": 1},
            ["$.x.city: expected string, got the integer 5"],
            id="an alternative",
        ),
        pytest.param(
            KINDS,
            {"kind": "A", "n": "x"},
            {"kind": "a", "n": "x"},
            ['$.x.n: expected integer, got the string "x"'],
            id="a kind",
        ),
    ],
)
def test_what_fits_inside_is_kept_and_the_rest_is_reported_where_it_is(
    schema: object, value: object, arguments: object, problems: list[str]
):
    coercion = coerce(value, schema)
    assert repr(coercion.arguments) == repr({"x": arguments})
    assert coercion.changes
    assert [problem.message for problem in coercion.problems] == problems


def test_an_item_is_not_put_into_a_list_of_its_own():
    coercion = coerce([5], {"type": "array", "items": INTEGERS})
    assert coercion.changes == ()
    assert [problem.message for problem in coercion.problems] == [
        "$.x[0]: expected array of integer, got the integer 5"
    ]


def test_a_change_says_what_was_there_and_what_is_there_now():
    places = {"type": "array", "items": PLACE}
    schema = {"properties": {"labels": STRINGS, "days": INTEGERS, "hours": INTEGERS, "places": places}}
    given = {"labels": "['a']", "days": "['1']", "hours": 5, "places": [{"city": "Bonn", "zip": "1"}]}
    assert coerce_arguments(given, schema).changes == (
        ArgumentChange("$.labels", "array of string", "['a']", ["a"]),
        ArgumentChange("$.days", "array of integer", "['1']", [1]),
        ArgumentChange("$.hours", "array of integer", 5, [5]),
        ArgumentChange("$.places[0].zip", "integer", "1", 1),
    )


UNKNOWN = [
    ({"properties": {"a": {}}}, ["$.b: unknown, expected only a"]),
    ({"properties": {}}, ["$.a: unknown, expected none", "$.b: unknown, expected none"]),
    ({"properties": {"a": {}}, "additionalProperties": False}, ["$.b: unknown, expected only a"]),
    ({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, []),
    (
        {"allOf": [{"properties": {"a": {}}, "additionalProperties": False}, {"properties": {"b": {}}}]},
        ["$.b: unknown, expected only a, b"],
    ),
    ({"properties": {"a": {}}, "patternProperties": {"^b": {}}}, []),
    ({"properties": {"a": {}}, "additionalProperties": True}, []),
    ({"properties": {"a": {}}, "$dynamicRef": "#x"}, []),
    ({"properties": {"a": {}}, "$recursiveRef": "#"}, []),
    ({"properties": {"a": {}}, "dependentSchemas": {"a": {"properties": {"b": {}}}}}, []),
    ({"properties": {"a": {}}, "if": {}, "then": {"properties": {"b": {}}}}, []),
    ({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}, []),
    ({"properties": {"a": {}}, "unevaluatedProperties": False}, ["$.b: unknown, expected only a"]),
    ({"type": "object"}, []),
    ({}, []),
]


@pytest.mark.parametrize(("schema", "problems"), UNKNOWN)
def test_unknown_parameters_are_kept_and_reported_where_the_schema_is_no_open_one(
    schema: dict[str, Any], problems: list[str]
):
    arguments = {"a": 1, "b": 2}
    coercion = coerce_arguments(arguments, schema)
    assert coercion.arguments is arguments
    assert [problem.message for problem in coercion.problems] == problems
    assert {problem.reason for problem in coercion.problems} <= {ProblemReason.UNKNOWN_PARAMETER}


def test_missing_parameters_are_reported_and_no_default_is_filled_in():
    schema = {"properties": {"a": {"type": "integer", "default": 5}, "b": {}}, "required": ["a", "b", "c", 5]}
    coercion = coerce_arguments({}, schema)
    assert coercion.arguments == {}
    assert [(problem.path, problem.reason, problem.declared, problem.value) for problem in coercion.problems] == [
        ("$.a", ProblemReason.MISSING_PARAMETER, "integer", None),
        ("$.b", ProblemReason.MISSING_PARAMETER, "anything", None),
        ("$.c", ProblemReason.MISSING_PARAMETER, "anything", None),
    ]


def an_object(*required: str, **properties: str) -> dict[str, Any]:
    found = {name: {"type": kind} for name, kind in properties.items()}
    return {"type": "object", "properties": found, "required": list(required)}


@pytest.mark.parametrize(
    ("alternatives", "value", "coerced", "messages"),
    [
        # what fits as it is comes first, be it with unknown names
        ([an_object(a="integer"), an_object(b="string")], {"a": "1"}, {"a": "1"}, ["$.x.a: unknown, expected only b"]),
        # of those, the one that knows the most
        (
            [an_object(a="integer"), an_object(a="integer", b="integer")],
            {"a": 1, "b": 2, "c": 3},
            {"a": 1, "b": 2, "c": 3},
            ["$.x.c: unknown, expected only a, b"],
        ),
        # of those that can be made to fit, the one that knows the most
        (
            [an_object("a", a="integer"), an_object("a", a="integer", b="string", c="integer")],
            {"a": "1", "b": "2", "c": "3"},
            {"a": 1, "b": "2", "c": 3},
            [],
        ),
        # then the one with the fewest changes
        (
            [an_object("a", a="integer", b="integer"), an_object("a", a="integer", b="string")],
            {"a": "1", "b": "2"},
            {"a": 1, "b": "2"},
            [],
        ),
        # text that is read is one change, with what changes inside it
        (
            [{"type": "object", "properties": {"v": items}} for items in (INTEGERS, STRINGS)],
            {"v": "['1']"},
            {"v": [1]},
            [],
        ),
        (
            [{"type": "object", "properties": {"v": items}} for items in (STRINGS, INTEGERS)],
            {"v": "['1']"},
            {"v": ["1"]},
            [],
        ),
        # and of those that cannot, the one with the fewest failures is told
        (
            [an_object("c", "d", a="integer"), an_object(a="integer")],
            {"a": "x"},
            {"a": "x"},
            ['$.x: fits none of the alternatives; of the closest one, $.x.a: expected integer, got the string "x"'],
        ),
        (
            [an_object("c", "d", e="integer"), an_object("e", e="integer")],
            {},
            {},
            ["$.x: fits none of the alternatives; of the closest one, $.x.e: missing, expected integer"],
        ),
    ],
)
def test_of_alternatives_the_one_that_knows_most_and_changes_least_is_taken(
    alternatives: list[Any], value: object, coerced: object, messages: list[str]
):
    coercion = coerce(value, {"anyOf": alternatives})
    assert coercion.arguments == {"x": coerced}
    assert [problem.message for problem in coercion.problems] == messages


@pytest.mark.parametrize(
    ("name", "path"), [("a_1", "$.a_1"), ("first name", "$['first name']"), ("it's\\", r"$['it\'s\\']"), ("", "$['']")]
)
def test_a_path_is_a_json_path(name: str, path: str):
    (problem,) = coerce_arguments({name: "x"}, {"properties": {name: {"type": "integer"}}}).problems
    assert problem.path == path


def test_the_same_text_twice_becomes_two_lists():
    text = "['1']"
    coercion = coerce_arguments({"a": text, "b": text}, {"properties": {"a": INTEGERS, "b": INTEGERS}})
    assert coercion.arguments == {"a": [1], "b": [1]}
    assert coercion.arguments["a"] is not coercion.arguments["b"]


def test_what_does_not_change_is_shared_with_what_was_given():
    given = {"a": "5", "b": [1]}
    coercion = coerce_arguments(given, {"properties": {"a": {"type": "integer"}, "b": INTEGERS}})
    assert coercion.arguments == {"a": 5, "b": [1]}
    assert coercion.arguments["b"] is given["b"]


@pytest.mark.parametrize(
    ("schema", "declared", "reason", "message"),
    [
        pytest.param(
            {"type": "array"},
            "array",
            ProblemReason.WRONG_TYPE,
            "expected array, got an object of 1",
            id="another type",
        ),
        pytest.param(
            {"properties": {"a": {"type": "array"}}, "const": {"a": "x"}},
            '{"a": "x"}',
            ProblemReason.NOT_IN_ENUM,
            'the schema takes {"a": "x"} alone, and that does not fit its own parts',
            id="a value that does not fit its own parts",
        ),
        pytest.param(
            {"anyOf": [{"type": "object", "required": ["b"]}, {"type": "object", "required": ["c"]}]},
            "object",
            ProblemReason.NO_ALTERNATIVE,
            "fits none of the alternatives; of the closest one, $.b: missing",
            id="no alternative",
        ),
    ],
)
def test_arguments_that_do_not_fit_as_a_whole_stay_and_are_a_problem(
    schema: dict[str, Any], declared: str, reason: ProblemReason, message: str
):
    given = {"a": "x"}
    problem = ArgumentProblem("$", declared, given, reason, f"$: {message}")
    assert coerce_arguments(given, schema) == Coercion({"a": "x"}, (), (problem,))


@pytest.mark.parametrize(("arguments", "kind"), [(None, "NoneType"), ("{}", "str"), ([1], "list")])
def test_arguments_are_a_dict(arguments: object, kind: str):
    with pytest.raises(TypeError, match=f"arguments must be a dict, got {kind}"):
        coerce_arguments(arguments, {})  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match=f"arguments must be a dict, got {kind}"):
        validate_arguments(arguments, {})  # type: ignore[arg-type]  # on purpose


def test_a_coercion_can_be_hashed_pickled_and_compared():
    coercion = coerce_arguments(
        {"a": "x", "b": "1"}, {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    )
    assert pickle.loads(pickle.dumps(coercion)) == coercion  # noqa: S301 - our own bytes
    assert len({coercion, deepcopy(coercion)}) == 1
    assert f"{coercion.problems[0].reason}" == json.loads(json.dumps(coercion.problems[0].reason)) == "wrong_type"
