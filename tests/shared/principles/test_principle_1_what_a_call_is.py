"""Principle 1: which JSON is a call, in which shapes, and what any other object is rejected as."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, extract, new_call_id
from told import called, calls, refused, tool

SHAPES = {
    "parameters": '{"name": "f", "parameters": {"a": 1}}',
    "arguments": '{"name": "f", "arguments": {"a": 1}}',
    "any order": '{"parameters": {"a": 1}, "name": "f"}',
    "a type beside": '{"type": "tool_use", "name": "f", "parameters": {"a": 1}}',
    "an id beside": '{"id": "x", "name": "f", "parameters": {"a": 1}}',
    "other keys beside": '{"id": "x", "name": "f", "why": ["b"], "parameters": {"a": 1}, "tool_call_id": null}',
    "a string that holds the object": r'{"name": "f", "arguments": "{\"a\": 1}"}',
    "a string with space around the object": r'{"name": "f", "arguments": " \n{\"a\": 1}\t"}',
    "both keys, one value": r'{"name": "f", "parameters": {"a": 1}, "arguments": "{\"a\":1}"}',
    "both keys, one null": '{"name": "f", "parameters": null, "arguments": {"a": 1}}',
    "both keys, one an empty string": '{"name": "f", "parameters": {"a": 1}, "arguments": ""}',
    "both keys, one empty": '{"name": "f", "parameters": {"a": 1}, "arguments": {}}',
    "OpenAI's": '{"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}',
    "OpenAI's without a type": '{"function": {"name": "f", "parameters": {"a": 1}}}',
    "OpenAI's with a string": r'{"id": "call_1", "function": {"name": "f", "arguments": "{\"a\": 1}"}}',
    "the 1B's": '{"type": "function", "function": "f", "parameters": {"a": 1}}',
    "the 1B's in another order": '{"function": "f", "type": "function", "arguments": {"a": 1}}',
    "white space in it": '{\n  "name" : "f",\r\n\t"parameters"\n:\n{ "a" : 1 }\n}',
    "a key with an escape": r'{"n\u0061me": "f", "parameters": {"a": 1}}',
    "a name and a function": '{"name": "f", "function": {"name": "g"}, "parameters": {"a": 1}}',
    "a description, but no schema": '{"name": "f", "description": "why", "parameters": {"a": 1}}',
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_every_shape_of_a_call_is_called(text: str):
    extraction = extract_in_every_chunking(f"So {text}.")
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments, call.deviations, call.format) == ("f", {"a": 1}, (), "json")
    assert (extraction.content, call.span, refused(extraction)) == ("So .", (3, 3 + len(text)), "")


SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}}'
REFUSED = {
    "data": ('{"city": "Paris", "days": 3}', "not_a_call"),
    "a person": ('{"name": "Alice", "age": 3}', "missing_arguments Alice"),
    "an empty name": ('{"name": "", "parameters": {}}', "invalid_name!"),
    "a name of another type": ('{"name": 5, "parameters": {}}', "invalid_name!"),
    "a name of another type alone": ('{"name": 5}', "not_a_call"),
    "a null name": ('{"name": null, "parameters": {}}', "not_a_call!"),
    "a list of parameters": ('{"name": "f", "parameters": []}', "invalid_arguments f!"),
    "null parameters": ('{"name": "f", "parameters": null}', "missing_arguments f!"),
    "empty parameters": ('{"name": "f", "parameters": ""}', "missing_arguments f!"),
    "text for arguments": ('{"name": "f", "arguments": "today"}', "invalid_arguments f!"),
    "a number beside arguments": ('{"name": "f", "arguments": {}, "parameters": 7}', "invalid_arguments f!"),
    "a string with more than the object": (r'{"name": "f", "arguments": "{} and {}"}', "invalid_arguments f!"),
    "a string that holds malformed JSON": (r'{"name": "f", "arguments": "{\"a\": }"}', "invalid_arguments f!"),
    "two values": ('{"name": "f", "parameters": {"a": 1}, "arguments": {"b": 1}}', "conflicting_arguments f!"),
    "two values, one text": ('{"name": "f", "parameters": {"a": 1}, "arguments": "x"}', "conflicting_arguments f!"),
    "lists of two lengths": (
        '{"name": "f", "parameters": {"a": [1]}, "arguments": {"a": [1, 2]}}',
        "conflicting_arguments f!",
    ),
    "true is not 1": ('{"name": "f", "parameters": {"a": 1}, "arguments": {"a": true}}', "conflicting_arguments f!"),
    "1.0 is not 1": ('{"name": "f", "parameters": {"a": [1]}, "arguments": {"a": [1.0]}}', "conflicting_arguments f!"),
    "a schema without a description": (f'{{"name": "f", "parameters": {SCHEMA}}}', "schema_echo f"),
    "a schema under arguments": (f'{{"name": "f", "arguments": {SCHEMA}}}', "schema_echo f"),
    "OpenAI's schema": (
        f'{{"type": "function", "function": {{"name": "f", "description": "d", "parameters": {SCHEMA}}}}}',
        "schema_echo f",
    ),
    "a schema without its type": (
        '{"name": "f", "description": "d", "parameters": {"properties": {"a": {}}}}',
        "schema_echo f",
    ),
    "a schema without properties": (
        '{"name": "f", "description": "d", "parameters": {"type": "object"}}',
        "schema_echo f",
    ),
    "properties alone": (
        '{"name": "f", "description": "d", "parameters": {"a": {"type": "string"}, "b": {"param_type": "int"}}}',
        "schema_echo f",
    ),
    "properties by the names of their types": (
        '{"name": "f", "description": "d", "parameters": {"a": "string", "b": "array"}}',
        "schema_echo f",
    ),
    "a function without a type": ('{"function": "f", "parameters": {}}', "not_a_call!"),
    "a function of another type": ('{"type": "object", "function": "f", "parameters": {}}', "not_a_call!"),
    "a function without arguments": ('{"function": {"name": "f"}}', "missing_arguments f"),
    "arguments beside the function": ('{"function": {"name": "f"}, "parameters": {}}', "invalid_arguments f!"),
    "a function without a name": ('{"type": "function", "function": {"arguments": {}}}', "not_a_call!"),
    "a call in an invented wrapper": ('{"query": {"name": "f", "parameters": {}}}', "not_a_call"),
    "a call beside a name": ('{"name": "f", "tool_call": {"name": "g", "parameters": {}}}', "missing_arguments f!"),
    "a list of calls in one": ('{"calls": [{"name": "f", "parameters": {}}]}', "not_a_call"),
    "another key, undeclared": ('{"tool_name": "f", "parameters": {}}', "not_a_call!"),
    "a name twice": ('{"name": "f", "name": "g", "parameters": {}}', "malformed g!"),
    "another key twice": ('{"id": 1, "id": 2, "name": "f", "parameters": {}}', "malformed f!"),
    "a name twice, once escaped": (r'{"name": "f", "n\u0061me": "g", "parameters": {}}', "malformed g!"),
    "a name twice in the function": ('{"function": {"name": "f", "name": "g", "arguments": {}}}', "malformed g!"),
    "arguments twice": ('{"name": "f", "parameters": {}, "parameters": {}}', "malformed f!"),
    "an argument twice": ('{"name": "f", "parameters": {"a": 1, "a": 1}}', "malformed f!"),
    "an argument twice, escaped": (r'{"name": "f", "parameters": {"a": 1, "\u0061": 1}}', "malformed f!"),
    "an argument twice in a string": (r'{"name": "f", "arguments": "{\"a\": 1, \"a\": 2}"}', "malformed f!"),
    "an argument twice in OpenAI's": ('{"function": {"name": "f", "arguments": {"a": 1, "a": 2}}}', "malformed f!"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_call_is_text_with_a_reason(text: str, reason: str):
    extraction = extract_in_every_chunking(f"So:\n{text}\n")
    assert (extraction.content, called(extraction), refused(extraction)) == (f"So:\n{text}\n", "", reason)
    assert extraction.rejections[0].span == (4, 4 + len(text))


def test_a_key_may_stand_twice_below_the_arguments_own_level():
    (call,) = extract_in_every_chunking('{"name": "f", "parameters": {"a": {"b": 1, "b": 2}}}').tool_calls
    assert (call.arguments, call.arguments_json) == ({"a": {"b": 2}}, '{"a": {"b": 1, "b": 2}}')


CITY, NOW = tool("get_weather", "city", required=("city",)), {"type": "function", "function": {"name": "now"}}
WITHOUT_ARGUMENTS = {
    "the name alone": '{"name": "now"}',
    "an id and a type": '{"id": "call_7", "type": "function", "name": "now", "content": null}',
    "OpenAI's": '{"type": "function", "function": {"name": "now"}}',
    "the 1B's": '{"type": "function", "function": "now"}',
    "null": '{"name": "now", "parameters": null}',
    "both null": '{"name": "now", "parameters": null, "arguments": null}',
    "an empty string": '{"function": {"name": "now", "arguments": ""}}',
}


@pytest.mark.parametrize("text", WITHOUT_ARGUMENTS.values(), ids=WITHOUT_ARGUMENTS)
def test_without_arguments_it_is_a_call_of_a_declared_tool_that_requires_none(text: str):
    extraction = extract_in_every_chunking(text, tools=[CITY, NOW])
    assert [(call.name, call.arguments_json) for call in extraction.tool_calls] == [("now", "{}")]
    assert (extraction.content, called(extract_in_every_chunking(text))) == (None, "")
    for name in ("get_weather", "unheard_of"):
        other = text.replace("now", name)
        extraction = extract_in_every_chunking(other, tools=[CITY, NOW], is_sampled=True)
        assert (extraction.content, called(extraction)) == (other, "")
        assert refused(extraction).rstrip("!") == f"missing_arguments {name}"


BESIDE_A_NAME = {
    "arguments beside the name": ('{"name": "now", "zone": "CET"}', "missing_arguments now"),
    "arguments under a misspelt key": ('{"name": "now", "paramters": {"zone": "CET"}}', "missing_arguments now"),
    "arguments beside null ones": ('{"name": "now", "parameters": null, "zone": "CET"}', "missing_arguments now!"),
    "a result": ('{"role": "tool", "name": "now", "content": "12:00"}', "missing_arguments now"),
    "a description": ('{"name": "now", "description": "The time"}', "schema_echo now"),
    "Anthropic's schema": ('{"name": "now", "input_schema": {"type": "object"}}', "schema_echo now"),
    "MCP's schema": ('{"name": "now", "inputSchema": {"type": "object"}}', "schema_echo now"),
    "a described function": (
        '{"type": "function", "function": {"name": "now", "description": "d"}}',
        "schema_echo now",
    ),
}


@pytest.mark.parametrize(("text", "reason"), BESIDE_A_NAME.values(), ids=BESIDE_A_NAME)
def test_nothing_but_a_type_and_an_id_stands_beside_a_name_without_arguments(text: str, reason: str):
    for options in ({}, {"on_unknown_tool": "call"}, {"repair": True}):
        extraction = extract_in_every_chunking(text, tools=[NOW], is_sampled=True, **options)
        assert (extraction.content, called(extraction), refused(extraction)) == (text, "", reason)


@pytest.mark.parametrize("beside", ['"zone": "CET"', '"paramters": {"zone": "CET"}', '"id": 1, "zone": "CET"'])
def test_its_parameters_beside_a_name_make_an_attempt(beside: str):
    text = f'{{"name": "now", {beside}}}'
    extraction = extract_in_every_chunking(text, tools=[tool("now", "zone", required=("zone",))])
    assert (extraction.content, refused(extraction)) == (text, "missing_arguments now!")


@pytest.mark.parametrize("key", ["parameters", "arguments"])
def test_a_tool_may_have_a_parameter_properties(key: str):
    text = f'{{"name": "create", "{key}": {{"type": "object", "properties": {{"colour": "red"}}}}}}'
    assert called(extract_in_every_chunking(text, tools=[tool("create", "type", "properties")])) == "create"
    assert refused(extract_in_every_chunking(text, tools=[tool("create")])) == "schema_echo create"
    alone = '{"name": "create", "parameters": {"properties": {"colour": "red"}}}'
    assert called(extract_in_every_chunking(alone)) == "create"


class TestIds:
    """Every call carries an id that is made here, and none that the model wrote."""

    WRITTEN = (
        '{"id": "call_1", "name": "f", "parameters": {}}',
        '{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": {}}}',
        '{"id": "call_1", "tool_calls": [{"id": "call_1", "name": "f", "parameters": {}}]}',
    )

    @pytest.mark.parametrize("text", WRITTEN)
    def test_are_made_anew(self, text: str):
        ids = [call.id for call in extract(f"[{text}, {text}]").tool_calls] + [new_call_id() for _ in range(999)]
        assert len(set(ids)) == 1001
        assert all(re.fullmatch(r"call_[0-9a-f]{24}", id_) for id_ in ids)
        assert extract(text) == extract(text)

    def test_come_from_the_factory_in_the_order_of_the_calls(self):
        numbers = iter(range(9))
        extraction = extract(" ".join(self.WRITTEN), id_factory=lambda: f"n{next(numbers)}")
        assert [call.id for call in extraction.tool_calls] == ["n0", "n1", "n2"]

    def test_are_text_and_an_extractor_makes_them_in_its_copies_too(self):
        extractor = Extractor(id_factory=lambda: 5)  # type: ignore[arg-type,return-value]  # on purpose
        for other in (extractor, copy.deepcopy(extractor)):
            assert [call.id for call in other.extract(self.WRITTEN[0]).tool_calls] == ["5"]
        pickled = pickle.loads(pickle.dumps(Extractor()))  # noqa: S301 - our own bytes
        assert pickled.extract(self.WRITTEN[0]).tool_calls[0].id.startswith("call_")


F = tool("f", "a", "b")
OTHER_KEYS: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        f"the name under {key}": (f'{{"{key}": "f", "parameters": {{"a": 1}}}}', {"a": 1})
        for key in ("function", "function_name", "tool", "tool_name", "action")
    },
    **{
        f"the arguments under {key}": (f'{{"name": "f", "{key}": {{"a": 1}}}}', {"a": 1})
        for key in ("args", "params", "input", "kwargs", "tool_input", "action_input", "function_args", "argument")
    },
    "both": ('{"action": "f", "action_input": {"a": 1}}', {"a": 1}),
    "arguments in a string": (r'{"tool": "f", "input": "{\"a\": 1}"}', {"a": 1}),
    "arguments beside the function": ('{"function": {"name": "f"}, "parameters": {"a": 1}}', {"a": 1}),
    "arguments under another key in the function": ('{"function": {"name": "f", "args": {"a": 1}}}', {"a": 1}),
    "a thought beside": ('{"thought": "Hm.", "action": "f", "action_input": {"a": 1}}', {"a": 1}),
    "an empty object beside a full one": ('{"name": "f", "args": {}, "params": {"a": 1}}', {"a": 1}),
    "no arguments": ('{"tool": "f", "args": {}}', {}),
    "the same name twice": ('{"tool": "f", "action": "f", "args": {"a": 1}}', {"a": 1}),
    "a result that is null": ('{"tool": "f", "args": {"a": 1}, "result": null}', {"a": 1}),
}


@pytest.mark.parametrize(("text", "arguments"), OTHER_KEYS.values(), ids=OTHER_KEYS)
def test_for_declared_tools_other_keys_are_read(text: str, arguments: dict[str, Any]):
    extraction = extract_in_every_chunking(f"So {text}.", tools=[F])
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments, bool(call.deviations)) == ("f", arguments, True)
    assert not extract_in_every_chunking(text, is_sampled=True).tools_called


NO_OTHER_KEYS = {
    "a result": ('{"tool": "f", "args": {"a": 1}, "result": 5}', "not_a_call f!"),
    "an observation": ('{"action": "f", "action_input": {}, "observation": "x"}', "not_a_call f!"),
    "output under another key of arguments": ('{"name": "f", "input": {"a": 1}, "output": "x"}', "not_a_call f!"),
    "two names": ('{"tool": "f", "action": "g", "args": {}}', "invalid_name f!"),
    "an undeclared name": ('{"tool": "rm", "args": {"a": 1}}', "unknown_tool rm"),
    "an undeclared name with arguments": ('{"tool": "rm", "parameters": {"a": 1}}', "unknown_tool rm!"),
    "a name that is none": ('{"function": 5, "args": {}}', "not_a_call"),
    "arguments that are text": ('{"tool": "f", "args": "today"}', "invalid_arguments f!"),
    "two values, one beside the function": (
        '{"function": {"name": "f", "arguments": {"a": 1}}, "parameters": {"a": 2}}',
        "conflicting_arguments f!",
    ),
    "a schema": ('{"tool": "f", "parameters": {"type": "object", "properties": {}}}', "schema_echo f"),
}


@pytest.mark.parametrize(("text", "reason"), NO_OTHER_KEYS.values(), ids=NO_OTHER_KEYS)
def test_but_no_object_with_a_result_with_two_names_or_an_undeclared_one(text: str, reason: str):
    extraction = extract_in_every_chunking(text, tools=[F, tool("g")])
    assert (extraction.content, called(extraction), refused(extraction)) == (text, "", reason)


FORMS = {
    "JSON": '{"name": "NAME", "parameters": {"a": 1}}',
    "a list": '[{"name": "NAME", "parameters": {"a": 1}}]',
    "a tag": '<tool_call>{"name": "NAME", "parameters": {"a": 1}}</tool_call>',
    "a function tag": '<function=NAME>{"a": 1}</function>',
    "a fence": '```json\n{"name": "NAME", "parameters": {"a": 1}}\n```',
    "OpenAI's": '{"type": "function", "function": {"name": "NAME", "arguments": "{\\"a\\": 1}"}}',
    "an envelope": '{"tool_calls": [{"name": "NAME", "parameters": {"a": 1}}]}',
    "a pythonic list": "[NAME(a=1)]",
    "a pythonic call in a tag": "<tool_call>NAME(a=1)</tool_call>",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_an_undeclared_name_is_an_unknown_tool_in_every_form_and_an_attempt(form: str):
    assert calls(extract_in_every_chunking(form.replace("NAME", "f"), tools=[F])) == [("f", {"a": 1})]
    for other in ("rm", "F", "f2", "ff"):
        text = form.replace("NAME", other)
        extraction = extract_in_every_chunking(text, tools=[F], is_sampled=True)
        assert (extraction.content, called(extraction), refused(extraction)) == (text, "", f"unknown_tool {other}!")
    through = extract_in_every_chunking(form.replace("NAME", "rm"), tools=[F], on_unknown_tool="call")
    assert calls(through) == [("rm", {"a": 1})]


ONLY_DECLARED = {
    "a pythonic list": "[f(a=1)]",
    "a pythonic line": "f(a=1)",
    "an object after the name": 'f\n{"a": 1}',
    "a misspelt tag": '<function=f{"a": 1}</function>',
    "other keys": '{"tool": "f", "args": {"a": 1}}',
    "code": "<|python_tag|>print(1)<|eom_id|>",
}


@pytest.mark.parametrize("text", ONLY_DECLARED.values(), ids=ONLY_DECLARED)
def test_without_declared_tools_only_documented_shapes_and_tags_are_read(text: str):
    tools = [F, tool("code_interpreter", "code")]
    assert len(extract_in_every_chunking(text, tools=tools).tool_calls) == 1
    assert not extract_in_every_chunking(text).tools_called
    assert not extract_in_every_chunking(text, tools=[tool("other")]).tools_called
