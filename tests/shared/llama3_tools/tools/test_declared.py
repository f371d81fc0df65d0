"""Tools are declared in any of their usual shapes, and what is handed out of a tool is no way to change it."""

from __future__ import annotations

import copy
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
    ("tools", "error", "message"),
    [
        (None, TypeError, "tools must be a list of tools, got NoneType: expected an OpenAI tool dict such as"),
        (DICT, TypeError, "tools must be a list of tools, got dict"),
        (["f"], TypeError, "tools[0] is a str"),
        ([DICT, print], TypeError, "tools[1] is a builtin_function_or_method"),
        ([{"description": "d"}], ToolDefinitionError, "tools[0]: no name"),
        ([{"function": 5}], ToolDefinitionError, "tools[0]['function'] is an int"),
        ([{"name": "f", "inputSchema": 5}], ToolDefinitionError, "tools[0]: the parameters of f are an int"),
        ([DICT, DICT], ToolDefinitionError, "tools[1]: the name 'f' is declared twice"),
    ],
)
def test_tools_of_the_wrong_form_are_one_clear_error(tools: Any, error: type[Exception], message: str):
    with pytest.raises(error) as raised:
        declare_tools(tools)
    assert str(raised.value).startswith(message)


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


def test_a_tool_is_copied_and_pickled():
    tool = Tool("f", "", SCHEMA)
    assert copy.copy(tool) == copy.deepcopy(tool) == tool
    assert pickle.loads(pickle.dumps(tool)) == tool  # noqa: S301 - our own bytes


def test_of_many_declared_tools_the_first_eight_are_named():
    tools = [{"name": name} for name in "abcdefghi"]
    (rejection,) = extract('{"name": "rm", "parameters": {}}', tools=tools).rejections
    assert rejection.detail == "'rm' is not a declared tool; declared: a, b, c, d, e, f, g, h"


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
