"""Strict JSON objects that are all there."""

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
    assert (parsed.written("parameters"), parsed.written("on"), parsed.flaw) == ('{"n": 1.0}', "true", "")


NOT_STRICT = ['{"a": NaN}', '{"a": [-Infinity]}', '{"a": 1e999}', '{"a": oops}', "{'a': 1}", '{"a": 1,}', '{"a" 1}']
NOT_STRICT += ['{"a": 1 "b": 2}', f'{{"a": [{"7" * 6000} 2]}}', '{"a": 1', '{"a', "{", '{"a": "\x00"}']


@pytest.mark.parametrize("text", NOT_STRICT, ids=lambda text: ascii(text[:20]))
def test_what_is_no_json_is_not_parsed(text: str):
    assert parse_object(text, 0) is None


FLAWS = {
    '{"a": 1, "a": 2}': "the key 'a' occurs twice",
    '{"a": "x", "\\u0061": 2}': "the key 'a' occurs twice",
    f'{{"{"a" * 200}": 1, "{"a" * 200}": 2}}': f"the key '{'a' * 100}\u2026 (200 characters)' occurs twice",
    '{"a": "\\ud83d"}': "half a surrogate pair",
    '{"a": {"b": "\ud83d", "b": 1}}': "half a surrogate pair",
    '{"a": [{"b": "\\udcd2"}]}': "half a surrogate pair",
    '{"a": "\\ud83d\\ude00"}': "",
    '{"a": "\u00e9"} \ud83d': "",
    '{"a": {"b": 1, "b": 2}}': "",
    f'{{"a": [{", ".join(["[]"] * 200)}]}}{"[" * 200}': "",
}


@pytest.mark.parametrize(("text", "flaw"), FLAWS.items(), ids=lambda text: ascii(text[:30]))
def test_what_is_json_and_not_strict_has_a_flaw(text: str, flaw: str):
    for before in ("", "[" * 200):
        parsed = parse_object(before + text, len(before))
        assert parsed is not None
        assert parsed.flaw == flaw


@pytest.mark.parametrize(
    ("written", "is_twice"),
    [
        ('{"a": 1, "b": "a"}', False),
        ('{"a": {"b": 1}, "b": 2}', False),
        ('{"a": "x: \\"a\\""}', False),
        ('{"b": 1, "b": 2}', True),
        (f'{{"a": {"7" * 4000}, "a": 2}}', True),
    ],
)
def test_whether_a_key_stands_twice(written: str, *, is_twice: bool):
    assert has_key_twice(json.loads(written), written) is is_twice


def test_once_the_grammar_was_checked_integers_may_be_of_any_length_and_objects_deep():
    text = f'{{"n": -{"7" * 6000}, "a": {"[" * 120}{"]" * 120}}}'
    parsed = parse_object(text, 0, checked=True)
    assert parsed is not None
    assert (parsed.end, parsed.members["n"] % 10**9) == (len(text), 10**9 - 777777777)


def test_parse_whole_takes_nothing_but_the_object():
    assert [parse_whole(text) is not None for text in (' {"a": 1}\n', '{"a": 1} x', "[1]")] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "elements"), [('[{"a": 1}, {}\n]', ['{"a": 1}', "{}"]), ("[ ]", []), ("[1]", None), ("[{}, 1]", None)]
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
        assert all(json.loads(parsed.written(key)) == value[key] for key in parsed.spans)
