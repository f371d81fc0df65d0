"""Rule 8: calls are strict JSON. Numbers keep their digits, and integers of any size their value."""

from __future__ import annotations

import json

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, extract

NOT_STRICT = {
    "NaN": '{"name": "f", "parameters": {"a": NaN}}',
    "Infinity": '{"name": "f", "parameters": {"a": Infinity}}',
    "minus Infinity": '{"name": "f", "parameters": {"a": [-Infinity]}}',
    "a number that overflows": '{"name": "f", "parameters": {"a": 1e999}}',
    "a negative number that overflows": '{"name": "f", "parameters": {"a": -1E+400}}',
    "a long number that overflows": '{"name": "f", "parameters": {"a": %s.0}}' % ("9" * 400),
    "a lone surrogate": r'{"name": "f", "parameters": {"a": "\ud83d"}}',
    "half of what looks like a pair": r'{"name": "f", "parameters": {"a": "C:\\ud83d\ude00"}}',
    "halves with a backslash between": r'{"name": "f", "parameters": {"a": "\ud83d\\\ude00"}}',
    "surrogates in the wrong order": r'{"name": "f", "parameters": {"a": "\ude00\ud83d"}}',
    "a raw lone surrogate": '{"name": "f", "parameters": {"a": "\ud83d"}}',
    "a lone surrogate in a key": r'{"name": "f", "parameters": {"\ud83d": 1}}',
    "a lone surrogate in the name": r'{"name": "f\ud83d", "parameters": {}}',
    "the name twice": '{"name": "f", "name": "g", "parameters": {}}',
    "the arguments twice": '{"name": "f", "parameters": {}, "parameters": {}}',
    "the type twice": '{"type": "function", "type": "function", "name": "f", "parameters": {}}',
    "a key twice among the arguments": '{"name": "f", "parameters": {"a": 1, "b": 2, "a": 1}}',
    "a key twice among the arguments, escaped": r'{"name": "f", "parameters": {"a": 1, "\u0061": 1}}',
    "a key twice in arguments that are a string": r'{"name": "f", "arguments": "{\"a\": 1, \"a\": 2}"}',
    "a key twice in OpenAI's shape": '{"function": {"name": "f", "arguments": {"a": 1, "a": 2}}}',
    "a key twice in an envelope": '{"tool_call": {"name": "f", "arguments": {"a": 1, "a": 2}}}',
}


@pytest.mark.parametrize("text", NOT_STRICT.values(), ids=NOT_STRICT.keys())
def test_json_that_is_not_strict_makes_no_call(text: str):
    extraction = extract_in_every_chunking(f"One {text} two", is_sampled=True)
    assert (extraction.tool_calls, extraction.content) == ((), f"One {text} two")
    assert str(extraction.rejections[0].reason) == "malformed"
    assert extraction.rejections[0].is_attempt


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('<function=f>{"a": 1, "a": 2}</function>', id="a named tag"),
        pytest.param('<function=f>{"a": NaN}</function>', id="a named tag with NaN"),
        pytest.param("[f(a=1, a=2)]", id="pythonic"),
        pytest.param("[f({'a': 1, 'a': 2})]", id="pythonic with a dict of all arguments"),
        pytest.param("[f(a={'b': 1e999})]", id="pythonic with a number that overflows"),
        pytest.param("[f(a='\\ud83d')]", id="pythonic with a lone surrogate"),
    ],
)
def test_other_forms_are_held_to_the_same(text: str):
    extraction = extract_in_every_chunking(text, tools=[{"name": "f"}], formats="all")
    assert (extraction.tool_calls, extraction.content) == ((), text)
    assert [(str(one.reason), one.name) for one in extraction.attempts] == [("malformed", "f")]


def test_a_key_that_stands_twice_deeper_in_the_arguments_is_the_tools_business():
    (call,) = extract_in_every_chunking('{"name": "f", "parameters": {"a": {"b": 1, "b": 2}}}').tool_calls
    assert call.arguments_json == '{"a": {"b": 1, "b": 2}}'


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("digits", [300, 641, 4299, 4301, 20_000])
def test_integers_of_any_size_keep_their_value(digits: int, sign: str):
    written = sign + "7" * digits
    (call,) = extract_in_every_chunking(
        f'{{"name": "f", "parameters": {{"n": [{written}]}}}}', is_sampled=True
    ).tool_calls
    (value,) = call.arguments["n"]
    assert value == (int(sign + "1") * 7 * (10**digits - 1)) // 9
    assert call.arguments_json == f'{{"n": [{written}]}}'
    assert written[:20] in repr(call)


@pytest.mark.parametrize(
    "wrap", ["[%s]", '{"function": %s}', '[{"function": %s}]', '{"tool_call": %s}', '{"tool_calls": [%s]}']
)
def test_integers_keep_their_value_wherever_a_call_stands(wrap: str):
    text = wrap % f'{{"name": "f", "parameters": {{"n":{"7" * 5000},"m":[1,2]}}}}'
    (call,) = extract_in_every_chunking(text, is_sampled=True).tool_calls
    assert call.arguments == {"n": 7 * (10**5000 - 1) // 9, "m": [1, 2]}


@pytest.mark.parametrize("text", ["[f(n=%s)]", "f(n=%s)"])
def test_integers_keep_their_value_in_pythonic_calls(text: str):
    (call,) = extract_in_every_chunking(text % ("7" * 5000), tools=[{"name": "f"}], is_sampled=True).tool_calls
    assert call.arguments == {"n": 7 * (10**5000 - 1) // 9}


@pytest.mark.parametrize("held", [r"{\"n\": %s}", r"{\"n\": \"\\ud83d\\ude00\", \"m\": %s}"])
def test_integers_keep_their_value_in_arguments_that_are_a_string(held: str):
    text = '{"name": "f", "arguments": "%s"}' % (held % ("7" * 5000))
    (call,) = extract_in_every_chunking(text, is_sampled=True).tool_calls
    assert 7 * (10**5000 - 1) // 9 in call.arguments.values()


@pytest.mark.parametrize("number", ["1.10", "1E5", "-0.0", "0.1000000000000000055511151231257827", "1e-7"])
def test_numbers_keep_their_digits(number: str):
    (call,) = extract_in_every_chunking(f'{{"name": "f", "parameters": {{"n": {number}}}}}').tool_calls
    assert call.arguments_json == f'{{"n": {number}}}'


def test_every_escape_of_json_is_read():
    (call,) = extract_in_every_chunking(
        r'{"name": "f", "parameters": {"a": "\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00"}}'
    ).tool_calls
    assert call.arguments == {"a": '"\\/\b\f\n\r\té\U0001f600'}


@pytest.mark.parametrize(("levels", "is_call"), [(100, True), (127, True), (128, False), (1000, False)])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")], ids=["arrays", "objects"])
def test_arguments_are_read_to_127_levels_whatever_pythons_own_limit(
    levels: int, is_call: bool, opening: str, closing: str
):
    below = levels - 1
    text = f'{{"name": "f", "parameters": {{"x": {opening * below}1{closing * below}}}}}'.replace("{1}", "{}")
    extraction = extract_in_every_chunking(text, is_sampled=True)
    assert [call.name for call in extraction.tool_calls] == (["f"] if is_call else [])
    found = [(str(one.reason), one.name) for one in extraction.rejections]
    assert found[:1] == ([] if is_call else [("too_deep", "f")])


def test_a_call_is_read_near_the_end_of_pythons_stack():
    nested = "[" * 100 + "]" * 100
    text = f'{{"name": "f", "parameters": {{"a": {nested}}}, "arguments": {{"a": {nested}}}}}'
    alone = extract(text).tool_calls

    def at_depth(frames: int) -> Extraction:
        return at_depth(frames - 1) if frames else extract(text)

    assert at_depth(830).tool_calls == alone


@pytest.mark.parametrize("written", [json.dumps, lambda arguments: arguments], ids=["a string", "an object"])
@pytest.mark.parametrize("string", ["[", r"[\\", r"[\n", r"[\u005c", r"\\\u005b"])
def test_brackets_in_strings_are_no_levels(string: str, written: object):
    assert callable(written)
    arguments = f'{{"a": {"[" * 100}{"]" * 100}, "b": "{string * 200}"}}'
    assert extract(f'{{"name": "f", "parameters": {written(arguments)}}}').tools_called
