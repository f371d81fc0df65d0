"""JSON token by token: where a value ends, or at which token it stops being JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama3_tools.literals.json_depth import MAX_DEPTH
from llama3_tools.literals.json_tokens import JsonTokens, scan_json

VALUES = {
    "an object": '{"a": 1}',
    "an empty object": "{}",
    "an array": "[1, [2, {}], []]",
    "escapes": r'{"a\"b": "\\\/\b\f\n\r\t\u00e9"}',
    "numbers": "[0, -0, 1.5, -1e3, 1E+2, 1.0e-7, 123456789012345678901234567890]",
    "literals": "[true, false, null]",
    "white space": '{\t"a"\r\n:\n[ ] }',
    "as deep as may be": "[" * MAX_DEPTH + "]" * MAX_DEPTH,
    "a long string": f'["{"x" * 5000}"]',
}


@pytest.mark.parametrize("text", VALUES.values(), ids=VALUES)
def test_a_value_ends_where_it_ends(text: str):
    scan = scan_json(f"x{text}}} and more", 1)
    assert (scan.end, scan.refusal) == (len(text) + 1, None)


BROKEN = {
    "a word": ("[1, oops]", "expected a value at offset 4, found 'o'", 4),
    "a word that begins as a literal": (
        "[1, trud]",
        "expected the rest of true, false or null at offset 7, found 'd'",
        4,
    ),
    "a word that begins as another literal": (
        "[1, nux]",
        "expected the rest of true, false or null at offset 6, found 'x'",
        4,
    ),
    "a comma at the end": ("[1,]", "expected a value at offset 3, found ']'", 3),
    "no comma": ('{"a": 1 "b": 2}', "expected ',' or the closing bracket at offset 8, found '\"'", 8),
    "no colon": ('{"a" 1}', "expected ':' after the key at offset 5, found '1'", 5),
    "no key": ("{1: 2}", "expected a key or '}' at offset 1, found '1'", 1),
    "no key after a comma": ('{"a": 1, }', "expected a key at offset 9, found '}'", 9),
    "another bracket": ('{"a": [1}', "expected ',' or the closing bracket at offset 8, found '}'", 8),
    "a zero too many": ("[01]", "expected ',' or the closing bracket at offset 2, found '1'", 2),
    "a dot at the end": ("[1.]", "expected a digit at offset 3, found ']'", 1),
    "single quotes": ("['a']", "expected a value or ']' at offset 1, found \"'\"", 1),
    "a line break in a string": ('["a\nb"]', "the character '\\n' in a string, at offset 3", 1),
    "another escape": (r'["a\xb"]', "an escape that JSON does not have in a string, at offset 3", 1),
}


@pytest.mark.parametrize(("text", "detail", "resume"), BROKEN.values(), ids=BROKEN)
def test_what_breaks_the_grammar_is_named_with_its_place(text: str, detail: str, resume: int):
    tokens = JsonTokens()
    tokens.read(text, 0, 0, ended=True)
    assert tokens.refusal is not None
    assert (str(tokens.refusal.reason), tokens.refusal.detail) == ("malformed", detail)
    assert tokens.resume == resume
    assert not tokens.is_complete


@pytest.mark.parametrize("text", ["{", '{"a', '{"a"', '{"a":', "[1", "[tr", '["\\u00', "[-"])
def test_what_ends_early_is_cut_off(text: str):
    refusal = scan_json(text, 0).refusal
    assert refusal is not None
    assert str(refusal.reason) == "truncated"


def test_what_is_nested_too_deep_says_so():
    refusal = scan_json("[" * (MAX_DEPTH + 1), 0).refusal
    assert refusal is not None
    assert str(refusal.reason) == "too_deep"


@pytest.mark.parametrize(("text", "has_key"), [("{x", False), ("[1, {}, x", False), ('{"a', True), ('[{"a": x', True)])
def test_it_knows_whether_a_key_was_seen(text: str, has_key: bool):
    tokens = JsonTokens()
    tokens.read(text, 0, 0, ended=True)
    assert tokens.has_key is has_key


def in_characters(text: str) -> tuple[int, JsonTokens]:
    """Read a text in single characters; return where reading stopped."""
    tokens = JsonTokens()
    rest, base = "", 0
    for at, character in enumerate(text):
        rest += character
        end = tokens.read(rest, 0, base, ended=at + 1 == len(text))
        rest, base = rest[end:], base + end
        if tokens.is_complete or tokens.refusal:
            break
    return base, tokens


@pytest.mark.parametrize("text", [*VALUES.values(), *(text for text, _, _ in BROKEN.values())], ids=[*VALUES, *BROKEN])
def test_in_single_characters_it_reads_the_same(text: str):
    whole = JsonTokens()
    end = whole.read(text, 0, 0, ended=True)
    piecewise_end, piecewise = in_characters(text)
    assert (piecewise.is_complete, piecewise.refusal) == (whole.is_complete, whole.refusal)
    assert piecewise.resume == whole.resume
    if whole.is_complete:
        assert piecewise_end == end


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=15,
)


@given(st.lists(json_values, max_size=3), st.booleans())
def test_whatever_json_writes_is_read_to_its_end(value: list[Any], is_ascii: bool):
    text = json.dumps(value, ensure_ascii=is_ascii)
    scan = scan_json(text + "]", 0)
    assert (scan.end, scan.refusal) == (len(text), None)


@given(st.text('{}[]",:\\ntrue0.1e-x \n', max_size=16))
def test_what_it_takes_python_s_json_takes_and_the_other_way_round(rest: str):
    text = f"[{rest}"
    scan = scan_json(text, 0)
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        assert scan.refusal is not None
    else:
        assert (scan.end, scan.refusal) == (end, None)
