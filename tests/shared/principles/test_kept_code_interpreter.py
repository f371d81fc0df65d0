"""Kept beside the principles: code after `<|python_tag|>` is a call of a declared `code_interpreter`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Limits
from told import CLOCK, TOOLS, called, refused, tool

TAG = "<|python_tag|>"
ALL = [*TOOLS, tool("code_interpreter", "code")]
PROGRAM = 'import json\n\ndef g(x):\n    return {"name": x}\n\nprint(json.dumps(g("é")))  # \U0001f600'
CODE: dict[str, tuple[str, list[str], str | None]] = {
    "alone": (f"{TAG}print(1)<|eom_id|>", ["print(1)"], None),
    "a program": (f"{TAG}{PROGRAM}<|eom_id|>", [PROGRAM], None),
    "up to the end": (f"{TAG}{PROGRAM}", [PROGRAM], None),
    "after a line": (f"Let me compute.\n{TAG}1 + 1<|eom_id|>", ["1 + 1"], "Let me compute."),
    "after a sentence": (f"It was in 2024. {TAG}x = 1", ["x = 1"], "It was in 2024."),
    "after a colon": (f"Let me see: \n {TAG}x = 1<|eom_id|>", ["x = 1"], "Let me see:"),
    "after a long text": (f"{'x' * 2000}\n {TAG}x = 1", ["x = 1"], "x" * 2000),
    "after thoughts": (f"<think>1</think>{TAG}x = 1", ["x = 1"], "<think>1</think>"),
    "before text": (f"{TAG}x = 1<|eot_id|>\n\n Done.", ["x = 1"], "Done."),
    "twice": (f"{TAG}a = 1\n{TAG}b = 2<|eom_id|>", ["a = 1", "b = 2"], None),
    "twice, with a token between": (f"{TAG}a = 1<|eom_id|>{TAG}b = 2<|eom_id|>", ["a = 1", "b = 2"], None),
    "a token in a string": (f"{TAG}a = '<|eot_id|>'", ["a = '"], "'"),
    "an indented first line": (f"{TAG}\r\n \n  a = 1\r\n  b = 2\n", ["  a = 1\r\n  b = 2"], None),
    "a fence": (f"{TAG}```python\nprint(1)\n```<|eom_id|>", ["print(1)"], None),
    "a longer fence": (f"{TAG}````python\nx = '''\n```\n'''\n````", ["x = '''\n```\n'''"], None),
    "an assignment of a call": (f"{TAG}x = f(a=1)<|eom_id|>", ["x = f(a=1)"], None),
    "an assignment of an object": (f'{TAG}x = {{"a": 1}}<|eom_id|>', ['x = {"a": 1}'], None),
    "a call that holds one": (f"{TAG}run({CLOCK})<|eom_id|>", [f"run({CLOCK})"], None),
    "an object": (f'{TAG}{{"error": "no tool"}}["error"]<|eom_id|>', ['{"error": "no tool"}["error"]'], None),
}


@pytest.mark.parametrize(("text", "expected", "content"), CODE.values(), ids=CODE)
def test_code_is_a_call(text: str, expected: list[str], content: str | None):
    extraction = extract_in_every_chunking(text, tools=ALL, is_sampled=len(text) > 1000)
    assert {(call.name, call.format) for call in extraction.tool_calls} == {("code_interpreter", "code")}
    assert [call.arguments["code"] for call in extraction.tool_calls] == expected
    assert extraction.content == content
    for call in extraction.tool_calls:
        assert call.arguments_json == json.dumps(call.arguments, ensure_ascii=False)
        assert text[slice(*call.span)] == call.arguments["code"]
    for options in ({"tools": TOOLS}, {"tools": ALL, "formats": ["json", "pythonic"]}):
        assert "code_interpreter" not in called(extract_in_every_chunking(text, is_sampled=True, **options))


OTHERS = {
    "JSON": (f'{TAG}{{"name": "f", "parameters": {{"a": 1}}}}', "json"),
    "pythonic": (f"{TAG}\nf(a=1)<|eom_id|>", "pythonic"),
    "a pythonic list": (f"{TAG} [f(a=1)]<|eom_id|>", "pythonic"),
    "a function tag": (f'{TAG}<function=f>{{"a": 1}}</function>', "function"),
    "a fence": (f'{TAG}```json\n{{"name": "f", "parameters": {{"a": 1}}}}\n```', "fence"),
    "pythonic in a fence": (f"{TAG}```python\nf(a=1)\n```", "pythonic"),
}


@pytest.mark.parametrize(("text", "format_"), OTHERS.values(), ids=OTHERS)
def test_a_call_in_another_form_is_read_as_anywhere(text: str, format_: str):
    (call,) = extract_in_every_chunking(text, tools=ALL).tool_calls
    assert (call.name, call.arguments, call.format) == ("f", {"a": 1}, format_)


NO_CODE = {
    "nothing": (TAG, ""),
    "nothing before a token": (f"{TAG}<|eom_id|>", ""),
    "dots": (f"{TAG}...<|eom_id|>", "..."),
    "the tag in a sentence": (f"The token {TAG} marks code.", None),
    "the tag in a code span": (f"The token `{TAG}` marks code.", None),
    "the tag in parentheses": (f"({TAG})", None),
    "the tag in quotes": (f'"{TAG}import os; os.fork()<|eom_id|>"', None),
    "in a sentence": (f"I run {TAG}x = 1", None),
    "in thoughts": (f"<think>{TAG}x = 1</think>", None),
    "in a fence": (f"```js\nx\n{TAG}x = 1\n```", None),
    "in a blockquote": (f"> {TAG}x = 1", None),
    "in a repeated result": (f"Result of f: {TAG}import os\nos.remove('x')", None),
    "Llama 4's token": ("<|python_start|>x = 1<|python_end|><|eot|>", "x = 1"),
    "half a surrogate pair": (f"{TAG}x = '\ud800'<|eom_id|>", "x = '\ud800'"),
}


@pytest.mark.parametrize(("text", "content"), NO_CODE.values(), ids=NO_CODE)
def test_what_is_no_code(text: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=ALL)
    assert (called(extraction), extraction.content) == ("", text if content is None else content)


FAILED = {
    "a pythonic list": ("[f(a=x)]", "malformed f!"),
    "a pythonic line": ("f(a=x)", "malformed f!"),
    "a pythonic list that is cut off": ("[f(a=1", "truncated f!"),
    "JSON of an unknown tool": ('[{"name": "h", "parameters": {}}]', "unknown_tool h!"),
    "JSON": ('{"name": "f", "parameters": {x}}', "malformed f!"),
}


@pytest.mark.parametrize(("attempt", "reason"), FAILED.values(), ids=FAILED)
def test_a_failed_call_in_another_form_is_no_code(attempt: str, reason: str):
    extraction = extract_in_every_chunking(TAG + attempt, tools=ALL)
    assert (extraction.content, called(extraction), refused(extraction)) == (attempt, "", reason)


PARAMETERS = {
    "code": ({"name": "code_interpreter"}, "code"),
    "code of several": (tool("code_interpreter", "timeout", "code"), "code"),
    "the only one": (tool("code_interpreter", "source"), "source"),
    "the required one": (tool("code_interpreter", "timeout", "source", required=("source",)), "source"),
}


@pytest.mark.parametrize(("declared", "parameter"), PARAMETERS.values(), ids=PARAMETERS)
def test_the_code_goes_to_the_tools_parameter(declared: dict[str, Any], parameter: str):
    (call,) = extract_in_every_chunking(f"{TAG}x = 1", tools=[declared], coerce_arguments=True).tool_calls
    assert call.arguments == {parameter: "x = 1"}


def test_it_is_read_where_it_is_asked_for_and_its_tool_may_be_called():
    text = f"{TAG}x = 1<|eom_id|>"
    for options in (
        {"formats": ["code"]},
        {"formats": "all"},
        {"tools": TOOLS, "formats": "all", "on_unknown_tool": "call"},
    ):
        assert called(extract_in_every_chunking(text, **options)) == "code_interpreter"
    extraction = extract_in_every_chunking(text, tools=TOOLS, formats="all")
    assert refused(extraction).startswith("unknown_tool code_interpreter")


@pytest.mark.parametrize("token", ["<|eom_id|>", "", "<|start_header_id|>assistant<|end_header_id|>"])
def test_longer_code_than_a_call_may_be_is_text(token: str):
    for length in (240, 256, 257, 300):
        text = f"{TAG}{'x' * length}{token}"
        extraction = extract_in_every_chunking(text, limits=Limits(max_call_length=256), tools=ALL, is_sampled=True)
        assert extraction.tools_called is (length <= 256)
        assert refused(extraction) == ("" if length <= 256 else "too_long code_interpreter")
