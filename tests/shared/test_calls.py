"""Which JSON is a call: rules 1, 2, 11, 12 and 13."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, extract

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


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_rule_1_every_shape_of_a_call(text: str):
    extraction = extract_in_every_chunking(f"So {text}.")
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments) == ("f", {"a": 1})
    assert extraction.content == "So ."
    assert call.span == (3, 3 + len(text))
    assert extraction.rejections == ()


REFUSED = {
    "data": ('{"city": "Paris", "days": 3}', "not_a_call"),
    "a person": ('{"name": "Alice"}', "missing_arguments"),
    "a person with data": ('{"name": "Alice", "age": 3}', "missing_arguments"),
    "an empty name": ('{"name": "", "parameters": {}}', "invalid_name"),
    "a name of another type": ('{"name": 5, "parameters": {}}', "invalid_name"),
    "a name of another type alone": ('{"name": 5}', "not_a_call"),
    "a null name": ('{"name": null, "parameters": {}}', "invalid_name"),
    "a list of parameters": ('{"name": "f", "parameters": []}', "invalid_arguments"),
    "null parameters": ('{"name": "f", "parameters": null}', "invalid_arguments"),
    "text for arguments": ('{"name": "f", "arguments": "today"}', "invalid_arguments"),
    "a string with more than the object": (r'{"name": "f", "arguments": "{} and {}"}', "invalid_arguments"),
    "a string that holds a list": ('{"name": "f", "arguments": "[1]"}', "invalid_arguments"),
    "a string that holds malformed JSON": (r'{"name": "f", "arguments": "{\"a\": }"}', "invalid_arguments"),
    "both keys, two values": ('{"name": "f", "parameters": {"a": 1}, "arguments": {}}', "conflicting_arguments"),
    "true is not 1": ('{"name": "f", "parameters": {"a": 1}, "arguments": {"a": true}}', "conflicting_arguments"),
    "1.0 is not 1": ('{"name": "f", "parameters": {"a": [1]}, "arguments": {"a": [1.0]}}', "conflicting_arguments"),
    "a schema without a description": (f'{{"name": "f", "parameters": {SCHEMA}}}', "schema_echo"),
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
    "an invented wrapper": ('{"query": {"type": "function", "name": "f", "parameters": {}}}', "not_a_call"),
    "a list inside": ('{"calls": [{"name": "f", "parameters": {}}]}', "not_a_call"),
    "tool_name": ('{"tool_name": "f", "parameters": {}}', "not_a_call"),
    "a name twice": ('{"name": "f", "name": "g", "parameters": {}}', "malformed"),
    "another key twice": ('{"id": 1, "id": 2, "name": "f", "parameters": {}}', "malformed"),
    "a name twice, once escaped": (r'{"name": "f", "n\u0061me": "g", "parameters": {}}', "malformed"),
    "a name twice in the function": ('{"function": {"name": "f", "name": "g", "arguments": {}}}', "malformed"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_rule_1_what_is_no_call_is_text_with_a_reason(text: str, reason: str):
    extraction = extract_in_every_chunking(f"So {text}. ")
    assert extraction.content == f"So {text}. "
    assert extraction.tool_calls == ()
    (rejection,) = extraction.rejections
    assert rejection.reason == reason
    assert rejection.span == (3, 3 + len(text))


def test_rule_1_a_duplicate_key_below_the_calls_own_level_is_the_arguments_affair():
    (call,) = extract_in_every_chunking('{"name": "f", "parameters": {"a": 1, "a": 2}}').tool_calls
    assert call.arguments == {"a": 2}


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ('{"name": "now"}', True),
        ('{"type": "function", "name": "now"}', True),
        ('{"type": "function", "function": {"name": "now"}}', True),
        ('{"type": "function", "function": "now"}', True),
        ('{"name": "get_weather"}', False),
        ('{"name": "unheard_of"}', False),
    ],
)
def test_rule_1_a_call_without_arguments_is_one_of_a_declared_tool_that_requires_none(text: str, called: bool):
    extraction = extract_in_every_chunking(text, tools=[WEATHER, NOW])
    assert [(call.name, call.arguments, call.arguments_json) for call in extraction.tool_calls] == (
        [("now", {}, "{}")] if called else []
    )
    assert not extract_in_every_chunking(text).tools_called


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"name": "now", "args": {"zone": "CET"}}', "missing_arguments"),
        ('{"name": "now", "zone": "CET"}', "missing_arguments"),
        ('{"name": "now", "paramters": {"zone": "CET"}}', "missing_arguments"),
        ('{"role": "tool", "name": "now", "content": "12:00"}', "missing_arguments"),
        ('{"type": "function", "function": {"name": "now"}, "args": {"zone": "CET"}}', "missing_arguments"),
        ('{"type": "function", "function": {"name": "now", "args": {"zone": "CET"}}}', "missing_arguments"),
        ('{"type": "function", "function": "now", "args": {"zone": "CET"}}', "missing_arguments"),
        ('{"name": "now", "description": "The time"}', "schema_echo"),
        ('{"name": "now", "input_schema": {"type": "object"}}', "schema_echo"),
        ('{"name": "now", "inputSchema": {"type": "object"}}', "schema_echo"),
        ('{"type": "function", "function": {"name": "now", "description": "The time"}}', "schema_echo"),
    ],
)
def test_rule_1_what_stands_beside_a_name_alone_may_be_arguments_a_result_or_a_schema(text: str, reason: str):
    for options in ({}, {"on_unknown_tool": "call"}):
        extraction = extract_in_every_chunking(text, tools=[NOW], **options)
        assert (extraction.content, extraction.tool_calls) == (text, ())
        assert [(str(one.reason), one.name) for one in extraction.rejections] == [(reason, "now")]


def test_rule_1_a_label_or_nothing_may_stand_beside_a_name_alone():
    text = '{"id": "call_7", "type": "function", "name": "now", "content": null}'
    assert extract_in_every_chunking(text, tools=[NOW]).tools_called


@pytest.mark.parametrize("lenient", [False, True])
def test_rule_1_a_repaired_call_says_nothing_beside_its_name_either(lenient: bool):
    text = "{'name': 'now', 'paramters': {'zone': 'CET'}}"
    assert not extract_in_every_chunking(text, tools=[NOW], repair=True, lenient=lenient).tools_called


CALL_A, CALL_B, CALL_C = (f'{{"name": "{name}", "parameters": {{}}}}' for name in "abc")


@pytest.mark.parametrize(
    ("text", "names", "content"),
    [
        (f"[{CALL_A}]", "a", None),
        (f"[ {CALL_A} ,\n{CALL_B},{CALL_C}\n]", "abc", None),
        (f"x [{CALL_A}] y [{CALL_B}]", "ab", "x y"),
        (f"{CALL_A}{CALL_B}", "ab", None),
        (f"{CALL_A}\n{CALL_B}\n\n{CALL_C}", "abc", None),
        (f"{CALL_A}; {CALL_B}", "ab", None),
        (f"{CALL_A}, {CALL_B}", "ab", None),
        (f"{CALL_A} and {CALL_B}", "ab", "and"),
        (f"[{CALL_A}]; {CALL_B}", "ab", None),
        ("[]", "", "[]"),
        (f"[{CALL_A}, 1]", "", f"[{CALL_A}, 1]"),
        (f"[1, {CALL_A}]", "", f"[1, {CALL_A}]"),
        (f'[{CALL_A}, {{"a": 1}}]', "", f'[{CALL_A}, {{"a": 1}}]'),
        (f"[[{CALL_A}]]", "", f"[[{CALL_A}]]"),
        (f"[1] {CALL_A}", "a", "[1]"),
        (f"[see {CALL_A}]", "a", "[see ]"),
    ],
)
def test_rule_2_all_calls_in_order_and_arrays_of_nothing_else(text: str, names: str, content: str | None):
    extraction = extract_in_every_chunking(text)
    assert "".join(call.name for call in extraction.tool_calls) == names
    assert extraction.content == content


CLOCK = {"name": "clock", "parameters": {"required": ["zone"], "properties": {"zone": {}}}}
NINE = '"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "g": 7, "h": 8, "i": 9, "j": 10'
NEITHER = "has neither 'parameters' nor 'arguments'"
NO_OBJECT = "is neither an object nor a string that holds one"


@pytest.mark.parametrize(
    ("text", "name", "detail"),
    [
        (f"{{{NINE}}}", None, "an object with the keys a, b, c, d, e, g, h, i, but no name"),
        ('{"name": "rm"}', "rm", f"'rm' {NEITHER}, and is no declared tool"),
        ('{"name": "clock"}', "clock", f"'clock' {NEITHER}, and is a tool that requires some"),
        (f'{{"name": "now", "id": 1, {NINE}}}', "now", f"'now' {NEITHER}, but a, b, c, d, e, g, h, i"),
        ('{"name": "now", "description": "d"}', "now", "the schema of 'now', not a call of it"),
        ('{"name": "", "parameters": {}}', None, "the name is empty"),
        ('{"name": 5}', None, "the name is not a string"),
        ('{"name": "f", "parameters": [1]}', "f", f"'parameters' {NO_OBJECT}"),
        ('{"name": "f", "arguments": {}, "parameters": 7}', "f", f"'parameters' {NO_OBJECT}"),
        ('{"name": "f", "parameters": {}, "arguments": 7}', "f", f"'arguments' {NO_OBJECT}"),
        (
            '{"name": "f", "arguments": {}, "parameters": {"a": 1}}',
            "f",
            "'parameters' and 'arguments' have different values",
        ),
        (
            '{"function": {"name": "f"}, "parameters": {}}',
            "f",
            "the arguments stand beside the function, not in it",
        ),
        ('{"type": "function", "function": {"arguments": {}}}', None, "a function without a name"),
        ('{"id": 1, "id": 2, "name": "f", "parameters": {}}', "f", "the key 'id' stands twice"),
        ('{"function": {"name": "f", "name": "g", "arguments": {}}}', "f", "the key 'name' stands twice"),
        ('{"name": "rm", "parameters": {}}', "rm", "'rm' is not a declared tool; declared: f, now, clock"),
        (
            '{"tool_calls": [{"name": "f", "parameters": {}}, {"a": 1}]}',
            None,
            "element 1 of the array: an object with the keys a, but no name",
        ),
        ('<function=f>{"a": }</function>', "f", "expected a value at offset 18, found '}'"),
        ('<function=f>{"a": 1}</tool>', "f", "expected </function> at offset 20"),
        (
            '<function=f>{"name": "f", "arguments": {}}</function>',
            "f",
            "a whole call stands in the tag, where the arguments belong",
        ),
        ('<function=f>{"name": "f"}</function>', "f", "a whole call stands in the tag, where the arguments belong"),
        ("{'name': 'now', 'arguments': {}}", "now", "'name' has to stand in double quotes, as in JSON: {'name': 'now'"),
        ("{'function': 'now'}", "now", "'function' has to stand in double quotes, as in JSON: {'function': 'now'"),
        ("<tool>{'id': 1}</tool>", None, "'id' has to stand in double quotes, as in JSON: {'id':"),
        ('`{"name": "f", "parameters": {}}`', "f", "between backticks"),
        ('"{"name": "f", "parameters": {}}"', "f", "directly between quotation marks"),
        ('> {"name": "f", "parameters": {}}', "f", "behind the > of a blockquote"),
    ],
)
def test_a_rejection_says_what_to_mend(text: str, name: str | None, detail: str):
    (rejection,) = extract_in_every_chunking(text, tools=[{"name": "f"}, {"name": "now"}, CLOCK]).rejections
    assert (rejection.name, rejection.detail) == (name, detail)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "get_weather", "parameters": {"city": "Rome", "city": "Paris"}}',
        '<function=get_weather>{"city": "Rome", "city": "Paris"}</function>',
        "get_weather({'city': 'Rome', 'city': 'Paris'})",
    ],
)
def test_of_a_key_that_stands_twice_in_the_arguments_the_last_counts_and_both_were_written(text: str):
    (call,) = extract_in_every_chunking(text, tools=[WEATHER]).tool_calls
    assert call.arguments == {"city": "Paris"}
    assert call.arguments_json == '{"city": "Rome", "city": "Paris"}'


def test_rule_11_an_undeclared_tool_stays_text_by_default():
    text = 'Try {"name": "rm", "parameters": {}} or {"name": "get_weather", "parameters": {"city": "Paris"}}'
    extraction = extract_in_every_chunking(text, tools=[WEATHER])
    assert [call.name for call in extraction.tool_calls] == ["get_weather"]
    assert extraction.content == 'Try {"name": "rm", "parameters": {}} or'
    (rejection,) = extraction.rejections
    assert (str(rejection.reason), rejection.name) == ("unknown_tool", "rm")
    assert "get_weather" in rejection.detail


RM = '{"name": "rm", "parameters": {}}'


@pytest.mark.parametrize(
    "text",
    [
        *[RM, f"[{RM}]", f"<tool_call>{RM}</tool_call>", f"```json\n{RM}\n```", f'{{"tool_call": {RM}}}'],
        "<function=rm>{}</function>",
    ],
)
def test_rule_11_on_unknown_tool_decides_in_every_format(text: str):
    assert extract_in_every_chunking(text, tools=[WEATHER]).content == text
    through = extract_in_every_chunking(text, tools=[WEATHER], on_unknown_tool="call")
    assert [call.name for call in through.tool_calls] == ["rm"]
    assert through.content is None


@pytest.mark.parametrize("name", ["Get_weather", "get_weather ", "get_weathe", "get_we\u0430ther"])
def test_rule_11_a_name_matches_exactly_or_not_at_all(name: str):
    text = f'{{"name": "{name}", "parameters": {{}}}}'
    assert not extract_in_every_chunking(text, tools=[WEATHER]).tools_called


def test_rule_11_no_declared_tool_means_no_call():
    assert not extract_in_every_chunking(CALL_A, tools=[]).tools_called


@pytest.mark.parametrize(
    ("text", "content", "names"),
    [
        (f'{{"message": "Hi", "tool_call": {CALL_A}}}', "Hi", "a"),
        (f'{{"tool_call": {CALL_A}, "message": "Hi"}}', "Hi", "a"),
        (f'{{"tool_call": {CALL_A}}}', None, "a"),
        (f'{{"content": "Hi", "tool_calls": [{CALL_A}, {CALL_B}]}}', "Hi", "ab"),
        (f'{{"role": "assistant", "content": null, "tool_calls": [{CALL_A}]}}', None, "a"),
        ('{"message": "Hi", "tool_call": null}', "Hi", ""),
        ('{"message": "Hi", "tool_calls": []}', "Hi", ""),
        ('{"message": " Hi\\n", "tool_call": null}', "Hi", ""),
        ('{"message": "", "tool_call": null}', None, ""),
        ('{"tool_call": null}', None, ""),
        ('<tool_call>{"tool_call": null}</tool_call>', None, ""),
        (f'{{"role": "assistant", "name": "bot", "content": "Hi", "tool_calls": [{CALL_A}]}}', "Hi", "a"),
        (f'{{"index": 0, "id": 7, "type": "message", "finish_reason": "stop", "tool_calls": [{CALL_A}]}}', None, "a"),
        (f'{{"role": "", "name": "bot", "tool_calls": [{CALL_A}]}}', None, "a"),
        (f'{{"role": "assistant", "refusal": null, "annotations": [], "tool_calls": [{CALL_A}]}}', None, "a"),
        (
            f'{{"role": "assistant", "tool_calls": [{{"id": "1", "type": "function", "function": {CALL_A}}}]}}',
            None,
            "a",
        ),
        (f'One {{"message": "two", "tool_call": {CALL_A}}}; three {CALL_B}', "One two three", "ab"),
        (f'```json\n{{"message": "Hi", "tool_call": {CALL_A}}}\n```', "Hi", "a"),
        (f'<|python_tag|>{{"message": "Hi", "tool_call": {CALL_A}}}<|eom_id|>', "Hi", "a"),
    ],
)
def test_rule_12_an_envelope_is_its_message_and_its_calls(text: str, content: str | None, names: str):
    extraction = extract_in_every_chunking(text)
    assert extraction.content == content
    assert "".join(call.name for call in extraction.tool_calls) == names
    assert all(CALL_A in text[slice(*call.span)] or CALL_B in text[slice(*call.span)] for call in extraction.tool_calls)


@pytest.mark.parametrize(
    "text",
    [
        '{"message": "Hi", "tool_call": "none"}',
        '{"message": "Hi", "tool_call": {"city": "Paris"}}',
        '{"message": "Hi", "tool_calls": {}}',
        '{"message": "Hi", "tool_calls": [1]}',
        '{"message": "Hi", "tool_calls": null}',
        f'{{"message": "Hi", "tool_calls": [{CALL_A}, 1]}}',
        f'{{"message": 5, "tool_call": {CALL_A}}}',
        f'{{"tool_call": {CALL_A}, "tool_calls": []}}',
        '{"message": "Hello World!"}',
        '{"answer": "The result is 42", "tool_call": null}',
        '{"id": 7, "output": "All is well", "tool_calls": []}',
        '{"answer": 0, "tool_call": null}',
        '{"name": "Bob", "tool_call": null}',
        f'{{"message": "a", "reply": "KEEP", "tool_call": {CALL_A}}}',
        f'{{"type": "function", "function": "x", "tool_calls": [{CALL_A}]}}',
        f'{{"role": "tool", "name": "search", "content": "x", "tool_calls": [{CALL_A}]}}',
        f'{{"role": "user", "content": "x", "tool_calls": [{CALL_A}]}}',
        f'{{"tool_call": {CALL_A}, "role": "system"}}',
        f'{{"role": ["assistant"], "tool_call": {CALL_A}}}',
        '<tool_call>{"answer": 42, "tool_call": null}</tool_call>',
        'So:\n```json\n{"answer": 42, "tool_call": null}\n```\nDone.',
    ],
)
def test_rule_12_anything_else_under_those_keys_is_text(text: str):
    extraction = extract_in_every_chunking(text)
    assert extraction.content == text
    assert not extraction.tools_called


def test_rule_1_a_tool_may_have_a_parameter_called_properties():
    text = '{"name": "create", "parameters": {"type": "object", "properties": {"colour": "red"}}}'
    create = {"name": "create", "parameters": {"type": "object", "properties": {"type": {}, "properties": {}}}}
    assert extract_in_every_chunking(text, tools=[create]).tools_called
    assert not extract_in_every_chunking(text, tools=[{"name": "create"}]).tools_called
    assert extract_in_every_chunking(text.replace("parameters", "arguments"), tools=[{"name": "create"}]).tools_called
    beside = text.replace('"name": "create"', '"function": {"name": "create"}')
    assert extract_in_every_chunking(beside, tools=[create], lenient=True).tools_called


def test_rule_13_ids_are_call_and_24_hex_digits_each_its_own():
    extraction = extract('[{"id": "call_1", "name": "f", "parameters": {}}, {"name": "f", "parameters": {}}]' * 50)
    ids = {call.id for call in extraction.tool_calls}
    assert len(ids) == 100
    assert all(re.fullmatch(r"call_[0-9a-f]{24}", id_) for id_ in ids)


def test_rule_13_an_id_factory_makes_the_ids():
    numbers = iter(range(9))
    extraction = extract(f"{CALL_A}{CALL_B}[{CALL_A}, {CALL_B}]", id_factory=lambda: f"n{next(numbers)}")
    assert [call.id for call in extraction.tool_calls] == ["n0", "n1", "n2", "n3"]


def test_an_id_that_is_no_text_becomes_one():
    extractor = Extractor(id_factory=lambda: 5)  # type: ignore[arg-type,return-value]  # on purpose
    for other in (extractor, copy.deepcopy(extractor)):
        assert [call.id for call in other.extract(CALL_A).tool_calls] == ["5"]


@pytest.mark.parametrize(
    ("wrap", "format_"),
    [
        ("%s", "json"),
        ("[%s]", "json"),
        ("<|python_tag|>%s<|eom_id|>", "json"),
        ("<tool>%s</tool>", "tool"),
        ("<tool_call>%s</tool_call>", "tool_call"),
        ("<|python_start|>%s<|python_end|>", "python_start"),
        ("```json\n%s\n```", "fence"),
        ("```\n<tool_call>%s</tool_call>\n```", "fence"),
        ('{"tool_call": %s}', "envelope"),
    ],
)
def test_a_call_says_by_which_format_it_was_read(wrap: str, format_: str):
    text = wrap % CALL_A
    (call,) = extract_in_every_chunking(text).tool_calls
    assert call.format == format_
    assert text[slice(*call.span)] == CALL_A


DIGITS: dict[str, Any] = {
    "1.10": 1.1,
    "-0": 0,
    "1E2": 100.0,
    "12345678901234567890123": 12345678901234567890123,
    "0.1000000000000000055511151231257827": 0.1,
}


@pytest.mark.parametrize(("written", "value"), DIGITS.items())
def test_rule_8_arguments_json_keeps_every_digit(written: str, value: float):
    (call,) = extract_in_every_chunking(f'{{"name": "f", "parameters": {{ "n":{written} }}}}').tool_calls
    assert call.arguments_json == f'{{ "n":{written} }}'
    assert call.arguments == {"n": value}
