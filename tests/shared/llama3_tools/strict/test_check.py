"""The strict response format: what is accepted, and what each error says."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama3_tools import (
    Limits,
    ResponseFormatError,
    ResponseFormatProblem,
    ToolDefinitionError,
    extract,
    parse_response,
)

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CLOCK = {"name": "clock"}
TOOLS = [WEATHER, CLOCK]
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
NULL = '{"message": "Hi", "tool_call": null}'
ONE = f'{{"message": "Hi", "tool_call": {CALL}}}'
MANY = f'{{"message": "Hi", "tool_calls": [{CALL}, {CALL}]}}'


OBJECTS = {
    "no call": (NULL, False, "Hi", []),
    "a call": (ONE, False, "Hi", ["get_weather"]),
    "calls": (MANY, True, "Hi", ["get_weather"] * 2),
    "a key in several objects": (
        '{"message": "", "tool_call": {"name": "clock", "arguments": {"b": {"a": 1}, "a": [{"a": 1}, {"a": 1}]}}}',
        False,
        None,
        ["clock"],
    ),
    "another order": (f'{{"tool_call": {CALL}, "message": "Hi"}}', False, "Hi", ["get_weather"]),
    "JSON's white space at both ends": (f" \t\r\n{ONE}\n\n ", False, "Hi", ["get_weather"]),
    "escapes": (r'{"mess\u0061ge": "\u0048i", "tool_call": null}', False, "Hi", []),
    "JSON inside": ('{"message": "a {\\"b\\": 1} ```", "tool_call": null}', False, 'a {"b": 1} ```', []),
}


@pytest.mark.parametrize(("text", "multiple", "content", "names"), OBJECTS.values(), ids=OBJECTS)
def test_an_object_of_the_format_is_read_as_extract_reads_it(
    text: str, content: str | None, names: list[str], *, multiple: bool
):
    extraction = parse_response(text, tools=TOOLS, multiple=multiple)
    assert extraction.content == content
    assert [call.name for call in extraction.tool_calls] == names
    assert extraction == extract(text, tools=TOOLS)


def one(call: str) -> str:
    return f'{{"message": "", "tool_call": {call}}}'


def one_with(value: object) -> str:
    return json.dumps({"name": "clock", "arguments": {"a": value}})


LONG = "5" * 5000  # an integer that Python does not read at once

# The problem, the offset where it goes wrong, and the noun that helps.
PROBLEMS: dict[str, tuple[str, str, int, str]] = {
    "nothing": ("", "no_json", 0, "empty"),
    "prose": ("It is sunny in Rome.", "no_json", 0, "'It is sunny in Rome.'"),
    "prose with braces": ('The set {a, b} and {"a"} too.', "no_json", 0, "'The set"),
    "text before": (f"Sure! {NULL}", "text_around", 0, "'Sure! '"),
    "much text before": (f"{'Well. ' * 9}{NULL}", "text_around", 0, "'Well. Well. Well. We'…"),
    "a byte order mark": (f"\ufeff{NULL}", "text_around", 0, r"'\ufeff'"),
    "text before an object that is cut off": (f"Sure! {ONE[:-9]}", "text_around", 0, "'Sure! '"),
    "text after": (f"{NULL} Anything else?", "text_around", 37, "'Anything else?'"),
    "a fence": (f"```json\n{NULL}\n```", "text_around", 0, "```json"),
    "two objects": (f"{ONE}\n{NULL}", "text_around", len(ONE) + 1, "after"),
    "malformed": ('{"message": "Hi", "tool_call": None}', "malformed", 31, "value"),
    "a raw line break in a string": ('{"message": "a\nb", "tool_call": null}', "malformed", 14, r"'\n'"),
    "half a surrogate pair": (r'{"message": "\ud83d", "tool_call": null}', "malformed", 13, "half a surrogate pair"),
    "a key twice": ('{"message": "a", "message": "b", "tool_call": null}', "malformed", 0, "'message'"),
    "a key of a call twice": (one('{"name": "a", "name": "clock", "arguments": {}}'), "malformed", 29, "twice"),
    "a key twice inside the arguments": (
        " " + one(r'{"name": "clock", "arguments": {"a": [{"b": "}b", "\u0062" : 1}]}}'),
        "malformed",
        80,
        "'b' occurs twice",
    ),
    "cut off": (ONE[:-9], "truncated", len(ONE) - 9, "the rest of a string was due"),
    "too deep": (one('{"name": "f", "arguments": {"a": ' + "[" * 200 + "]" * 200 + "}}"), "over_limit", 0, "128"),
    "an empty object": ("{}", "wrong_shape", 0, "'message'"),
    "a bare call": (CALL, "wrong_shape", 0, "name, arguments"),
    "a key with a line break": (r'{"message": "Hi", "tool\n2026": null}', "wrong_shape", 0, r"message, tool\n2026"),
    "the other form": (MANY, "wrong_shape", 0, "'tool_call'"),
    "one key more": ('{"message": "", "tool_call": null, "thought": 1}', "wrong_shape", 46, "'thought'"),
    "message null": ('{"message": null, "tool_call": null}', "wrong_shape", 12, "null, not a string"),
    "tool_call a string": (one('"clock"'), "wrong_shape", 29, "a string, not an object or null"),
    "a call without arguments": (one('{"name": "clock"}'), "wrong_shape", 29, "'arguments'"),
    "a call without a name": (one('{"name": "", "arguments": {}}'), "wrong_shape", 38, "an empty string"),
    "a name that is none": (one('{"name": 5, "arguments": {}}'), "wrong_shape", 38, "a number, not a name"),
    "stringified arguments": (
        one('{"name": "clock", "arguments": "{}"}'),
        "wrong_shape",
        60,
        "a string, not an object",
    ),
    "a tool's schema": (
        one('{"name": "clock", "arguments": {"type": "object", "properties": {}}}'),
        "wrong_shape",
        29,
        "the schema of 'clock'",
    ),
    "an unknown tool": (one('{"name": "rm", "arguments": {}}'), "unknown_tool", 38, "declared: get_weather, clock"),
    "an unknown tool and a long number": (
        one(f'{{"name": "rm", "arguments": {{"n": {LONG}}}}}'),
        "unknown_tool",
        38,
        "'rm'",
    ),
}


@pytest.mark.parametrize(("text", "problem", "offset", "noun"), PROBLEMS.values(), ids=PROBLEMS)
def test_anything_else_is_an_error_that_says_what_and_where(text: str, problem: str, offset: int, noun: str):
    with pytest.raises(ResponseFormatError) as raised:
        parse_response(text, tools=TOOLS)
    error = raised.value
    assert (str(error.problem), error.offset, error.output) == (problem, offset, text)
    assert error.detail.endswith(f", at offset {offset}")
    assert str(error).startswith(f"{problem}: {error.detail}. Expected one JSON object and nothing else: {{")
    assert noun in error.detail


def test_a_schema_is_no_call_of_any_tool_but_one_that_takes_properties():
    text = one('{"name": "make", "arguments": {"type": "object", "properties": {}}}')
    with pytest.raises(ResponseFormatError, match="the schema of 'make'"):
        parse_response(text)
    make = {"name": "make", "parameters": {"type": "object", "properties": {"properties": {"type": "object"}}}}
    assert parse_response(text, tools=[make]).tools_called


# The array of calls, bounds that allow it, and ones that do not.
BEYOND: dict[str, tuple[str, Limits, Limits, str]] = {
    "calls": (f"[{CALL}, {CALL}]", Limits(max_calls=2), Limits(max_calls=1), "2 calls, and at most 1"),
    "a call": (
        f"[{CALL}, {one_with('x' * 300)}]",
        Limits(max_call_length=len(one_with("x" * 300))),
        Limits(max_call_length=len(one_with("x" * 300)) - 1),
        "tool_calls[1] is longer than 340 characters",
    ),
    "a level": (f"[{CALL}, {one_with([{}])}]", Limits(max_depth=3), Limits(max_depth=2), "deeper than 2 levels"),
}


@pytest.mark.parametrize(("calls", "wide", "narrow", "words"), BEYOND.values(), ids=BEYOND)
def test_what_is_beyond_a_limit_is_an_error(calls: str, wide: Limits, narrow: Limits, words: str):
    text = f'{{"message": "Hi", "tool_calls": {calls}}}'
    assert len(parse_response(text, tools=TOOLS, multiple=True, limits=wide).tool_calls) == 2
    with pytest.raises(ResponseFormatError, match=r"^over_limit") as raised:
        parse_response(text, tools=TOOLS, multiple=True, limits=narrow)
    assert words in raised.value.detail


def test_a_message_may_be_longer_than_a_call():
    text = f'{{"message": "{"x" * 300}", "tool_call": {CALL}}}'
    assert parse_response(text, tools=TOOLS, limits=Limits(max_call_length=256)).tools_called


CLOCK_CALL = '{"name": "clock", "arguments": {}}'


@pytest.mark.parametrize(
    ("choice", "calls", "words"),
    [
        pytest.param("auto", [], None, id="none, auto"),
        pytest.param("required", [], "nothing is called", id="none, required"),
        pytest.param("required", [CLOCK_CALL], None, id="one, required"),
        pytest.param("clock", [], "nothing is called", id="none, one tool"),
        pytest.param("clock", [CLOCK_CALL], None, id="that one tool"),
        pytest.param("clock", [CALL], "'get_weather' is called .* where it has to be 'clock'", id="another tool"),
    ],
)
@pytest.mark.parametrize("multiple", [False, True])
def test_a_call_that_has_to_be_is_asked_for(choice: str, calls: list[str], words: str | None, *, multiple: bool):
    value = f"[{', '.join(calls)}]" if multiple else "".join(calls) or "null"
    text = f'{{"message": "", "tool_call{"s" * multiple}": {value}}}'
    if words is None:
        found = parse_response(text, tools=TOOLS, multiple=multiple, tool_choice=choice)
        assert len(found.tool_calls) == len(calls)
        return
    with pytest.raises(ResponseFormatError, match=words) as raised:
        parse_response(text, tools=TOOLS, multiple=multiple, tool_choice=choice)
    error = raised.value
    assert error.problem is ResponseFormatProblem.TOOL_CHOICE
    assert error.offset == text.index('"clock"' if choice in text else '"get_weather"' if calls else value)
    assert " or null" not in error.expected
    assert ('"name": "clock"' in error.expected) is (choice == "clock")


def test_a_call_that_cannot_be_is_not_asked_for():
    with pytest.raises(ToolDefinitionError, match="declared: none"):
        parse_response(NULL, tools=[], tool_choice="required")


def test_arguments_are_made_to_fit_where_that_is_asked_for():
    tool = {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}
    text = one('{"name": "f", "arguments": {"n": "5"}}')
    assert parse_response(text, tools=[tool]).tool_calls[0].arguments == {"n": "5"}
    assert parse_response(text, tools=[tool], coerce_arguments=True).tool_calls[0].arguments == {"n": 5}
    with pytest.raises(ValueError, match="pass tools, too"):
        parse_response(text, coerce_arguments=True)


@pytest.mark.parametrize(
    ("text", "problem", "offset", "words"),
    [
        (ONE, "wrong_shape", 0, "'tool_calls'"),
        ('{"message": "", "tool_calls": null}', "wrong_shape", 30, "null, not an array"),
        (' {"message": "", "tool_calls": [1]}', "wrong_shape", 31, "an array of objects"),
        (f'{{"message": "", "tool_calls": [{CALL}, {{"name": "clock"}}]}}', "wrong_shape", 88, "tool_calls[1]"),
    ],
)
def test_with_multiple_the_calls_are_an_array(text: str, problem: str, offset: int, words: str):
    with pytest.raises(ResponseFormatError) as raised:
        parse_response(text, tools=TOOLS, multiple=True)
    assert (str(raised.value.problem), raised.value.offset) == (problem, offset)
    assert words in str(raised.value)
    assert '"tool_calls": [' in raised.value.expected


def test_without_tools_any_name_may_be_called_and_with_an_empty_list_none():
    text = one('{"name": "rm", "arguments": {}}')
    (call,) = parse_response(text, id_factory=lambda: "call_1").tool_calls
    assert (call.name, call.id) == ("rm", "call_1")
    with pytest.raises(ResponseFormatError, match=r"unknown_tool: .*declared: none"):
        parse_response(text, tools=[])


def test_an_output_is_a_str():
    message = "^the response format is that of a model's output, a str, got bytes: decode it first$"
    with pytest.raises(TypeError, match=message):
        parse_response(b"{}")  # type: ignore[arg-type]


def test_the_error_can_be_pickled():
    with pytest.raises(ResponseFormatError) as raised:
        parse_response('{"message": "Hi", "tool_call": null, "❤\ufe0f": 1}')
    assert r"❤\ufe0f" in str(raised.value)
    copy = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 (pickled in the line)
    assert str(copy) == str(raised.value)
    assert (copy.problem, copy.output, copy.offset) == (raised.value.problem, raised.value.output, raised.value.offset)
    assert copy.offset > 0


def test_many_braces_take_no_more_than_a_look_each():
    """A search that began anew at each brace would take hours."""
    with pytest.raises(ResponseFormatError) as raised:
        parse_response("x" + '{"a": ' * 20_000)
    assert raised.value.problem == "text_around"
    with pytest.raises(ResponseFormatError) as raised:
        parse_response("x" + '{"a" ' * 20_000 + ".")
    assert raised.value.problem == "no_json"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=6,
)
calls = st.fixed_dictionaries(
    {
        "name": st.text(min_size=1, max_size=8),
        "arguments": st.dictionaries(st.text(max_size=5), json_values, max_size=3),
    }
)


@given(message=st.text(max_size=20), written=st.lists(calls, max_size=3), multiple=st.booleans())
def test_whatever_the_format_allows_is_read_and_extract_reads_the_same(
    message: str, written: list[dict[str, Any]], *, multiple: bool
):
    """Strictness only rejects: what it lets through is read as by default, and no call of it is lost."""
    written = written if multiple else written[:1]
    key, value = ("tool_calls", written) if multiple else ("tool_call", written[0] if written else None)
    text = json.dumps({"message": message, key: value})
    extraction = parse_response(text, multiple=multiple)
    assert extraction == extract(text)
    assert (extraction.content or "") == message.strip()
    found = [{"name": call.name, "arguments": call.arguments} for call in extraction.tool_calls]
    assert found == written


@given(st.text(alphabet='{}[]":, \\n`messagtol_c<|>x1', max_size=60) | st.text(max_size=30))
def test_an_output_is_read_or_named_wrong(text: str):
    """No output ends in another exception, and what is read says something."""
    try:
        extraction = parse_response(text)
    except ResponseFormatError:
        return
    assert extraction == extract(text)
