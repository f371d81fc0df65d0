"""Tools are declared in any of their usual shapes, and what is handed out of a tool is no way to change it."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from llama3_tools import (
    Extractor,
    Tool,
    ToolDefinitionError,
    declare_tools,
    extract,
    render_tool_prompt,
    response_json_schema,
    validate_arguments,
)
from llama3_tools.chat import kept_chat

KINDS = {"enum": [{"a": 1}, [1]]}
SCHEMA = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "kind": KINDS}}
DICT = {"name": "f", "parameters": SCHEMA}
KEYS = ("parameters", "input_schema", "inputSchema")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("wrapped", [True, False])
def test_the_schema_is_called_as_openai_anthropic_or_mcp_have_it(key: str, wrapped: bool):
    given = {"name": "f", "description": "F", key: SCHEMA, **dict.fromkeys(set(KEYS) - {key})}
    tool = {"type": "function", "function": given} if wrapped else given
    assert declare_tools([tool])["f"] == Tool("f", "F", SCHEMA)


@pytest.mark.parametrize(("one", "other"), [KEYS[:2], KEYS[1:], KEYS[::2]])
def test_a_tool_with_two_schemas_is_an_error_that_names_both(one: str, other: str):
    with pytest.raises(ToolDefinitionError) as error:
        declare_tools([{"name": "f", one: {}, other: SCHEMA}])
    assert str(error.value) == f"tools[0] has both {one} and {other}: give the schema of its arguments once"


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        (None, "tools must be a list of tools, got NoneType: expected an OpenAI tool dict such as"),
        (DICT, "tools must be a list of tools, got dict: expected an OpenAI tool dict such as"),
        ("f", "tools must be a list of tools, got str: expected an OpenAI tool dict such as"),
        (["f"], "tools[0] is a str: expected an OpenAI tool dict such as"),
        ([5], "tools[0] is an int: expected an OpenAI tool dict such as"),
    ],
)
def test_what_is_no_list_of_tools_is_named(tools: Any, message: str):
    with pytest.raises(TypeError) as error:
        declare_tools(tools)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ({"function": 5}, "tools[0]['function'] is an int: expected"),
        ({"name": "f", "inputSchema": type("Xml", (), {})()}, "tools[0]: the parameters of f are a Xml, not a JSON"),
        ({"name": "f", "inputSchema": type("Open", (), {})()}, "tools[0]: the parameters of f are an Open, not a JSON"),
        ({"name": "f", "inputSchema": 5}, "tools[0]: the parameters of f are an int, not a JSON Schema object"),
    ],
)
def test_a_type_has_its_article(tool: dict[str, Any], message: str):
    with pytest.raises(ToolDefinitionError) as error:
        declare_tools([tool])
    assert str(error.value).startswith(message)


def test_what_a_tool_hands_out_can_be_changed_and_the_tool_stays():
    tool = kept_chat([DICT]).tools["f"]
    for schema in (tool.to_openai()["function"]["parameters"], tool.arguments_schema, copy.deepcopy(tool.parameters)):
        schema["required"].append("kind")
        schema["properties"]["kind"]["enum"][0]["a"] = 2
        schema["properties"].clear()
    Tool("now").arguments_schema["properties"]["city"] = {}
    shown = response_json_schema([tool])["properties"]["tool_call"]["anyOf"][0]["properties"]["arguments"]
    shown["required"].append("kind")
    assert kept_chat([DICT]).tools["f"].parameters == SCHEMA
    assert kept_chat([DICT]).prompt() == render_tool_prompt([DICT])
    assert Tool("now").arguments_schema == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("place", "method", "arguments"),
    [
        pytest.param("properties", "clear", [], id="clear of properties"),
        pytest.param("properties", "pop", ["city"], id="pop of properties"),
        pytest.param("properties", "popitem", [], id="popitem of properties"),
        pytest.param("properties", "setdefault", ["days", {}], id="setdefault of properties"),
        pytest.param("properties", "update", [{"days": {}}], id="update of properties"),
        pytest.param("properties", "__delitem__", ["city"], id="__delitem__ of properties"),
        pytest.param("properties", "__ior__", [{}], id="__ior__ of properties"),
        pytest.param("properties", "__setitem__", ["days", {}], id="__setitem__ of properties"),
        pytest.param("required", "append", ["kind"], id="append of required"),
        pytest.param("required", "clear", [], id="clear of required"),
        pytest.param("required", "extend", [["kind"]], id="extend of required"),
        pytest.param("required", "insert", [0, "kind"], id="insert of required"),
        pytest.param("required", "pop", [], id="pop of required"),
        pytest.param("required", "remove", ["city"], id="remove of required"),
        pytest.param("required", "reverse", [], id="reverse of required"),
        pytest.param("required", "sort", [], id="sort of required"),
        pytest.param("required", "__delitem__", [0], id="__delitem__ of required"),
        pytest.param("required", "__iadd__", [["kind"]], id="__iadd__ of required"),
        pytest.param("required", "__imul__", [2], id="__imul__ of required"),
        pytest.param("required", "__setitem__", [0, "kind"], id="__setitem__ of required"),
    ],
)
def test_the_schema_itself_cannot_be_changed(place: str, method: str, arguments: list[Any]):
    extractor = Extractor(tools=[DICT])
    tools = [(each.tools or {})["f"] for each in (extractor, copy.copy(extractor), copy.deepcopy(extractor))]
    for tool in (*tools, pickle.loads(pickle.dumps(tools[0])), copy.copy(tools[0]), copy.deepcopy(tools[0])):  # noqa: S301 - our own bytes
        with pytest.raises(TypeError, match=r"this is shared, and cannot be changed: change a copy\.deepcopy\(\) of"):
            getattr(tool.parameters[place], method)(*arguments)
        assert tool.parameters == SCHEMA


def test_of_many_declared_tools_the_first_eight_are_named():
    tools = [{"name": name} for name in "abcdefghi"]
    (rejection,) = extract('{"name": "rm", "parameters": {}}', tools=tools).rejections
    assert rejection.detail == "'rm' is not a declared tool; declared: a, b, c, d, e, f, g, h"


def test_a_tuple_stays_one():
    schema = {"properties": {"size": {"enum": ("S", ["M"])}}}
    tool = Tool("f", "", schema)
    assert tool.parameters == tool.arguments_schema == schema
    with pytest.raises(TypeError, match=r"^this is shared, and cannot be changed: change a .+ of it$"):
        tool.parameters["properties"]["size"]["enum"][1].append("L")
    tool.arguments_schema["properties"]["size"]["enum"][1].append("L")
    assert tool.parameters == schema


def test_it_is_a_schema_like_any_other():
    tool = Tool("f", "", SCHEMA)
    assert json.dumps(tool.parameters) == json.dumps(SCHEMA)
    assert (repr(tool.parameters), copy.copy(tool.parameters)) == (repr(SCHEMA), SCHEMA)
    for kind, fits in (({"a": 1}, True), ([1], True), ([2], False), ("[1]", False)):
        assert (not validate_arguments({"city": "", "kind": kind}, tool.parameters)) == fits
    text = '{"name": "f", "parameters": {"city": "", "kind": "[1]"}}'
    (call,) = extract(text, tools=[tool], coerce_arguments=True).tool_calls
    assert (call.arguments, call.problems) == ({"city": "", "kind": [1]}, ())


ODD: list[Any] = [
    None,
    True,
    5,
    "x",
    "#",
    "#/properties/a",
    [],
    [1],
    ["a"],
    {},
    {"a": 1},
    {"a": {}},
    {1: {}},
    [{2: {}}],
]


@pytest.mark.parametrize(
    "keyword",
    [
        *("type", "required", "enum", "const", "default", "pattern", "minimum", "nullable", "discriminator"),
        *("properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties"),
        *("items", "prefixItems", "additionalItems", "contains", "anyOf", "oneOf", "allOf", "not", "if"),
        *("$ref", "$dynamicRef", "$defs", "$id", "dependentRequired", "dependentSchemas", "dependencies"),
    ],
)
def test_nothing_of_a_declared_tool_makes_reading_raise(keyword: str):
    places: list[Callable[[Any], dict[str, Any]]] = [
        lambda odd: {keyword: odd},
        lambda odd: {"properties": {"a": {"type": "object", keyword: odd}}},
        lambda odd: {"properties": {"a": {"anyOf": [{"type": "array", keyword: odd}, {"$ref": "#"}]}}},
        lambda odd: {"$ref": "#/x", "x": {keyword: odd}},  # no place for a schema, and so not looked at
    ]
    outputs = [f'{{"name": "f", "parameters": {written}}}' for written in ("{}", '{"a": "[1]"}', '{"a": {"a": "1"}}')]
    for parameters in (place(odd) for place in places for odd in ODD):
        try:
            extractor = Extractor(tools=[{"name": "f", "parameters": parameters}], coerce_arguments=True)
        except ToolDefinitionError:
            continue
        for output in (*outputs, "[f(a='1')]", "[f('1', 2)]", "<function=f>{}</function>"):
            extraction = extractor.extract(output)
            assert extraction.tools_called or extraction.rejections, (parameters, output)
