"""Principle 1: a call is strict JSON, numbers keep their digits, and integers of any size their value."""

from __future__ import annotations

import json
from itertools import product

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import extract
from told import called, refused

BROKEN = {
    "no comma": '{"name": "f" "parameters": {}}',
    "no colon": '{"name": "f", "parameters" {"a": 1}}',
    "no value": '{"name": "f", "parameters": }',
    "a key that is no string": '{"name": "f", 1: 2, "parameters": {}}',
    "a comma too many": '{"name": "f", "parameters": {},}',
    "a comma too many in the arguments": '{"name": "f", "parameters": {"a": 1,}}',
    "a comment": '{"name": "f", "parameters": {"a": 1} // all\n}',
    "a constant of Python": '{"name": "f", "parameters": {"a": True}}',
    "a placeholder": '{"name": "f", "parameters": {"a": <slope_value>}}',
    "an expression": '{"name": "f", "parameters": {"p": 1/6}}',
    "quotes inside quotes": '{"name": "f", "parameters": {"command": "echo "hi" > flag.txt"}}',
    "single quotes": "{'name': 'f', 'parameters': {'a': 1}}",
    "an escape that JSON lacks": r'{"name": "f", "parameters": {"code": "open(\'x\')"}}',
    "half an escape": r'{"name": "f", "parameters": {"a": "\u12"}}',
    "a line break in a string": '{"name": "f", "parameters": {"text": "one\ntwo"}}',
    "a tab in a string": '{"name": "f", "parameters": {"text": "one\ttwo"}}',
    "a leading zero": '{"name": "f", "parameters": {"a": 01}}',
    "a leading plus": '{"name": "f", "parameters": {"a": +1}}',
    "an open point": '{"name": "f", "parameters": {"a": 1.}}',
    "an open exponent": '{"name": "f", "parameters": {"a": 1e+}}',
    "no digit": '{"name": "f", "parameters": {"a": -}}',
    "a full-width digit": '{"name": "f", "parameters": {"a": \uff11}}',
    "a wrong bracket": '{"name": "f", "parameters": {"a": [1}}}',
    "a literal cut short": '{"name": "f", "parameters": {"a": nul}}',
    "a non-breaking space": '{"name": "f",\u00a0"parameters": {}}',
    "NaN": '{"name": "f", "parameters": {"a": NaN}}',
    "minus Infinity": '{"name": "f", "parameters": {"a": [-Infinity]}}',
    "an overflow": '{"name": "f", "parameters": {"a": 1e999}}',
    "a long overflow": f'{{"name": "f", "parameters": {{"a": {"9" * 400}.0}}}}',
    "half a surrogate": r'{"name": "f", "parameters": {"a": "\ud83d"}}',
    "half of what looks like a pair": r'{"name": "f", "parameters": {"a": "C:\\ud83d\ude00"}}',
    "halves with a backslash between": r'{"name": "f", "parameters": {"a": "\ud83d\\\ude00"}}',
    "surrogates in the wrong order": r'{"name": "f", "parameters": {"a": "\ude00\ud83d"}}',
    "half a surrogate, raw": '{"name": "f", "parameters": {"a": "\ud83d"}}',
    "half a surrogate in a key": r'{"name": "f", "parameters": {"\ud83d": 1}}',
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_is_no_strict_json_is_text_and_an_attempt(text: str):
    forms = ("One:\n{}\ntwo", "[{}]", "<tool_call>{}</tool_call>", "```json\n{}\n```")
    for form, options in product(forms, [{}, {"tools": [{"name": "f"}]}]):
        output = form.replace("{}", text)
        extraction = extract_in_every_chunking(output, is_sampled=True, **options)
        assert (extraction.content, called(extraction)) == (output, "")
        assert (refused(extraction)[:9], extraction.rejections[0].span[0]) == ("malformed", output.index(text))
        assert refused(extraction).startswith("malformed f!") or not options, form


@pytest.mark.parametrize(
    "text",
    [
        '<function=f>{"a": 1, "a": 2}</function>',
        '<function=f>{"a": NaN}</function>',
        "[f(a=1, a=2)]",
        "[f({'a': 1, 'a': 2})]",
        "[f(a={'b': 1e999})]",
        "[f(a='\\ud83d')]",
        'f\n{"a": 1, "a": 2}',
    ],
)
def test_other_forms_are_held_to_the_same(text: str):
    extraction = extract_in_every_chunking(text, tools=[{"name": "f"}])
    assert (extraction.content, called(extraction), refused(extraction)) == (text, "", "malformed f!")


HUGE = 7 * (10**5000 - 1) // 9
PLACES = {
    "bare": '{"name": "f", "parameters": {"n": %s}}',
    "negative": '{"name": "f", "parameters": {"m": 1, "n": [-%s]}}',
    "in a list": '[{"name": "f", "parameters": {"n": %s}}]',
    "in a string": r'{"name": "f", "arguments": "{\"n\": %s}"}',
    "in a string beside an escape": r'{"name": "f", "arguments": "{\"n\": %s, \"m\": \"\\ud83d\\ude00\"}"}',
    "in OpenAI's shape": '{"function": {"name": "f", "parameters": {"n":%s,"m":[1]}}}',
    "in an envelope": '{"tool_calls": [{"name": "f", "parameters": {"n": %s}}]}',
    "in a tag": '<function=f>{"n": %s}</function>',
    "in a pythonic list": "[f(n=%s)]",
    "in a pythonic call with an object": '[f({"n": %s})]',
}


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES)
def test_integers_of_any_size_keep_their_value(text: str):
    (call,) = extract_in_every_chunking(text % ("7" * 5000), tools=[{"name": "f"}], is_sampled=True).tool_calls
    assert call.arguments["n"] in (HUGE, [-HUGE])
    assert "7" * 5000 in call.arguments_json
    assert "7" * 20 in repr(call)


@pytest.mark.parametrize("number", ["1.10", "1E5", "-0.0", "0.1000000000000000055511151231257827", "1e-7"])
def test_numbers_keep_their_digits(number: str):
    (call,) = extract_in_every_chunking(f'{{"name": "f", "parameters": {{"n": {number}}}}}').tool_calls
    assert call.arguments_json == f'{{"n": {number}}}'


def test_every_escape_of_json_is_read():
    text = r'{"name": "f", "parameters": {"a": "\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00"}}'
    (call,) = extract_in_every_chunking(text).tool_calls
    assert call.arguments == {"a": '"\\/\b\f\n\r\té\U0001f600'}


@pytest.mark.parametrize(("levels", "is_call"), [(100, True), (127, True), (128, False), (1000, False)])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")], ids=["arrays", "objects"])
def test_arguments_are_read_to_127_levels(levels: int, is_call: bool, opening: str, closing: str):
    below = levels - 1
    text = f'{{"name": "f", "parameters": {{"x": {opening * below}1{closing * below}}}}}'.replace("{1}", "{}")
    extraction = extract_in_every_chunking(text, is_sampled=True)
    assert called(extraction) == ("f" if is_call else "")
    assert refused(extraction)[:8] == ("" if is_call else "too_deep")


@pytest.mark.parametrize("string", ["[", r"[\\", r"[\n", r"[\u005c", r"\\\u005b"])
def test_brackets_in_strings_are_no_levels(string: str):
    arguments = f'{{"a": {"[" * 100}{"]" * 100}, "b": "{string * 200}"}}'
    for written in (arguments, json.dumps(arguments)):
        assert extract(f'{{"name": "f", "parameters": {written}}}').tools_called
