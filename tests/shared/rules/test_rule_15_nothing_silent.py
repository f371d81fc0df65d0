"""Rule 15: what has the shape of a call is a call or a rejection, and a rejection says whether it was an attempt."""

from __future__ import annotations

from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, Limits

WEATHER = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {}}, "required": ["city"]}}
TOOLS = [WEATHER, {"name": "now"}]
CALL = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
NOW = '{"name": "now", "parameters": {}}'


def rejected(extraction: Extraction) -> list[tuple[str, str | None]]:
    return [(str(one.reason), one.name) for one in extraction.rejections]


ATTEMPTS = {
    "a malformed argument": (
        '{"name": "get_weather", "parameters": {"city": oops}}',
        [("malformed", "get_weather")],
    ),
    "a malformed argument, the arguments first": (
        '{"arguments": {"city": "Paris", "now": True}, "name": "get_weather"}',
        [("malformed", None)],
    ),
    "a trailing comma": ('{"name": "get_weather", "parameters": {"city": "Paris",}}', [("malformed", "get_weather")]),
    "a dict of Python's": ("{'name': 'now', 'arguments': {}}", [("malformed", "now")]),
    "a dict of Python's, the arguments first": ("{'arguments': {'x': 1}, 'name': 'now'}", [("malformed", "now")]),
    "a dict of an undeclared tool": ("{'name': 'rm', 'arguments': {}}", [("malformed", "rm")]),
    "a list of dicts of Python's": (
        "[{'name': 'now', 'arguments': {}}, {'name': 'now', 'arguments': {}}]",
        [("malformed", "now"), ("malformed", "now")],
    ),
    "cut off": ('{"name": "get_weather", "parameters": {"city": "Pa', [("truncated", "get_weather")]),
    "cut off, the arguments first": ('{"parameters": {"city": "Pa', [("truncated", None)]),
    "cut off before the arguments": ('{"name": "get_weather"', [("truncated", "get_weather")]),
    "missing arguments": ('{"name": "get_weather"}', [("missing_arguments", "get_weather")]),
    "arguments beside the name": ('{"name": "get_weather", "city": "Paris"}', [("missing_arguments", "get_weather")]),
    "arguments that are text": ('{"name": "now", "arguments": "today"}', [("invalid_arguments", "now")]),
    "an empty name": ('{"name": "", "parameters": {}}', [("invalid_name", None)]),
    "no name": ('{"parameters": {"city": "Paris"}}', [("not_a_call", None)]),
    "two values": (
        '{"name": "now", "parameters": {"a": 1}, "arguments": {"a": 2}}',
        [("conflicting_arguments", "now")],
    ),
    "an undeclared tool": ('{"name": "rm", "parameters": {}}', [("unknown_tool", "rm")]),
    "an undeclared tool in a tag": (
        "<tool_call>{}</tool_call>".format('{"name": "rm"}'),
        [("missing_arguments", "rm")],
    ),
    "data in a tag": ('<tool_call>{"city": "Paris"}</tool_call>', [("not_a_call", None)]),
    "malformed data in a tag": ('<tool_call>{"city": Paris}</tool_call>', [("malformed", None)]),
    "data after a token": ('<|python_tag|>{"city": "Paris"}<|eom_id|>', [("not_a_call", None)]),
    "data after a token in the middle": (
        'I will look this up in the list of all cities. <|python_tag|>\n\n{"city": "Paris"}<|eom_id|>',
        [("not_a_call", None)],
    ),
    "data far after a token": (f'<|python_tag|>{" " * 64}{{"city": "Paris"}}', [("not_a_call", None)]),
    "data in a list whose only use is calls": ('[TOOL_CALLS][{"city": "Paris"}]', [("not_a_call", None)]),
    "a dict of Python's with a key twice": (
        "{'name': 'now', 'name': 'now', 'arguments': {}}",
        [("malformed", None)],
    ),
    "a dict of Python's that is an envelope": (
        "{'tool_calls': [{'name': 'now', 'parameters': {}}]}",
        [("malformed", "now")],
    ),
    "a tag that is cut off": ('<tool_call>{"ci', [("truncated", None)]),
    "a custom tag with malformed arguments": (
        '<function=get_weather>{"city": }</function>',
        [("malformed", "get_weather")],
    ),
    "a custom tag that is cut off": ('<function=get_weather>{"city": "Pa', [("truncated", "get_weather")]),
    "an envelope with data": ('{"tool_calls": [{"a": 1}]}', [("not_a_call", None)]),
    "an envelope of another's": (f'{{"tool_call": {NOW}, "role": "user"}}', [("not_a_call", "now")]),
    "a malformed envelope": ('{"tool_calls": [{"name": "now", "parameters": oops}]}', [("malformed", "now")]),
    "a pythonic call with a name for a value": ("get_weather(city=paris)", [("malformed", "get_weather")]),
    "a pythonic list with a name for a value": ("[get_weather(city=paris)]", [("malformed", "get_weather")]),
    "a pythonic call that is cut off": ("get_weather(city=", [("truncated", "get_weather")]),
    "a pythonic call without arguments": ("get_weather()", [("missing_arguments", "get_weather")]),
    "in Functionary's form, malformed": ('get_weather\n{"city": oops}', [("malformed", "get_weather")]),
}


@pytest.mark.parametrize(("text", "rejections"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_by_an_attempt_the_model_meant_to_call(text: str, rejections: list[tuple[str, str | None]]):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert not extraction.tools_called
    assert rejected(extraction) == rejections
    assert extraction.attempts == extraction.rejections


def test_the_name_of_a_list_that_is_written_as_one_is_an_attempt():
    for text in ('["get_weather", {"city": "Paris"}]', "['get_weather', {'city': 'Paris'}]"):
        (attempt,) = extract_in_every_chunking(text, tools=TOOLS).attempts
        assert (str(attempt.reason), attempt.name) == ("malformed", "get_weather")


def test_the_name_of_a_list_in_a_repeated_result_is_quoted():
    extraction = extract_in_every_chunking('Result of now: ["now", {"a": 1}]', tools=TOOLS)
    assert rejected(extraction)[0] == ("quoted", "now")
    assert extraction.attempts == ()


def test_what_follows_the_name_of_a_list_in_a_string_is_quoted_with_it():
    text = """Say '["now", {"a": 1}]' for it."""
    assert rejected(extract_in_every_chunking(text, tools=TOOLS)) == [("quoted", "now")]


NO_ATTEMPTS = {
    "data": ('{"city": "Paris"}', [("not_a_call", None)]),
    "malformed data": ('{"city": Paris}', [("malformed", None)]),
    "data in a fence": ('```json\n{"city": "Paris"}\n```', [("not_a_call", None)]),
    "data in a list": ('[{"city": "Paris"}]', [("not_a_call", None)]),
    "a person": ('{"name": "Alice"}', [("missing_arguments", "Alice")]),
    "a person, cut off": ('{"name": "Alice", "age": 3', [("truncated", "Alice")]),
    "a schema": (
        '{"name": "now", "description": "d", "parameters": {"type": "object", "properties": {}}}',
        [("schema_echo", "now")],
    ),
    "a schema in <tools>": (
        '<tools>{"name": "now", "description": "d", "parameters": {"type": "object"}}</tools>',
        [("schema_echo", "now")],
    ),
    "a schema in <tool_call>": (
        '<tool_call>{"name": "now", "description": "d", "parameters": {"type": "object"}}</tool_call>',
        [("schema_echo", "now")],
    ),
    "quoted in a sentence": (f"Write `{CALL}` for it.", [("quoted", "get_weather")]),
    "quoted on a line": (f"> {CALL}", [("quoted", "get_weather")]),
    "quoted in a fence": (f"So:\n```xml\n{CALL}\n```", [("quoted", "get_weather")]),
    "a pythonic line that goes on": ("get_weather(city='Paris') is what I call.", [("not_a_call", "get_weather")]),
}


@pytest.mark.parametrize(("text", "rejections"), NO_ATTEMPTS.values(), ids=NO_ATTEMPTS)
def test_any_other_rejection_is_no_attempt(text: str, rejections: list[tuple[str, str | None]]):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert rejected(extraction) == rejections
    assert extraction.attempts == ()


def test_a_call_too_many_is_no_attempt():
    extraction = extract_in_every_chunking(f"{NOW}\n{NOW}", limits=Limits(max_calls=1))
    assert (rejected(extraction), extraction.attempts) == ([("too_many", "now")], ())


ALL_THAT_THE_OUTPUT_HOLDS = {
    "a string": f'"{CALL}"',
    "a string in single quotes": f"'{CALL}'",
    "thoughts": f"<think>I call {CALL}</think>",
    "a list in a string": f'"[{CALL}]"',
    "a tag in a string": f"'<tool_call>{CALL}</tool_call>'",
    "a pythonic list in a string": """'[get_weather(city="Paris")]'""",
    "a pythonic list in a string, and a mark in it": """'[get_weather(city='Paris')]'""",
    "a list that begins with the name, in a string": """'["get_weather", {"city": "Paris"}]'""",
}


@pytest.mark.parametrize("text", ALL_THAT_THE_OUTPUT_HOLDS.values(), ids=ALL_THAT_THE_OUTPUT_HOLDS)
def test_a_quoted_call_is_an_attempt_if_the_output_holds_nothing_else(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert [(str(one.reason), one.name) for one in extraction.attempts] == [("quoted", "get_weather")]
    for beside in (f"So: {text}", f"{text}\nDone."):
        assert extract_in_every_chunking(beside, tools=TOOLS).attempts == ()


def test_data_beside_a_quoted_call_is_no_attempt():
    extraction = extract_in_every_chunking(f'<think>I call {CALL}</think>{{"a": 1}}', tools=TOOLS)
    assert rejected(extraction) == [("quoted", "get_weather"), ("not_a_call", None)]
    assert [str(one.reason) for one in extraction.attempts] == ["quoted"]


def test_thoughts_that_never_close_are_all_that_the_output_holds():
    (attempt,) = extract_in_every_chunking(f"<think>I call {CALL}", tools=TOOLS).attempts
    assert (str(attempt.reason), attempt.name) == ("quoted", "get_weather")


@pytest.mark.parametrize(
    "text", ['{"parameters": {"a": oops}, "name": "f"}', '{"name": "f", "parameters": {"a": oops}}']
)
def test_whichever_key_comes_first_it_is_an_attempt_of_any_tool(text: str):
    (attempt,) = extract_in_every_chunking(text).attempts
    assert attempt.reason == "malformed"


CALLS_BEGIN, CALL_BEGIN, SEPARATOR, CALL_END, CALLS_END = (
    f"<\uff5c{name}\uff5c>"  # DeepSeek's tokens for tools
    for name in ("tool▁calls▁begin", "tool▁call▁begin", "tool▁sep", "tool▁call▁end", "tool▁calls▁end")
)
HIDDEN_BEFORE = {
    "<code> in prose": ("Use the <code> tag.\n%s", "Use the <code> tag."),
    "<pre>": ("<pre>\n%s", "<pre>"),
    "a comment": ("<!-- %s", "<!--"),
    "<response> around it": ("<response>%s</response>", "<response> </response>"),
    "<json> around it": ("<json>\n%s\n</json>", "<json> </json>"),
    "<xml> around it": ("<xml>%s</xml>", "<xml> </xml>"),
    "R1's tokens around it": (f"{CALLS_BEGIN}%s{CALLS_END}", f"{CALLS_BEGIN} {CALLS_END}"),
    "other quotation marks": ("«%s»", "« »"),
    "a comma after it": ("%s,", None),
    "letters directly after it": ("%sXXXX", "XXXX"),
    "a closing fence after it": ("%s\n```", "```"),
    "a closing tag after it": ("%s</tool_call>", "</tool_call>"),
}


@pytest.mark.parametrize(("text", "content"), HIDDEN_BEFORE.values(), ids=HIDDEN_BEFORE)
def test_what_is_no_quotation_hides_no_call(text: str, content: str | None):
    extraction = extract_in_every_chunking(text % CALL, tools=TOOLS)
    assert [call.name for call in extraction.tool_calls] == ["get_weather"]
    assert extraction.content == content


ARGUMENTS = '{"city": "Paris"}'
R1 = f"{CALLS_BEGIN}{CALL_BEGIN}%s{CALL_END}{CALLS_END}"
UNREAD = {
    "<response>": f"<response>{ARGUMENTS}</response>",
    "<json>": f"<json>{ARGUMENTS}</json>",
    "<xml>": f"<xml>get_weather {ARGUMENTS}</xml>",
    "R1's tokens": R1 % f"function{SEPARATOR}get_weather\n```json\n{ARGUMENTS}\n```",
    "R1's newer tokens": R1 % f"get_weather{SEPARATOR}{ARGUMENTS}",
}


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_arguments_in_tags_that_are_no_wrappers_are_text_and_reported(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert rejected(extraction) == [("not_a_call", None)]
    assert text[slice(*extraction.rejections[0].span)] == ARGUMENTS


def test_the_call_after_a_stray_fence_is_reported():
    extraction = extract_in_every_chunking(f"{CALL}\n```\nAnd {CALL}", tools=TOOLS)
    assert [call.span for call in extraction.tool_calls] == [(0, len(CALL))]
    assert extraction.content == f"```\nAnd {CALL}"
    assert rejected(extraction) == [("quoted", "get_weather")]


QUOTED = {
    "thoughts that never close": f"<think>Well.\n{CALL}",
    "a listing that never closes": f"```python\nx = 1\n{CALL}",
    "a fence of another language": f"```xml\n<a/>\n{CALL}\n```\nSo.",
    "a repeated result": f"<tool_response>{CALL}</tool_response>",
    "another's turn": f"<|start_header_id|>user<|end_header_id|>\n\n{CALL}",
    "a malformed one": f"```xml\n{CALL[:-2]},}}}}\n```\nSo.",
    "one that is cut off": f"<think>{CALL[:-2]}",
}


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_what_is_quoted_is_reported(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert extraction.tool_calls == ()
    assert rejected(extraction) == [("quoted", "get_weather")]


def test_a_list_of_strings_that_hold_calls_is_reported():
    extraction = extract_in_every_chunking(r'["{\"name\": \"now\", \"parameters\": {}}"]', tools=TOOLS)
    assert rejected(extraction) == [("quoted", None)]


def test_data_farther_after_a_token_is_no_attempt():
    extraction = extract_in_every_chunking(f'<|python_tag|>{" " * 65}{{"city": "Paris"}}', tools=TOOLS)
    assert (rejected(extraction), extraction.attempts) == ([("not_a_call", None)], ())


def test_data_after_a_call_and_the_token_of_code_is_an_attempt():
    text = f'<|python_tag|>{NOW}; {{"city": "Paris"}}'
    extraction = extract_in_every_chunking(text, tools=[*TOOLS, {"name": "code_interpreter"}])
    assert [call.name for call in extraction.tool_calls] == ["now"]
    assert [(str(one.reason), one.name) for one in extraction.attempts] == [("not_a_call", None)]


def test_what_is_malformed_in_a_code_span_is_quoted_as_far_as_it_was_read():
    text = 'Write `{"name": "now", "parameters": oops}` for it.'
    (rejection,) = extract_in_every_chunking(text, tools=TOOLS).rejections
    assert (str(rejection.reason), rejection.name, rejection.is_attempt) == ("quoted", "now", False)
    assert text[slice(*rejection.span)] == '{"name": "now", "parameters": '


def test_malformed_data_with_a_name_in_a_code_span_is_quoted():
    text = 'Write `{"name": "Alice", "age": oops}` for it.'
    assert rejected(extract_in_every_chunking(text, tools=TOOLS)) == [("quoted", "Alice")]


def test_malformed_data_in_a_code_span_is_what_it_is_elsewhere():
    assert rejected(extract_in_every_chunking('Write `{"city": oops}` for it.', tools=TOOLS)) == [("malformed", None)]


@pytest.mark.parametrize("text", ['["now()"]', "['x', 'now(a=1)']", '[("now()")]'])
def test_a_list_of_strings_that_hold_pythonic_calls_is_reported(text: str):
    assert ("quoted", "now") in rejected(extract_in_every_chunking(text, tools=TOOLS))


def test_a_quoted_name_with_an_escape_that_json_does_not_have_is_none():
    text = r'<think>{"parameters": {}, "name": "\q"}</think>'
    assert rejected(extract_in_every_chunking(text, tools=TOOLS)) == [("quoted", None)]


NEVER_PROMOTED = {
    "the value of a member": (f'{{"tags": ["a",], "example": {CALL}}}', ["malformed", "not_a_call"]),
    "an element of a member": (f'{{"tags": ["a",], "examples": [{CALL}]}}', ["malformed", "not_a_call"]),
    "completed before the break": (f'{{"example": {CALL}, "tags": oops}}', ["malformed"]),
}


@pytest.mark.parametrize(("text", "reasons"), NEVER_PROMOTED.values(), ids=NEVER_PROMOTED)
def test_a_call_in_a_malformed_object_is_no_call_and_is_reported(text: str, reasons: list[str]):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [reason for reason, _ in rejected(extraction)] == reasons


READ_NOW = {
    "Functionary's": ('get_weather\n{"city": "Paris"}', None, "functionary"),
    "Functionary's with a message": ('all\nHi>>>get_weather\n{"city": "Paris"}', "all\nHi", "functionary"),
    "a tag with the name as an attribute": (
        '<function name="get_weather">{"city": "Paris"}</function>',
        None,
        "function",
    ),
    "a stray > before the closing tag": (f"<tool_call>{CALL}></tool_call>", None, "tool_call"),
    "a brace too many": (f"<tool_call>{CALL}}}</tool_call>", None, "tool_call"),
    "a closing tag too many": (f"<tool_call>{CALL}</tool_call></tool_call>", None, "tool_call"),
    "functools": (f"functools[{CALL}]", None, "json"),
    "[TOOL_CALLS]": (f"[TOOL_CALLS][{CALL}]", None, "json"),
    "[TOOL_CALLS] and a blank": (f"[TOOL_CALLS] [{CALL}]", None, "json"),
    "Groq's misspelling": ('<function=get_weather{"city": "Paris"}</function>', None, "function"),
}


@pytest.mark.parametrize(("text", "content", "format_"), READ_NOW.values(), ids=READ_NOW)
def test_other_projects_forms_are_read_without_residue(text: str, content: str | None, format_: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert [(call.name, call.arguments, call.format) for call in extraction.tool_calls] == [
        ("get_weather", {"city": "Paris"}, format_)
    ]
    assert (extraction.content, extraction.rejections) == (content, ())


CLOCK = {"name": "clock", "parameters": {"required": ["zone"], "properties": {"zone": {}}}}
NINE = '"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "g": 7, "h": 8, "i": 9, "j": 10'
NO_ARGUMENTS = "has no arguments"
NO_OBJECT = "is neither an object nor a string that holds one"
QUOTES = "keys and strings have to stand in double quotes, as in JSON, at offset"

DETAILS: dict[str, tuple[str, str | None, str]] = {
    "many keys": (f"{{{NINE}}}", None, "an object with the keys a, b, c, d, e, g, h, i, but no name"),
    "no key, in a tag": ("<tool_call>{}</tool_call>", None, "an object with the keys none, but no name"),
    "a name alone": ('{"name": "rm"}', "rm", f"'rm' {NO_ARGUMENTS}, and is no declared tool"),
    "null for arguments": ('{"name": "rm", "arguments": null}', "rm", f"'rm' {NO_ARGUMENTS}, and is no declared tool"),
    "required arguments": ('{"name": "clock"}', "clock", f"'clock' {NO_ARGUMENTS}, and is a tool that requires some"),
    "keys beside the name": (
        f'{{"name": "now", "id": 1, {NINE}}}',
        "now",
        f"'now' {NO_ARGUMENTS}, but the keys a, b, c, d, e, g, h, i",
    ),
    "a schema": ('{"name": "now", "description": "d"}', "now", "the schema of 'now', not a call of it"),
    "an empty name": ('{"name": "", "parameters": {}}', None, "the name is empty"),
    "a number for a name": ('{"name": 5}', None, "the name is not a string"),
    "a list": ('{"name": "f", "parameters": [1]}', "f", f"'parameters' {NO_OBJECT}"),
    "a number beside arguments": ('{"name": "f", "arguments": {}, "parameters": 7}', "f", f"'parameters' {NO_OBJECT}"),
    "a number beside parameters": ('{"name": "f", "parameters": {}, "arguments": 7}', "f", f"'arguments' {NO_OBJECT}"),
    "two values": (
        '{"name": "f", "arguments": {"a": 2}, "parameters": {"a": 1}}',
        "f",
        "'parameters' and 'arguments' have different values",
    ),
    "beside the function": (
        '{"function": {"name": "f"}, "parameters": {}}',
        "f",
        "the arguments stand beside the function, not in it",
    ),
    "no name": ('{"type": "function", "function": {"arguments": {}}}', None, "a function without a name"),
    "a key twice": ('{"id": 1, "id": 2, "name": "f", "parameters": {}}', "f", "the key 'id' stands twice"),
    "a key twice around the function": (
        '{"id": 1, "id": 2, "function": {"name": "f", "arguments": {}}}',
        "f",
        "the key 'id' stands twice",
    ),
    "a key twice in the function": (
        '{"function": {"id": 1, "id": 2, "name": "f", "arguments": {}}}',
        "f",
        "the key 'id' stands twice",
    ),
    "a key twice in the 1B's form": (
        '{"id": 1, "id": 2, "type": "function", "function": "f", "parameters": {}}',
        "f",
        "the key 'id' stands twice",
    ),
    "a key twice in the arguments": (
        '{"name": "f", "parameters": {"a": 1, "a": 2}}',
        "f",
        "a key stands twice in the arguments",
    ),
    "a key twice in arguments in a string": (
        r'{"name": "f", "arguments": "{\"a\": 1, \"a\": 2}"}',
        "f",
        "the key 'a' stands twice, in the arguments",
    ),
    "a key twice in data": ('{"id": 1, "id": 2, "name": "Ann"}', None, "the key 'id' stands twice"),
    "a key twice beside a number for a name": (
        '{"id": 1, "id": 2, "name": 5, "parameters": {}}',
        None,
        "the key 'id' stands twice",
    ),
    "an undeclared tool": (
        '{"name": "rm", "parameters": {}}',
        "rm",
        "'rm' is not a declared tool; declared: f, now, clock",
    ),
    "data in an envelope": (
        '{"tool_calls": [{"name": "f", "parameters": {}}, {"a": 1}]}',
        None,
        "an object with the keys a, but no name",
    ),
    "an envelope of another's": (
        '{"tool_call": {"name": "f", "parameters": {}}, "role": "user"}',
        "f",
        "an envelope of the role 'user'",
    ),
    "an envelope with more": (
        '{"answer": 42, "tool_call": {"name": "f", "parameters": 5}}',
        "f",
        "an envelope with 'answer', which would be lost",
    ),
    "an envelope with more, and no call": (
        '{"tool_call": null, "answer": 42}',
        None,
        "an envelope with 'answer', which would be lost",
    ),
    "an envelope with an object for the calls": (
        '{"tool_calls": {}}',
        None,
        "an envelope whose 'tool_calls' holds anything but calls",
    ),
    "an envelope with a key twice": (
        '{"tool_call": null, "tool_call": null}',
        None,
        "the key 'tool_call' stands twice",
    ),
    "required arguments in an envelope": (
        '{"tool_call": {"name": "clock"}}',
        "clock",
        f"'clock' {NO_ARGUMENTS}, and is a tool that requires some",
    ),
    "no value in a tag": ('<function=f>{"a": }</function>', "f", "expected a value at offset 18, found '}'"),
    "another closing tag": ('<function=f>{"a": 1}</tool>', "f", "expected </function> at offset 20"),
    "a key twice in a dict of a pythonic call": ("[f({'a': 1, 'a': 2})]", "f", "the key 'a' stands twice"),
    "a number that overflows": (
        '{"name": "f", "parameters": {"a": 1e999}}',
        "f",
        "a number or a constant that JSON does not have",
    ),
    "a number that overflows in a tag": (
        '<function=f>{"a": 1e999}</function>',
        "f",
        "a number or a constant that JSON does not have",
    ),
    "single quotes": ("{'name': 'now', 'arguments': {}}", "now", f"{QUOTES} 1"),
    "single quotes in a tag": ("<tool>{'id': 1}</tool>", None, f"{QUOTES} 7"),
    "a listing": ('```python\nx = 1\n{"name": "f", "parameters": {}}\n```', "f", "in a listing of code"),
    "a list in code": ("x = [f(a=1)]", "f", "a list that is a part of code"),
    "a tag around words": ("<function=f>oops</function>", "f", "expected an object in the tag"),
    "a fence of tildes": ('~~~\n{"name": "f", "parameters": {}}\n~~~', "f", "in a fence of tildes"),
    "a pythonic line that goes on": ("f(a=1) it is", "f", "the line goes on after it, as prose or as code"),
    "a code span": ('So `{"name": "f", "parameters": {}}` it', "f", "in a code span"),
    "a string": ('"{"name": "f", "parameters": {}}"', "f", "directly between quotation marks"),
    "a blockquote": ('> {"name": "f", "parameters": {}}', "f", "after the > of a blockquote"),
}


@pytest.mark.parametrize(("text", "name", "detail"), DETAILS.values(), ids=DETAILS)
def test_a_rejection_says_what_to_mend(text: str, name: str | None, detail: str):
    (rejection,) = extract_in_every_chunking(text, tools=[{"name": "f"}, {"name": "now"}, CLOCK]).rejections
    assert (rejection.name, rejection.detail) == (name, detail)


@pytest.mark.parametrize("options", [{}, {"tools": TOOLS}, {"tools": TOOLS, "lenient": True}, {"formats": "all"}])
def test_attempts_are_the_rejections_that_say_so(options: dict[str, Any]):
    text = f'{{"a": 1}} {{"parameters": oops {CALL} `{CALL}` ok <tool_call>{{"b": 1}}</tool_call>'
    extraction = extract_in_every_chunking(text, **options)
    assert extraction.attempts == tuple(one for one in extraction.rejections if one.is_attempt)
    assert 0 < len(extraction.attempts) < len(extraction.rejections)


@pytest.mark.parametrize("part", ["now()", NOW])
def test_a_rejection_says_that_it_is_a_part_of_what_broke(part: str):
    text = f'{{"name": "f", "parameters": {{"a": oops, "b":\n{part}\n}}}}'
    rejections = extract_in_every_chunking(text, tools=TOOLS).rejections
    found = [(str(one.reason), one.name, one.detail) for one in rejections[1:]]
    assert found == [("not_a_call", "now", "a part of data, or of a malformed object or call")]


NAMED_IN_QUOTATION = {
    "a tag that names the tool, in quotation marks": '"<function=f>{"a": 1}</function>"',
    "in a blockquote": '> <function=f>{"a": 1}</function>',
    "in a code span": '`<function=f>{"a": 1}</function>` is it',
    "in a repeated result": 'Result of f: <function=f>{"a": 1}</function>',
    "in thoughts": "<think>So <function=f>{}</function></think>",
    "in a fence": '```bash\n<function=f>{"a": 1}</function>\n```',
    "a misspelt one": '<think><function(f){"a": 1}</function></think>',
    "a line that names the tool, in a fence": '```bash\nf\n{"a": 1}\n```',
    "a line that names the tool, in thoughts": '<think>\nf\n{"a": 1}</think>',
    "a built-in tool, in thoughts": "<think><|python_tag|>f.call(a=1)</think>",
    "a pythonic list, in thoughts": "<think>[f(a=1)]</think>",
    "in a code span of a repeated result": "Result of f: `f(a=1)`",
    "in thoughts of a repeated result": "Result of f: <think>f(a=1)</think>",
    "a span in a list of thoughts": "<think>\n- `f(a=1)`\n</think>",
}


@pytest.mark.parametrize("text", NAMED_IN_QUOTATION.values(), ids=NAMED_IN_QUOTATION)
def test_what_is_quoted_is_reported_with_the_name_of_its_tool(text: str):
    extraction = extract_in_every_chunking(text, tools=[{"name": "f"}])
    assert (extraction.content, extraction.tool_calls) == (text, ())
    (reported,) = (one for one in extraction.rejections if (str(one.reason), one.name) == ("quoted", "f"))
    assert text[slice(*reported.span)] in {"f", "f.call", "<function=f", "<function=f>", "<function(f"}


BRACES = ["{name: 'now'}", "{'thought': 'x', 'name': 'now'}", "{{now}}", "{", " {\n"]
ONLY_FOR_CALLS = [
    "<tool_call>{}</tool_call>",
    "<tool_call>[{}]</tool_call>",
    "<tool_call>\n```json\n{}\n```",
    "[TOOL_CALLS][{}]",
]


@pytest.mark.parametrize("written", ONLY_FOR_CALLS)
@pytest.mark.parametrize("brace", BRACES)
def test_a_brace_that_begins_no_object_is_an_attempt_where_the_only_use_is_calls(written: str, brace: str):
    text = written.format(brace)
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    first = extraction.attempts[0]
    assert (str(first.reason), text[first.span[1] - 1]) == ("malformed", "{")
    limited = extract_in_every_chunking(text[: first.span[1]], tools=TOOLS, complete=False)
    assert [str(one.reason) for one in limited.attempts] == ["truncated"]


@pytest.mark.parametrize("text", ["<tool_call>now</tool_call>", "<tools>{name: 1}</tools>", "`<tool_call>{name: 1}`"])
def test_without_such_a_brace_or_such_a_tag_there_is_none(text: str):
    assert extract_in_every_chunking(text, tools=TOOLS).rejections == ()
