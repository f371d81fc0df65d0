"""What is read with `lenient` alone: calls under keys that no manual has, and misspelt tags of undeclared tools."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import extract

CLOCK = {"name": "clock"}
SEARCH = {"name": "search", "parameters": {"type": "object", "properties": {"q": {}}, "required": ["q"]}}
TOOLS = [CLOCK, SEARCH]
BESIDE = "the arguments stand beside the function, not in it"


def _name(key: str) -> str:
    return f"the name stands under {key!r}"


def _arguments(key: str) -> str:
    return f"the arguments stand under {key!r}"


OTHER_KEYS = {
    "args": ('{"name": "search", "args": {"q": "x"}}', [_arguments("args")]),
    "input, first": ('{"input": {"q": "x"}, "name": "search"}', [_arguments("input")]),
    "args in a string, and labels": (
        '{"name": "search", "args": "{\\"q\\": \\"x\\"}", "type": "tool_call", "id": "1"}',
        [_arguments("args")],
    ),
    "function and params": (
        '{"function": "search", "params": {"q": "x"}}',
        [_name("function"), _arguments("params")],
    ),
    "tool and tool_input": ('{"tool": "search", "tool_input": {"q": "x"}}', [_name("tool"), _arguments("tool_input")]),
    "action and action_input": (
        '{"action": "search", "action_input": {"q": "x"}}',
        [_name("action"), _arguments("action_input")],
    ),
    "function_name": ('{"function_name": "search", "arguments": {"q": "x"}}', [_name("function_name")]),
    "tool_name": ('{"tool_name": "search", "parameters": {"q": "x"}}', [_name("tool_name")]),
    "the 1B's with args": ('{"type": "function", "function": "search", "args": {"q": "x"}}', [_arguments("args")]),
    "OpenAI's with args": (
        '{"type": "function", "function": {"name": "search", "args": {"q": "x"}}}',
        [_arguments("args")],
    ),
    "arguments beside the function": ('{"function": {"name": "search"}, "parameters": {"q": "x"}}', [BESIDE]),
    "kwargs beside the function": (
        '{"function": {"name": "search"}, "kwargs": {"q": "x"}}',
        [BESIDE, _arguments("kwargs")],
    ),
    "args in the function and others beside it": (
        '{"function": {"name": "search", "args": {"q": "x"}}, "kwargs": {"n": 1}}',
        [_arguments("args")],
    ),
    "empty values beside": (
        '{"name": "search", "args": [], "kwargs": {"q": "x"}, "input": null}',
        [_arguments("kwargs")],
    ),
    "the same value twice": ('{"name": "search", "args": {"q": "x"}, "kwargs": {"q": "x"}}', [_arguments("args")]),
    "names that are none": (
        '{"tool": "", "function": 1, "action": "search", "args": {"q": "x"}}',
        [_name("action"), _arguments("args")],
    ),
    "the same name twice": (
        '{"tool": "search", "action": "search", "args": {"q": "x"}}',
        [_name("tool"), _arguments("args")],
    ),
    "a name that is declared, and one that is not": (
        '{"tool": "call", "action": "search", "args": {"q": "x"}}',
        [_name("action"), _arguments("args")],
    ),
}


@pytest.mark.parametrize(("text", "deviations"), OTHER_KEYS.values(), ids=OTHER_KEYS)
def test_name_and_arguments_may_stand_under_other_keys(text: str, deviations: list[str]):
    for written, content in [(text, None), (f"One {text} two", "One two"), (f"[{text}]", None)]:
        extraction = extract_in_every_chunking(written, lenient=True, tools=TOOLS)
        (call,) = extraction.tool_calls
        assert (call.name, call.arguments, call.format) == ("search", {"q": "x"}, "json")
        assert call.deviations == tuple(deviations)
        assert extraction.content == content


@pytest.mark.parametrize("text", [text for text, _ in OTHER_KEYS.values()], ids=OTHER_KEYS)
def test_without_lenient_other_keys_are_no_call(text: str):
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, extraction.tools_called) == (text, False)


@pytest.mark.parametrize("text", [text for text, _ in OTHER_KEYS.values()], ids=OTHER_KEYS)
def test_a_call_under_other_keys_that_is_cut_off_is_none(text: str):
    for end in range(len(text)):
        assert extract(text[:end], lenient=True).content == text[:end]


@pytest.mark.parametrize(
    ("opening", "closing", "format_"),
    [
        ("<tool_call>", "</tool_call>", "tool_call"),
        ("<tool>", "</tool>", "tool"),
        ("<tools>", "</tools>", "tools"),
        ("<functioncall ", ">", "functioncall"),
        ("```json\n", "\n```", "fence"),
        ('{"message": "", "tool_call": ', "}", "envelope"),
        ('{"tool_calls": [', "]}", "envelope"),
    ],
)
def test_other_keys_are_read_inside_of_whatever_holds_calls(opening: str, closing: str, format_: str):
    text = f'{opening}{{"tool": "search", "args": {{"q": "x"}}}}{closing}'
    (call,) = extract_in_every_chunking(text, lenient=True).tool_calls
    assert (call.name, call.format, call.deviations) == ("search", format_, (_name("tool"), _arguments("args")))


def test_an_envelope_with_arguments_beside_the_functions_in_a_tag():
    calls = ", ".join(f'{{"id": "pending", "function": {{"name": "{name}"}}, "parameters": {{}}}}' for name in "fg")
    extraction = extract_in_every_chunking(f'<tool-use>{{"tool_calls": [{calls}]}}</tool-use>', lenient=True)
    assert [(call.name, call.deviations) for call in extraction.tool_calls] == [("f", (BESIDE,)), ("g", (BESIDE,))]
    assert extraction.content is None


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ('{"name": "f", "parameters": {"a": 1}, "args": {"a": 2}, "tool": "g"}', "f", '{"a": 1}'),
        ('{"type": "function", "function": {"name": "f", "arguments": {}}, "args": {"a": 2}}', "f", "{}"),
        ('{"type": "chat", "input": {}, "tool_call": {"name": "f", "arguments": {}}}', "f", "{}"),
    ],
)
def test_what_is_documented_wins(text: str, name: str, arguments: str):
    (call,) = extract_in_every_chunking(text, lenient=True).tool_calls
    assert (call.name, call.arguments_json, call.deviations) == (name, arguments, ())


@pytest.mark.parametrize(
    ("text", "reason", "name"),
    [
        pytest.param('{"tool": "search", "input": "llamas"}', "invalid_arguments", "search", id="text for arguments"),
        pytest.param(
            '{"name": "Alice", "input": "text"}', "invalid_arguments", "Alice", id="text for the input of a person"
        ),
        pytest.param(
            '{"action": "Final Answer", "action_input": "It is sunny."}',
            "invalid_arguments",
            "Final Answer",
            id="an agent's last answer",
        ),
        pytest.param(
            '{"name": "search", "args": ["llamas"]}', "invalid_arguments", "search", id="a list for arguments"
        ),
        pytest.param(
            '{"name": "search", "args": ["llamas"], "kwargs": {"pages": 2}}',
            "invalid_arguments",
            "search",
            id="a list beside keyword arguments",
        ),
        pytest.param(
            '{"name": "search", "args": {"q": "x"}, "kwargs": {"q": "y"}}',
            "conflicting_arguments",
            "search",
            id="keyword arguments that differ",
        ),
        pytest.param(
            '{"name": "search", "parameters": "llamas", "args": {"q": "x"}}',
            "invalid_arguments",
            "search",
            id="text beside arguments",
        ),
        pytest.param('{"tool": "clock"}', "not_a_call", None, id="another key for the name, and no arguments"),
        pytest.param('{"tool": "clock", "args": null}', "not_a_call", None, id="another key for the name, and null"),
        pytest.param(
            '{"function": {"tool": "clock"}, "args": {}}', "not_a_call", None, id="another key in the function"
        ),
        pytest.param('{"name": "search", "args": null}', "missing_arguments", "search", id="null for arguments"),
        pytest.param(
            '{"name": 1, "tool": "search", "args": {"q": "x"}}', "invalid_name", None, id="a number for the name"
        ),
        pytest.param(
            '{"tool": "search", "action": "clock", "args": {"q": "x"}}', "invalid_name", "search", id="two names"
        ),
        pytest.param(
            '{"tool": "rm", "action": "x", "args": {}}', "invalid_name", "rm", id="two names, neither declared"
        ),
        pytest.param(
            '{"tool": "search", "parameters": {"type": "object", "properties": {}}}',
            "schema_echo",
            "search",
            id="a schema under parameters",
        ),
        pytest.param(
            '{"name": "search", "input": {"type": "object", "properties": {"q": {}}}}',
            "schema_echo",
            "search",
            id="a schema under input",
        ),
        pytest.param(
            '{"name": "search", "description": "…", "args": {"q": {"title": "Q", "type": "string"}}}',
            "schema_echo",
            "search",
            id="the schemas of arguments",
        ),
        pytest.param(
            '{"function": {"name": "search", "description": "…"}, "args": {"q": {"type": "string"}}}',
            "schema_echo",
            "search",
            id="the schemas of arguments, beside a function",
        ),
        pytest.param(
            '{"query": {"tool": "search", "args": {"q": "x"}}}', "not_a_call", None, id="a wrapper that someone made up"
        ),
        pytest.param('{"search": {"q": "x"}}', "not_a_call", None, id="the name as a key"),
        pytest.param('{"tool": "rm", "args": {"path": "/"}}', "unknown_tool", "rm", id="an undeclared tool"),
        pytest.param('{"tool": "search", "args": {"q": x}}', "malformed", None, id="malformed"),
        pytest.param('{"tool": "search", "args": {"q": 1}, "args": {"q": 1}}', "malformed", None, id="arguments twice"),
    ],
)
def test_what_is_still_no_call(text: str, reason: str, name: str | None):
    extraction = extract_in_every_chunking(text, lenient=True, tools=TOOLS)
    assert extraction.content == text
    assert [(str(rejection.reason), rejection.name) for rejection in extraction.rejections] == [(reason, name)]


def test_names_that_differ_are_told():
    text = '{"tool_name": "search", "action": "x", "function_name": "search", "args": {}}'
    (rejection,) = extract_in_every_chunking(text, lenient=True).rejections
    assert rejection.detail == "'tool_name' and 'action' have different values"


def test_a_declared_tool_that_requires_no_argument_needs_none():
    for text in ['{"name": "clock"}', '{"name": "clock", "args": {}}', '{"tool": "clock", "input": {}}']:
        (call,) = extract_in_every_chunking(text, lenient=True, tools=TOOLS).tool_calls
        assert (call.name, call.arguments) == ("clock", {})


def test_arguments_under_another_key_are_coerced():
    pages = {"name": "search", "parameters": {"type": "object", "properties": {"pages": {"type": "integer"}}}}
    text = '{"tool": "search", "args": {"pages": "2"}}'
    (call,) = extract_in_every_chunking(text, lenient=True, tools=[pages], coerce_arguments=True).tool_calls
    assert (call.arguments, call.arguments_json) == ({"pages": 2}, '{"pages": "2"}')
    assert (len(call.changes), len(call.deviations)) == (1, 2)


RAN = "a call that was run already: its result stands beside it"


@pytest.mark.parametrize("key", ["output", "result", "observation", "tool_output"])
def test_a_call_beside_its_result_was_run_already(key: str):
    for call in ('"tool": "search", "input": {"q": "x"}', '"name": "search", "args": {"q": "x"}'):
        extraction = extract_in_every_chunking(f'{{{call}, "{key}": "found 3"}}', lenient=True)
        assert not extraction.tools_called
        (rejection,) = extraction.rejections
        assert (rejection.reason, rejection.name, rejection.detail) == ("not_a_call", "search", RAN)
        assert extract_in_every_chunking(f'{{{call}, "{key}": null}}', lenient=True).tools_called
    documented = f'{{"name": "search", "parameters": {{}}, "{key}": "found 3"}}'
    assert extract_in_every_chunking(documented, lenient=True).tools_called


def test_a_call_under_other_keys_beside_data_in_a_list_is_called():
    extraction = extract_in_every_chunking('[{"tool": "search", "args": {"q": "x"}}, {"a": 1}] then', lenient=True)
    assert [call.name for call in extraction.tool_calls] == ["search"]
    assert extraction.content == '[ , {"a": 1}] then'


MISSPELT = [
    "<function=f={%s}</function>",
    "<function=f{%s}</function>",
    "<function.f>{%s}</function>",
    "<function(f){%s}>",
]


@pytest.mark.parametrize("text", MISSPELT)
def test_a_misspelt_tag_of_an_undeclared_tool_is_read(text: str):
    text %= '"q": "x"'
    (call,) = extract_in_every_chunking(text, lenient=True).tool_calls
    assert (call.name, call.arguments, call.format) == ("f", {"q": "x"}, "function")
    (spelling, *_) = call.deviations
    assert (
        spelling
        == f"the tag is written {text.split('{')[0].replace('f', 'NAME').replace('NAMEunction', 'function')}{{…}}"
    )
    assert not extract_in_every_chunking(text).tools_called


def test_beside_the_function_too_a_tool_that_has_properties_may_be_given_some():
    text = '{"function": {"name": "draw"}, "parameters": {"type": "object", "properties": {}}}'
    draw = {"name": "draw", "parameters": {"properties": {"type": {}, "properties": {}}}}
    (call,) = extract_in_every_chunking(text, tools=[draw], lenient=True).tool_calls
    assert call.arguments == {"type": "object", "properties": {}}
    (rejection,) = extract_in_every_chunking(text, tools=[{"name": "draw"}], lenient=True).rejections
    assert rejection.reason == "schema_echo"
