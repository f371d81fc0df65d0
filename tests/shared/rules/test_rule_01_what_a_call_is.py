"""Rule 1: which JSON is a call, and what any other candidate is rejected as."""

from __future__ import annotations

from typing import Any

import pytest

from chunkings import extract_in_every_chunking

WEATHER = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {}}, "required": ["city"]}}
NOW = {"type": "function", "function": {"name": "now", "description": "The time"}}
SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}}'

SHAPES = {
    "parameters": '{"name": "f", "parameters": {"a": 1}}',
    "arguments": '{"name": "f", "arguments": {"a": 1}}',
    "any order": '{"parameters": {"a": 1}, "name": "f"}',
    "type beside": '{"type": "function", "name": "f", "parameters": {"a": 1}}',
    "another type": '{"type": "tool_use", "name": "f", "parameters": {"a": 1}}',
    "other keys beside": '{"id": "x", "name": "f", "why": ["b"], "parameters": {"a": 1}, "tool_call_id": null}',
    "a string that holds the object": r'{"name": "f", "arguments": "{\"a\": 1}"}',
    "a string with space around the object": r'{"name": "f", "arguments": " \n{\"a\": 1}\t"}',
    "both keys, one value": r'{"name": "f", "parameters": {"a": 1}, "arguments": "{\"a\":1}"}',
    "both keys, one null": '{"name": "f", "parameters": null, "arguments": {"a": 1}}',
    "both keys, one an empty string": '{"name": "f", "parameters": {"a": 1}, "arguments": ""}',
    "both keys, one empty": '{"name": "f", "parameters": {"a": 1}, "arguments": {}}',
    "OpenAI": '{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}',
    "OpenAI without type": '{"function": {"name": "f", "arguments": {"a": 1}}}',
    "OpenAI with an arguments string": r'{"id": "call_1", "function": {"name": "f", "arguments": "{\"a\": 1}"}}',
    "OpenAI with parameters": '{"type": "function", "function": {"name": "f", "parameters": {"a": 1}}}',
    "the 1B's": '{"type": "function", "function": "f", "parameters": {"a": 1}}',
    "the 1B's with arguments": '{"function": "f", "type": "function", "arguments": {"a": 1}}',
    "white space in it": '{\n  "name" : "f",\r\n\t"parameters"\n:\n{ "a" : 1 }\n}',
    "a key with an escape": r'{"n\u0061me": "f", "parameters": {"a": 1}}',
    "a name and a function": '{"name": "f", "function": {"name": "g"}, "parameters": {"a": 1}}',
    "a description, but no schema": '{"name": "f", "description": "why", "parameters": {"a": 1}}',
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_every_shape_of_a_call_is_called(text: str):
    extraction = extract_in_every_chunking(f"So {text}.")
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments) == ("f", {"a": 1})
    assert extraction.content == "So ."
    assert call.span == (3, 3 + len(text))
    assert extraction.rejections == ()


@pytest.mark.parametrize(
    ("written", "arguments"),
    [('"parameters": {}', {}), ('"arguments": {"a": "string"}', {"a": "string"})],
    ids=["no arguments", "under arguments"],
)
def test_a_description_beside_makes_no_schema_of_what_is_none(written: str, arguments: dict[str, str]):
    (call,) = extract_in_every_chunking(f'{{"name": "f", "description": "why", {written}}}').tool_calls
    assert call.arguments == arguments


REFUSED = {
    "data": ('{"city": "Paris", "days": 3}', "not_a_call"),
    "a person": ('{"name": "Alice"}', "missing_arguments"),
    "a person with data": ('{"name": "Alice", "age": 3}', "missing_arguments"),
    "an empty name": ('{"name": "", "parameters": {}}', "invalid_name"),
    "a name of another type": ('{"name": 5, "parameters": {}}', "invalid_name"),
    "a name of another type alone": ('{"name": 5}', "not_a_call"),
    "a null name": ('{"name": null, "parameters": {}}', "not_a_call"),
    "a list of parameters": ('{"name": "f", "parameters": []}', "invalid_arguments"),
    "null parameters of an unknown tool": ('{"name": "f", "parameters": null}', "missing_arguments"),
    "empty parameters of an unknown tool": ('{"name": "f", "parameters": ""}', "missing_arguments"),
    "text for arguments": ('{"name": "f", "arguments": "today"}', "invalid_arguments"),
    "white space for arguments": ('{"name": "f", "arguments": " "}', "invalid_arguments"),
    "a string with more than the object": (r'{"name": "f", "arguments": "{} and {}"}', "invalid_arguments"),
    "a string that holds a list": ('{"name": "f", "arguments": "[1]"}', "invalid_arguments"),
    "a string that holds malformed JSON": (r'{"name": "f", "arguments": "{\"a\": }"}', "invalid_arguments"),
    "both keys, two values": (
        '{"name": "f", "parameters": {"a": 1}, "arguments": {"b": 1}}',
        "conflicting_arguments",
    ),
    "both keys, one text": ('{"name": "f", "parameters": {"a": 1}, "arguments": "today"}', "conflicting_arguments"),
    "true is not 1": ('{"name": "f", "parameters": {"a": 1}, "arguments": {"a": true}}', "conflicting_arguments"),
    "1.0 is not 1": ('{"name": "f", "parameters": {"a": [1]}, "arguments": {"a": [1.0]}}', "conflicting_arguments"),
    "a schema without a description": (f'{{"name": "f", "parameters": {SCHEMA}}}', "schema_echo"),
    "a schema under arguments": (f'{{"name": "f", "arguments": {SCHEMA}}}', "schema_echo"),
    "a schema": (f'{{"name": "f", "description": "d", "parameters": {SCHEMA}}}', "schema_echo"),
    "an OpenAI schema": (
        f'{{"type": "function", "function": {{"name": "f", "description": "d", "parameters": {SCHEMA}}}}}',
        "schema_echo",
    ),
    "a schema without its type": (
        '{"name": "f", "description": "d", "parameters": {"properties": {"a": {}}}}',
        "schema_echo",
    ),
    "a schema without properties": (
        '{"name": "f", "description": "d", "parameters": {"type": "object"}}',
        "schema_echo",
    ),
    "properties alone": (
        '{"name": "f", "description": "d", "parameters": {"a": {"type": "string"}, "b": {"param_type": "int"}}}',
        "schema_echo",
    ),
    "properties by the names of their types": (
        '{"name": "f", "description": "d", "parameters": {"a": "string", "b": "array"}}',
        "schema_echo",
    ),
    "function without type": ('{"function": "f", "parameters": {}}', "not_a_call"),
    "function of another type": ('{"type": "object", "function": "f", "parameters": {}}', "not_a_call"),
    "a function without arguments": ('{"function": {"name": "f"}}', "missing_arguments"),
    "arguments beside the function": ('{"function": {"name": "f"}, "parameters": {}}', "invalid_arguments"),
    "a function without a name": ('{"type": "function", "function": {"arguments": {}}}', "not_a_call"),
    "a call within an invented wrapper": (
        '{"query": {"type": "function", "name": "f", "parameters": {}}}',
        "not_a_call",
    ),
    "a call under an envelope's key beside a name": (
        '{"name": "f", "tool_call": {"name": "g", "parameters": {}}}',
        "missing_arguments",
    ),
    "a list of calls within one": ('{"calls": [{"name": "f", "parameters": {}}]}', "not_a_call"),
    "tool_name": ('{"tool_name": "f", "parameters": {}}', "not_a_call"),
    "a name twice": ('{"name": "f", "name": "g", "parameters": {}}', "malformed"),
    "another key twice": ('{"id": 1, "id": 2, "name": "f", "parameters": {}}', "malformed"),
    "a name twice, once escaped": (r'{"name": "f", "n\u0061me": "g", "parameters": {}}', "malformed"),
    "a name twice in the function": ('{"function": {"name": "f", "name": "g", "arguments": {}}}', "malformed"),
    "an argument twice": ('{"name": "f", "parameters": {"a": 1, "a": 2}}', "malformed"),
    "an argument twice, the same": ('{"name": "f", "parameters": {"a": 1, "a": 1}}', "malformed"),
    "an argument twice in a string": (r'{"name": "f", "arguments": "{\"a\": 1, \"a\": 2}"}', "malformed"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_call_is_text_with_a_reason(text: str, reason: str):
    extraction = extract_in_every_chunking(f"So {text}. ")
    assert extraction.content == f"So {text}. "
    assert extraction.tool_calls == ()
    (rejection,) = extraction.rejections
    assert rejection.reason == reason
    assert rejection.span == (3, 3 + len(text))


BROKEN = {
    "a comma too many in the arguments": '{"name": "f", "parameters": {"a": 1,}}',
    "a comma too many in the call": '{"name": "f", "parameters": {"a": 1},}',
    "no comma": '{"name": "f" "parameters": {"a": 1}}',
    "no value": '{"name": "f", "parameters": }',
    "no colon": '{"name": "f", "parameters" {"a": 1}}',
    "a constant of Python": '{"name": "f", "parameters": {"a": True}}',
    "a comment": '{"name": "f", "parameters": {"a": 1} // all\n}',
    "a word": '{"name": "f", "parameters": {"a": oops}}',
    "single quotes": "{'name': 'f', 'parameters': {'a': 1}}",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_is_no_strict_json_is_no_call(text: str):
    extraction = extract_in_every_chunking(f"So {text}. ")
    assert (extraction.content, extraction.tool_calls) == (f"So {text}. ", ())
    first = extraction.rejections[0]
    assert (str(first.reason), first.name, first.span[0]) == ("malformed", "f", 3)


def test_a_key_may_stand_twice_below_the_arguments_own_level():
    (call,) = extract_in_every_chunking('{"name": "f", "parameters": {"a": {"b": 1, "b": 2}}}').tool_calls
    assert call.arguments == {"a": {"b": 2}}
    assert call.arguments_json == '{"a": {"b": 1, "b": 2}}'


WITHOUT_ARGUMENTS = {
    "the name alone": '{"name": "now"}',
    "a type beside it": '{"type": "function", "name": "now"}',
    "an id beside it": '{"id": "call_7", "type": "function", "name": "now", "content": null}',
    "OpenAI": '{"type": "function", "function": {"name": "now"}}',
    "the 1B's": '{"type": "function", "function": "now"}',
    "null parameters": '{"name": "now", "parameters": null}',
    "null arguments": '{"name": "now", "arguments": null}',
    "both null": '{"name": "now", "parameters": null, "arguments": null}',
    "empty parameters": '{"name": "now", "parameters": ""}',
    "empty arguments in OpenAI's form": '{"function": {"name": "now", "arguments": ""}}',
}


@pytest.mark.parametrize("text", WITHOUT_ARGUMENTS.values(), ids=WITHOUT_ARGUMENTS)
def test_a_call_without_arguments_is_one_of_a_declared_tool_that_requires_none(text: str):
    extraction = extract_in_every_chunking(text, tools=[WEATHER, NOW])
    assert [(call.name, call.arguments, call.arguments_json) for call in extraction.tool_calls] == [("now", {}, "{}")]
    assert extraction.content is None
    assert not extract_in_every_chunking(text).tools_called


@pytest.mark.parametrize("text", WITHOUT_ARGUMENTS.values(), ids=WITHOUT_ARGUMENTS)
@pytest.mark.parametrize("name", ["get_weather", "unheard_of"])
def test_a_call_without_arguments_of_any_other_tool_is_missing_them(text: str, name: str):
    text = text.replace("now", name)
    extraction = extract_in_every_chunking(text, tools=[WEATHER, NOW])
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [(str(one.reason), one.name) for one in extraction.rejections] == [("missing_arguments", name)]


BESIDE_A_NAME = {
    "arguments under another key": ('{"name": "now", "args": {"zone": "CET"}}', "missing_arguments"),
    "arguments beside the name": ('{"name": "now", "zone": "CET"}', "missing_arguments"),
    "arguments under a misspelt key": ('{"name": "now", "paramters": {"zone": "CET"}}', "missing_arguments"),
    "arguments beside null ones": ('{"name": "now", "parameters": null, "zone": "CET"}', "missing_arguments"),
    "a result": ('{"role": "tool", "name": "now", "content": "12:00"}', "missing_arguments"),
    "arguments beside a function": (
        '{"type": "function", "function": {"name": "now"}, "args": {"zone": "CET"}}',
        "missing_arguments",
    ),
    "arguments in a function": (
        '{"type": "function", "function": {"name": "now", "args": {"zone": "CET"}}}',
        "missing_arguments",
    ),
    "arguments beside the 1B's": (
        '{"type": "function", "function": "now", "args": {"zone": "CET"}}',
        "missing_arguments",
    ),
    "a description": ('{"name": "now", "description": "The time"}', "schema_echo"),
    "Anthropic's schema": ('{"name": "now", "input_schema": {"type": "object"}}', "schema_echo"),
    "MCP's schema": ('{"name": "now", "inputSchema": {"type": "object"}}', "schema_echo"),
    "a described function": (
        '{"type": "function", "function": {"name": "now", "description": "The time"}}',
        "schema_echo",
    ),
}


@pytest.mark.parametrize(("text", "reason"), BESIDE_A_NAME.values(), ids=BESIDE_A_NAME)
@pytest.mark.parametrize("options", [{}, {"on_unknown_tool": "call"}], ids=["text", "call"])
def test_nothing_but_a_type_and_an_id_stands_beside_a_name_without_arguments(
    text: str, reason: str, options: dict[str, Any]
):
    extraction = extract_in_every_chunking(text, tools=[NOW], **options)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [(str(one.reason), one.name) for one in extraction.rejections] == [(reason, "now")]


@pytest.mark.parametrize("lenient", [False, True])
def test_a_repaired_call_says_nothing_beside_its_name_either(lenient: bool):
    text = "{'name': 'now', 'paramters': {'zone': 'CET'}}"
    assert not extract_in_every_chunking(text, tools=[NOW], repair=True, lenient=lenient).tools_called


CREATE = '{"name": "create", "parameters": {"type": "object", "properties": {"colour": "red"}}}'
TAKES_PROPERTIES = {"name": "create", "parameters": {"type": "object", "properties": {"type": {}, "properties": {}}}}


@pytest.mark.parametrize("key", ["parameters", "arguments"])
def test_a_schema_is_a_call_of_a_tool_with_a_parameter_properties(key: str):
    text = CREATE.replace("parameters", key)
    assert extract_in_every_chunking(text, tools=[TAKES_PROPERTIES]).tools_called
    (rejection,) = extract_in_every_chunking(text, tools=[{"name": "create"}]).rejections
    assert rejection.reason == "schema_echo"


def test_properties_alone_are_arguments_like_any_other():
    text = '{"name": "create", "parameters": {"properties": {"colour": "red"}}}'
    assert extract_in_every_chunking(text).tools_called


FORMATS = {
    "bare": ("%s", "json"),
    "in a list": ("[%s]", "json"),
    "after a token": ("<|python_tag|>%s<|eom_id|>", "json"),
    "in <tool>": ("<tool>%s</tool>", "tool"),
    "in <tool_call>": ("<tool_call>%s</tool_call>", "tool_call"),
    "in Llama 4's tokens": ("<|python_start|>%s<|python_end|>", "python_start"),
    "in a fence": ("```json\n%s\n```", "fence"),
    "in a tag in a fence": ("```\n<tool_call>%s</tool_call>\n```", "fence"),
    "in an envelope": ('{"tool_call": %s}', "envelope"),
}


@pytest.mark.parametrize(("wrap", "format_"), FORMATS.values(), ids=FORMATS)
def test_a_call_says_by_which_format_it_was_read_and_where(wrap: str, format_: str):
    written = '{"name": "a", "parameters": {}}'
    (call,) = extract_in_every_chunking(wrap % written).tool_calls
    assert call.format == format_
    assert (wrap % written)[slice(*call.span)] == written
