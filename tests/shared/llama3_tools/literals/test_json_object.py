"""Strict JSON objects that are all there (rule 8)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama3_tools.literals.json_object import (
    has_key_twice,
    parse_elements,
    parse_object,
    parse_whole,
    skip_json_space,
)


def test_an_object_says_what_it_holds_and_where():
    text = 'So: {"name": "f", "parameters": {"n": 1.0}, "on": true} and more'
    parsed = parse_object(text, 4)
    assert parsed is not None
    assert parsed.members == {"name": "f", "parameters": {"n": 1.0}, "on": True}
    assert (text[parsed.start : parsed.end], parsed.json) == (text[4:55], text[4:55])
    assert set(parsed.spans) == {"parameters", "on"}, "plain strings have none"
    assert (parsed.written("parameters"), parsed.written("on")) == ('{"n": 1.0}', "true")
    assert parsed.flaw == ""


@pytest.mark.parametrize("text", ["{}", "{ \n}", '{"a\\n": 1}', '{"a": "b\\"c"}', '{"a": [1, {"b": null}]}'])
def test_what_json_takes_is_parsed(text: str):
    parsed = parse_object(text, 0)
    assert parsed is not None
    assert (parsed.members, parsed.end) == (json.loads(text), len(text))


NOT_STRICT = {
    "NaN": '{"a": NaN}',
    "an infinity": '{"a": [-Infinity]}',
    "a number that overflows": '{"a": 1e999}',
    "a word": '{"a": oops}',
    "single quotes": "{'a': 1}",
    "a comma at the end": '{"a": 1,}',
    "no comma": '{"a": 1 "b": 2}',
    "no comma after a long integer": f'{{"a": [{"7" * 6000} 2]}}',
    "no colon": '{"a" 1}',
    "cut off": '{"a": 1',
    "cut off in a key": '{"a',
    "a brace alone": "{",
    "a control character": '{"a": "\x00"}',
}


@pytest.mark.parametrize("text", NOT_STRICT.values(), ids=NOT_STRICT)
def test_anything_else_is_not_parsed(text: str):
    assert parse_object(text, 0) is None


FLAWS = {
    "a key twice": ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
    "a key twice, once escaped": ('{"a": "x", "\\u0061": 2}', "the key 'a' stands twice"),
    "half a surrogate pair": ('{"a": "\\ud83d"}', "half a surrogate pair"),
    "half a surrogate pair, raw": ('{"a": "\ud83d"}', "half a surrogate pair"),
    "half a surrogate pair, raw, under a key that stands twice": (
        '{"a": {"b": "\ud83d", "b": 1}}',
        "half a surrogate pair",
    ),
    "half a surrogate pair below": ('{"a": [{"b": "\\udcd2"}]}', "half a surrogate pair"),
}


@pytest.mark.parametrize(("text", "flaw"), FLAWS.values(), ids=FLAWS)
def test_what_is_json_and_not_strict_has_a_flaw(text: str, flaw: str):
    parsed = parse_object(text, 0)
    assert parsed is not None
    assert parsed.flaw == flaw


def test_what_stands_after_an_object_is_no_flaw_of_it():
    parsed = parse_object('{"a": "\u00e9"} \ud83d', 0)
    assert parsed is not None
    assert parsed.flaw == ""


@pytest.mark.parametrize(("before", "after"), [("[" * 200, ""), ("", "[" * 200)])
def test_brackets_around_an_object_do_not_make_it_deep(before: str, after: str):
    value = f'{{"a": [{", ".join(["[]"] * 200)}]}}'
    parsed = parse_object(f"{before}{value}{after}", len(before))
    assert parsed is not None
    assert parsed.json == value


def test_a_long_key_that_stands_twice_is_shortened():
    key = "a" * 200
    parsed = parse_object(f'{{"{key}": 1, "{key}": 2}}', 0)
    assert parsed is not None
    assert parsed.flaw == f"the key '{'a' * 100}\u2026 (200 characters)' stands twice"


def test_a_key_twice_below_is_no_flaw_of_the_object():
    parsed = parse_object('{"a": {"b": 1, "b": 2}}', 0)
    assert parsed is not None
    assert parsed.flaw == ""
    assert has_key_twice(parsed.members["a"], parsed.written("a"))


def test_a_key_stands_twice_also_beside_a_long_integer():
    assert has_key_twice({"a": 2}, f'{{"a": {"7" * 6000}, "a": 2}}')


@pytest.mark.parametrize("written", ['{"a": 1, "b": "a"}', "{}", '{"a": {"b": 1}, "b": 2}', '{"a": "x: \\"a\\""}'])
def test_no_key_stands_twice_where_none_does(written: str):
    assert not has_key_twice(json.loads(written), written)


def test_a_whole_pair_of_surrogates_is_no_flaw():
    parsed = parse_object('{"a": "\\ud83d\\ude00"}', 0)
    assert parsed is not None
    assert (parsed.members, parsed.flaw) == ({"a": "\U0001f600"}, "")


def test_an_integer_may_have_any_length_once_the_grammar_was_checked():
    text = f'{{"a": -{"7" * 6000}}}'
    parsed = parse_object(text, 0, checked=True)
    assert parsed is not None
    assert parsed.members["a"] < 0
    assert parsed.members["a"] % 10**9 == 10**9 - 777777777


def test_an_object_may_be_deep_once_the_grammar_was_checked():
    text = f'{{"a": {"[" * 120}{"]" * 120}}}'
    parsed = parse_object(text, 0, checked=True)
    assert parsed is not None
    assert parsed.end == len(text)


@pytest.mark.parametrize(
    ("text", "is_parsed"), [('{"a": 1}', True), (' {"a": 1}\n', True), ('{"a": 1} x', False), ("[1]", False)]
)
def test_parse_whole_takes_nothing_but_the_object(text: str, is_parsed: bool):
    assert (parse_whole(text) is not None) is is_parsed


@pytest.mark.parametrize(
    ("text", "elements"),
    [('[{"a": 1}, {}]', ['{"a": 1}', "{}"]), ("[ ]", []), ("[{}\n]", ["{}"]), ("[1]", None), ("[{}, 1]", None)],
)
def test_parse_elements_takes_an_array_of_objects_alone(text: str, elements: list[str] | None):
    parsed = parse_elements(text, 0)
    assert (None if parsed is None else [one.json for one in parsed]) == elements


def test_white_space_of_json_is_skipped():
    assert skip_json_space(" \t\r\n\xa0x", 0) == 4


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers() | st.lists(st.booleans()), max_size=5))
def test_what_json_writes_is_parsed_as_it_was(value: dict[str, object]):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        parsed = parse_object(text, 0)
        assert parsed is not None
        assert (parsed.members, parsed.end) == (value, len(text))
        for key in parsed.spans:
            assert json.loads(parsed.written(key)) == value[key]
