"""The prompts: each tool is shown, and what is asked for is what the extractor reads."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama3_tools import (
    Extractor,
    PromptFormat,
    Tool,
    declare_tools,
    extract,
    render_tool_call,
    render_tool_calls,
    render_tool_prompt,
    render_tool_result,
)
from llama3_tools.formats import FormatName, Formats
from llama3_tools.prompts.render import formats_asked_for

FORMAT_NAMES = {*get_args(FormatName)} - {"all", "none"}

BARE = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}, "required": ["a"]}}
WETTER = {"name": "wetter", "description": "F\u00fcr \u6771\u4eac"}
FORMATS = get_args(PromptFormat)


def shown_tools(prompt: str) -> list[Any]:
    """Decode the JSON objects of a prompt, each at the start of a line."""
    decoder = json.JSONDecoder()
    return [decoder.raw_decode("{" + part)[0] for part in prompt.split("\n{")[1:]]


@pytest.mark.parametrize(
    ("prompt_format", "formats", "tools", "read"),
    [
        ("json", None, None, None),
        ("function", None, ["f"], None),
        ("pythonic", None, None, FORMAT_NAMES),
        ("pythonic", None, ["f", "code_interpreter"], FORMAT_NAMES),
        ("pythonic", None, ["f"], FORMAT_NAMES - {"code"}),
        ("pythonic", ["json"], ["f"], {"json", "pythonic"}),
        *((prompt_format, ["none", "json"], None, {"json", prompt_format} - {"strict"}) for prompt_format in FORMATS),
        *((prompt_format, "none", None, {"none"}) for prompt_format in FORMATS),
    ],
)
def test_what_was_asked_for_is_read(prompt_format: PromptFormat, formats: Formats, tools: Any, read: Any):
    asked_for = formats_asked_for(prompt_format, formats, tools=tools)
    assert (None if asked_for is None else set(asked_for)) == read


@pytest.mark.parametrize("prompt_format", FORMATS)
def test_the_prompt_shows_each_tool_in_openais_form(prompt_format: PromptFormat):
    prompt = render_tool_prompt([BARE, WETTER], prompt_format=prompt_format)
    assert shown_tools(prompt) == [tool.to_openai() for tool in declare_tools([BARE, WETTER]).values()]
    assert "F\u00fcr \u6771\u4eac" in prompt


@pytest.mark.parametrize(
    ("prompt_format", "words"),
    [
        ("json", '{"name": function name, "parameters": dictionary of argument name and its value}'),
        ("function", "<function=example_function_name>"),
        ("pythonic", "in the format of [func_name1(params_name1="),
    ],
)
def test_each_format_asks_for_its_form(prompt_format: PromptFormat, words: str):
    assert words in render_tool_prompt([BARE], prompt_format=prompt_format)


@pytest.mark.parametrize("prompt_format", FORMATS)
def test_a_prompt_that_the_model_repeats_is_no_call(prompt_format: PromptFormat):
    assert not extract(render_tool_prompt([BARE], prompt_format=prompt_format), tools=[BARE]).tools_called


def test_a_prompt_format_that_does_not_exist_is_an_error():
    with pytest.raises(
        ValueError, match='prompt_format must be "json", "function", "pythonic" or "strict", not \'yaml\''
    ):
        render_tool_prompt([BARE], prompt_format="yaml")  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        (None, {}, TypeError, "render_tool_call takes the tool's name as a str, got NoneType"),
        ("", {}, ValueError, "render_tool_call takes the tool's name, and it is empty"),
        ("f", None, TypeError, "render_tool_call takes arguments as a mapping or as text, got NoneType"),
    ],
)
def test_what_is_no_call_is_not_rendered(name: Any, arguments: Any, error: type[Exception], message: str):
    with pytest.raises(error) as raised:
        render_tool_call(name, arguments)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ({"n": float("nan")}, '{"n": NaN}'),
        ({"at": dt.date(2026, 11, 22)}, '{"at": "2026-11-22"}'),
        ({"n": 10**5000}, f'{{"n": 1{"0" * 5000}}}'),
        ({(1, 2): 3}, '"{…}"'),
    ],
)
def test_what_json_has_no_form_for_is_shown_all_the_same(arguments: Any, written: str):
    assert render_tool_call("f", arguments, prompt_format="function") == f"<function=f>{written}</function>"
    assert render_tool_call("f", arguments) == f'{{"name": "f", "parameters": {written}}}'
    assert render_tool_result("f", "Sun", arguments=arguments) == f"Result of f {written}: Sun"


@pytest.mark.parametrize(
    ("given", "rendered"),
    [
        ({}, "Result of f: Sun"),
        ({"name": None}, "Result of a tool: Sun"),
        ({"result": ""}, "Result of f:"),
        ({"is_error": True}, "Error of f: Sun"),
        ({"arguments": {}}, "Result of f {}: Sun"),
        ({"arguments": '{"a": '}, 'Result of f {"a": : Sun'),
    ],
)
def test_a_result_names_its_tool(given: dict[str, Any], rendered: str):
    assert render_tool_result(**{"name": "f", "result": "Sun", **given}) == rendered


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(
    st.from_regex(r"[A-Za-z_][\w.:-]{0,40}", fullmatch=True),
    st.dictionaries(st.text(), json_values, max_size=4),
    st.sampled_from(FORMATS),
)
def test_what_is_rendered_is_read_back(name: str, arguments: dict[str, Any], prompt_format: PromptFormat):
    written = render_tool_call(name, arguments, prompt_format=prompt_format)
    extraction = Extractor(tools=[Tool(name)]).extract(f"One {written} two {written}")
    assert [(call.name, call.arguments) for call in extraction.tool_calls] == [(name, arguments)] * 2
    assert extraction.content == "One two"
    (call, _) = extraction.tool_calls
    assert render_tool_call(name, call.arguments_json, prompt_format=prompt_format) == written


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_two_results_of_one_tool_are_told_apart_and_are_no_calls(arguments: dict[str, Any]):
    tools = [Tool("f")]
    results = [render_tool_result("f", "Sun", arguments=given) for given in (arguments, {**arguments, "more": 1})]
    assert len(set(results)) == 2 or "more" in arguments
    for result in results:
        extraction = extract(result, tools=tools)
        assert (extraction.content, extraction.tool_calls) == (result, ())


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ({"city": "Paris", "days": [1, None, True]}, "[f(city='Paris', days=[1, None, True])]"),
        ({"class": "it's", "größe": -0.5}, """[f(class="it's", größe=-0.5)]"""),
        ('{"city": "Par', '[f({"city": "Par)]'),
    ],
)
def test_a_pythonic_call_is_python(arguments: Any, written: str):
    assert render_tool_call("f", arguments, prompt_format="pythonic") == written


@pytest.mark.parametrize(
    ("prompt_format", "name", "arguments", "written"),
    [
        ("json", "größe", {}, '{"name": "größe", "parameters": {}}'),
        ("function", "two words", {}, '{"name": "two words", "parameters": {}}'),
        ("function", "f" * 129, {}, f'{{"name": "{"f" * 129}", "parameters": {{}}}}'),
        ("pythonic", "two words", {}, '{"name": "two words", "parameters": {}}'),
        ("pythonic", "f", {"a-b": 1, "c": None}, '{"name": "f", "parameters": {"a-b": 1, "c": null}}'),
        *(
            ("pythonic", "f", {word: 1}, f'{{"name": "f", "parameters": {{"{word}": 1}}}}')
            for word in ("True", "False", "None")
        ),
        (
            "pythonic",
            "f",
            {"n": 10**5000, "yes": True},
            f'{{"name": "f", "parameters": {{"n": 1{"0" * 5000}, "yes": true}}}}',
        ),
        (
            "json",
            "f",
            {"type": "object", "properties": {}},
            '{"name": "f", "parameters": {"type": "object", "properties": {}}}',
        ),
    ],
)
def test_what_a_form_has_no_place_for_is_written_as_json_and_read(
    prompt_format: PromptFormat, name: str, arguments: dict[str, Any], written: str
):
    assert render_tool_call(name, arguments, prompt_format=prompt_format) == written
    tool = Tool(name, parameters={"type": "object", "properties": {"city": {}, "n": {}, "properties": {}}})
    (call,) = extract(written, tools=[tool]).tool_calls
    assert (call.name, call.arguments) == (name, arguments)


@pytest.mark.parametrize(
    ("prompt_format", "calls", "written"),
    [
        ("json", [], ""),
        ("pythonic", [], ""),
        (
            "json",
            [("f", {}), ("g", {"a": 1})],
            '{"name": "f", "parameters": {}}\n{"name": "g", "parameters": {"a": 1}}',
        ),
        ("pythonic", [("f", {"a": "x"}), ("g", {}), ("f", '{"b": null}')], "[f(a='x'), g(), f(b=None)]"),
        ("pythonic", [("f", {"a": 1}), ("two words", {})], '[f(a=1)]\n{"name": "two words", "parameters": {}}'),
        ("pythonic", [("f", {"a-b": 1}), ("g", {})], '{"name": "f", "parameters": {"a-b": 1}}\n[g()]'),
        # What is malformed would break the others.
        ("pythonic", [("f", {"a": 1}), ("g", '{"b": ')], '[f(a=1)]\n[g({"b": )]'),
    ],
)
def test_calls_of_one_message_stand_on_lines_and_pythonic_ones_in_one_list(
    prompt_format: PromptFormat, calls: list[tuple[str, Any]], written: str
):
    assert render_tool_calls(iter(calls), prompt_format=prompt_format) == written
