"""The strict response format, asked for: its JSON Schema and its prompt."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings

from generated_schemas import arguments, roots
from llama3_tools import (
    Tool,
    ToolDefinitionError,
    parse_response,
    render_response_prompt,
    render_tool_prompt,
    response_json_schema,
)
from llama3_tools.tools.schema_check import WITH_NAMED, WITH_ONE, WITH_SEVERAL

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CLOCK = {"name": "clock"}
TOOLS = [WEATHER, CLOCK]
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
REFERENCE = {"$ref": "#/$defs/X"}


def one(call: str) -> str:
    return f'{{"message": "", "tool_call": {call}}}'


def of(parameters: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Return the schema for a tool of these parameters that has to be called."""
    return response_json_schema([{"name": "f", "parameters": parameters}], tool_choice="f", **options)


def arguments_of(schema: dict[str, Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = schema["properties"]["tool_call"]["properties"]["arguments"]
    return arguments


def takes(schema: dict[str, Any], arguments: object, message: str = "") -> bool:
    call = {"name": "f", "arguments": arguments}
    return jsonschema.Draft202012Validator(schema).is_valid({"message": message, "tool_call": call})


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(schema=roots, made=arguments)
def test_it_takes_what_the_tools_own_schema_takes_which_can_be_read(schema: dict[str, Any], made: dict[str, Any]):
    try:
        whole = of(schema)
        expected = jsonschema.Draft202012Validator(schema).is_valid(made)
        assert takes(whole, made) == expected
    except (ToolDefinitionError, RecursionError):  # a reference to nothing, or one to itself
        assume(False)  # noqa: FBT003 (its one parameter)
    if expected:
        text = one(json.dumps({"name": "f", "arguments": made}))
        (call,) = parse_response(text, tools=[Tool("f", "", schema)]).tool_calls
        assert call.arguments == made


class TestSchema:
    @pytest.mark.parametrize("text", [one("null"), one(CALL), one('{"name": "clock", "arguments": {}}')])
    def test_it_takes_what_strict_takes(self, text: str):
        jsonschema.validate(json.loads(text), response_json_schema(TOOLS))

    @pytest.mark.parametrize(
        "text",
        [
            CALL,
            f'{{"message": "Hi", "tool_calls": [{CALL}]}}',
            '{"message": "Hi"}',
            '{"message": "Hi", "tool_call": null, "more": 1}',
            one('{"name": "rm", "arguments": {}}'),
            one('{"name": "clock", "arguments": {"city": "Paris"}}'),
            one('{"name": "get_weather", "arguments": {}}'),
            one('{"name": "get_weather", "arguments": {"city": 5}}'),
        ],
    )
    def test_it_takes_nothing_else_and_each_tool_its_own_arguments_alone(self, text: str):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(text), response_json_schema(TOOLS))

    @pytest.mark.parametrize(
        ("options", "taken", "refused"),
        [
            pytest.param({"multiple": True}, ["[]", f"[{CALL}, {CALL}]"], ["null", CALL, "[1]"], id="several calls"),
            pytest.param({"multiple": True, "tool_choice": "required"}, [f"[{CALL}]"], ["[]"], id="one call or more"),
            pytest.param({"tool_choice": "required"}, [CALL], ["null"], id="one call"),
            pytest.param(
                {"tool_choice": "get_weather"}, [CALL], ["null", '{"name": "clock", "arguments": {}}'], id="one tool"
            ),
        ],
    )
    def test_it_follows_the_options(self, options: dict[str, Any], taken: list[str], refused: list[str]):
        key = "tool_calls" if options.get("multiple") else "tool_call"
        validator = jsonschema.Draft202012Validator(response_json_schema(TOOLS, **options))
        assert [text for text in taken if not validator.is_valid({"message": "", key: json.loads(text)})] == []
        assert [text for text in refused if validator.is_valid({"message": "", key: json.loads(text)})] == []

    @pytest.mark.parametrize("multiple", [False, True])
    def test_without_tools_any_name_with_any_arguments_and_with_an_empty_list_no_call(self, *, multiple: bool):
        call: Any = {"name": "rm", "arguments": {"path": "/"}}
        none: Any = [] if multiple else None
        value, key = ([call], "tool_calls") if multiple else (call, "tool_call")
        any_tool = jsonschema.Draft202012Validator(response_json_schema(None, multiple=multiple))
        no_tool = jsonschema.Draft202012Validator(response_json_schema([], multiple=multiple))
        assert any_tool.is_valid({"message": "", key: value})
        assert not no_tool.is_valid({"message": "", key: value})
        assert no_tool.is_valid({"message": "", key: none})

    def test_references_are_lifted_with_names_of_their_own(self):
        definitions = {"Item": {"type": "string"}, "a/b": {"type": "object", "properties": {"up": {"$ref": "#"}}}}
        properties = {
            "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
            "same": {"$ref": "#/properties/items"},
            "node": {"anyOf": [{"$ref": "#/$defs/a~1b"}, {"type": "null"}]},
            "$ref": {"enum": [{"$ref": "#/data"}]},
        }
        schema = of({"properties": properties, "$defs": definitions})
        assert set(schema["$defs"]) == {"f-Item", "f-items", "f-a_1b", "f-arguments"}
        fits = {"items": ["a"], "same": ["b"], "node": {"up": {"items": ["c"]}}, "$ref": {"$ref": "#/data"}}
        assert takes(schema, fits)
        for wrong in ({"items": [1]}, {"same": [1]}, {"node": {"up": {"items": [1]}}}, {"$ref": 5}):
            assert not takes(schema, wrong)

    @pytest.mark.parametrize("reference", ["#/$defs/Gone", "#anchor"])
    def test_a_reference_to_something_else_is_an_error(self, reference: str):
        parameters = {"type": "object", "properties": {"a": {"$ref": reference}}, "required": ["a"]}
        with pytest.raises(ToolDefinitionError) as error:
            response_json_schema([{"name": "f", "parameters": parameters}])
        assert str(error.value) == (
            f"the parameters of f refer to {reference!r}, which is not in them: "
            "put it into their $defs, and refer to it as #/$defs/NAME"
        )

    def test_tools_of_like_names_keep_their_definitions_apart(self):
        parameters = {"type": "object", "properties": {"x": {"$ref": "#/$defs/X"}}}
        tools = [
            {"name": name, "parameters": {**parameters, "$defs": {"X": {"type": kind}}}}
            for name, kind in (("a.b", "string"), ("a b", "integer"), ("a:b", "null"))
        ]
        definitions = response_json_schema(tools)["$defs"]
        assert definitions == {
            "a_b-X": {"type": "string"},
            "a_b-X-2": {"type": "integer"},
            "a_b-X-3": {"type": "null"},
        }

    def test_the_tools_are_left_as_they_are(self):
        tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"enum": [1]}}}}
        response_json_schema([tool])["properties"]["tool_call"]["anyOf"][0]["properties"].clear()
        schema = response_json_schema([tool])
        schema["properties"]["tool_call"]["anyOf"][0]["properties"]["arguments"]["properties"]["a"]["enum"].append(2)
        assert tool["parameters"]["properties"]["a"] == {"enum": [1]}  # type: ignore[index]

    @pytest.mark.parametrize("arguments", ["x", 5, None, []])
    def test_arguments_are_an_object_whether_or_not_the_tool_says_so(self, arguments: object):
        assert not takes(of({"properties": {"a": {"type": "string"}}}), arguments)
        assert not takes(of({"type": ["object", "null"], "nullable": True, "properties": {"a": {}}}), arguments)

    @pytest.mark.parametrize(
        ("parameters", "is_closed"),
        [
            ({}, True),
            ({"type": "object", "properties": {}}, True),
            ({"type": "object"}, False),
            ({"type": "object", "properties": {}, "additionalProperties": True}, False),
            ({"type": "object", "properties": {}, "anyOf": [{"properties": {"a": {}}}]}, False),
            ({"type": "object", "properties": {}, "patternProperties": {"a": {}}}, False),
            ({"type": "object", "properties": {}, "required": ["a"]}, False),
        ],
    )
    def test_a_tool_that_takes_no_arguments_gets_none(self, parameters: dict[str, Any], *, is_closed: bool):
        assert takes(of(parameters), {"a": 1}) is not is_closed

    def test_without_tools_the_array_stays_empty_and_says_what_it_would_hold(self):
        """llama-cpp-python takes an array without `items` for one of anything."""
        calls = response_json_schema([], multiple=True)["properties"]["tool_calls"]
        assert calls == {"type": "array", "items": {"type": "null"}, "maxItems": 0}

    @pytest.mark.parametrize(
        ("keyword", "value"),
        [
            *((keyword, REFERENCE) for keyword in WITH_ONE),
            *((keyword, [REFERENCE]) for keyword in (*WITH_SEVERAL, "items")),
            *((keyword, {"a": REFERENCE}) for keyword in WITH_NAMED if keyword not in {"$defs", "definitions"}),
            ("dependencies", {"a": REFERENCE}),
            ("$dynamicRef", "#/$defs/X"),
            ("$recursiveRef", "#/$defs/X"),
        ],
    )
    def test_references_are_lifted_wherever_a_schema_may_stand(self, keyword: str, value: object):
        schema = of({"properties": {"a": {keyword: value}}, "$defs": {"X": {"type": "string"}}})
        assert schema["$defs"] == {"f-X": {"type": "string"}}
        assert re.findall(r'"([^"]+)": "(#/[^"]+)', json.dumps(schema)) == [("$ref", "#/$defs/f-X")]

    def test_what_is_of_a_document_of_its_own_is_left_out_and_data_stays(self):
        identity = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.org/a"}
        mapping = {"propertyName": "kind", "mapping": {"a": "#/$defs/A"}}
        inner = {"$id": "b", "$anchor": "c", "oneOf": [{"$ref": "#/$defs/A"}], "discriminator": mapping}
        kept = {"default": {"$id": 1, "$ref": "#/x"}, "x-note": {"discriminator": 1}, "dependencies": {"a": ["b"]}}
        schema = arguments_of(of({**identity, "properties": {"a": inner, "b": kept}, "$defs": {"A": {}}}))
        assert schema == {
            "type": "object",
            "properties": {"a": {"oneOf": [{"$ref": "#/$defs/f-A"}]}, "b": kept},
        }

    def test_nullable_is_written_out(self):
        """Coercion and validation allow null there, too; whatever else the schema says."""
        parameters = {
            "properties": {
                "a": {"type": "string", "nullable": True},
                "b": {"enum": ["x"], "nullable": True},
                "c": {"type": "string", "nullable": False},
            }
        }
        schema = of(parameters)
        assert takes(schema, {"a": None, "b": None})
        assert takes(schema, {"a": "", "b": "x"})
        assert not takes(schema, {"a": 5})
        assert not takes(schema, {"c": None})


class TestMaxString:
    """Strings that end, and hold no raw line break, where a server lets them do otherwise."""

    @pytest.mark.parametrize(
        ("schema", "taken", "refused"),
        [
            pytest.param({"type": "string"}, ["", "ü" * 9], ["ü" * 10, "a\nb", 'a"b', "a\\b", "\t"], id="a string"),
            pytest.param(
                {"type": "string", "minLength": 12}, ["a" * 12], ["a" * 13], id="a least length above the bound"
            ),
            pytest.param({"type": "string", "maxLength": 3}, ["abc"], ["abcd", "a\nb"], id="a greatest length"),
            pytest.param({"type": "string", "maxLength": 3.0}, ["abc"], ["abcd", "a\nb"], id="a length with a point"),
            pytest.param({"type": "string", "pattern": "^a{2,20}$"}, ["a" * 20], ["b"], id="a pattern"),
            pytest.param(
                {"type": "string", "enum": ["a much longer\nstring"]}, ["a much longer\nstring"], ["a"], id="words"
            ),
            pytest.param(
                {"type": "string", "format": "date-time"},
                ["2026-01-31T12:00:00Z"],
                [5],
                id="a format of few characters",
            ),
            pytest.param(
                {"type": "string", "format": "email"}, ["a@b.de"], ["somebody@example.org"], id="a format of any length"
            ),
            pytest.param({"type": ["string", "null"]}, ["abc", None], ["a\nb", 5], id="a string or null"),
            pytest.param({"type": ["string", "null"], "enum": ["a", None]}, ["a", None], ["b"], id="a word or null"),
            pytest.param({"type": "string", "nullable": True}, ["abc", None], ["a\nb"], id="nullable"),
            pytest.param({"type": "array", "items": {"type": "string"}}, [["abc"]], [["a\nb"], "a"], id="in an array"),
            pytest.param({"$ref": "#/$defs/X"}, ["abc"], ["a\nb"], id="by reference"),
            pytest.param({"default": {"type": "string"}, "type": "integer"}, [5], ["a"], id="in data"),
        ],
    )
    def test_each_string_has_an_end(self, schema: dict[str, Any], taken: list[object], refused: list[object]):
        whole = of({"properties": {"a": schema}, "$defs": {"X": {"type": "string"}}}, max_string=9)
        if "default" in schema:
            assert arguments_of(whole)["properties"]["a"] == schema, "data is no schema"
        assert [value for value in taken if not takes(whole, {"a": value})] == []
        assert [value for value in refused if takes(whole, {"a": value})] == []

    def test_several_types_stand_beside_each_other_as_llama_cpp_python_reads_nothing_else(self):
        more = {"title": "A", "minLength": 1, "maxLength": 3}
        schema = arguments_of(of({"properties": {"a": {"type": ["string", "integer"], **more}}}, max_string=9))
        string, integer = schema["properties"]["a"]["anyOf"]
        assert integer == {"type": "integer", **more}
        assert string == {"type": "string", **more, "pattern": r'^[^"\\\x00-\x1F]{1,3}$'}

    def test_the_message_and_a_name_have_one_too(self):
        assert takes(of({}, max_string=9), {}, message="Hi")
        assert not takes(of({}, max_string=9), {}, message="a\nb")
        for max_string, name, expected in ((9, "f" * 9, True), (9, "f" * 10, False), (9, "", False), (1, "f", True)):
            any_name = jsonschema.Draft202012Validator(response_json_schema(None, max_string=max_string))
            call = {"name": name, "arguments": {}}
            assert any_name.is_valid({"message": "", "tool_call": call}) is expected

    @pytest.mark.parametrize("max_string", [0, -1])
    def test_it_is_at_least_one(self, max_string: int):
        with pytest.raises(ValueError, match=f"1 or more, not {max_string}"):
            response_json_schema(None, max_string=max_string)


@pytest.mark.parametrize("render", [render_response_prompt, response_json_schema, render_tool_prompt])
def test_a_tool_choice_that_the_tools_do_not_allow_is_an_error(render: Any):
    with pytest.raises(ToolDefinitionError, match="'rm' is not declared"):
        render(TOOLS, tool_choice="rm")


class TestPrompt:
    @pytest.mark.parametrize(
        ("tools", "options", "words"),
        [
            pytest.param(TOOLS, {}, '"tool_call": null or {"name": function name, "arguments": ', id="one call"),
            pytest.param(
                TOOLS, {"multiple": True}, '"tool_calls": [] or [{"name": function name, "arguments": ', id="several"
            ),
            pytest.param(TOOLS, {"tool_choice": "required"}, '"tool_call": {"name": ', id="one has to be"),
            pytest.param([], {}, '"tool_call": null}', id="no tools"),
            pytest.param([], {"multiple": True}, '"tool_calls": []}', id="no tools, several"),
            pytest.param(None, {}, '"tool_call": null or {"name": ', id="any tools"),
        ],
    )
    def test_it_says_the_form(self, tools: list[dict[str, Any]] | None, options: dict[str, Any], words: str):
        assert words in render_response_prompt(tools, **options)

    def test_it_shows_the_tools_and_which_one_to_call(self):
        prompt = render_response_prompt(TOOLS, tool_choice="clock")
        assert prompt.startswith("You may call the following functions:")
        assert '"name": "get_weather"' in prompt
        assert '"description": "The weather of a city"' in prompt
        assert prompt.endswith("\n\nCall the function 'clock' in your reply.")
        assert "functions" not in render_response_prompt(None)
