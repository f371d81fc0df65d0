"""JSON token by token: where a value ends, or at which token it stops being JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama3_tools.literals.json_depth import MAX_DEPTH
from llama3_tools.literals.json_tokens import JsonTokens
from llama3_tools.literals.refusal import Refusal

VALUES = {
    "objects": '{"a": {}, "b": {"a": 1}}',
    "arrays": "[1, [2, {}], []]",
    "escapes": r'{"a\"b": "\\\/\b\f\n\r\t\u00e9"}',
    "numbers": "[0, -0, 1.5, -1e3, 1E+2, 1.0e-7, 123456789012345678901234567890]",
    "literals": "[true, false, null]",
    "white space": '{\t"a"\r\n:\n[ ] }',
    "as deep as may be": "[" * MAX_DEPTH + "]" * MAX_DEPTH,
    "a long string": f'["{"x" * 5000}"]',
}
BROKEN = {
    "[1, oops]": ("expected a value at offset 4, found 'o'", 4),
    "[1, trud]": ("expected the rest of true, false or null at offset 7, found 'd'", 4),
    "[1,]": ("expected a value at offset 3, found ']'", 3),
    '{"a": 1 "b": 2}': ("expected ',' or the closing bracket at offset 8, found '\"'", 8),
    '{"a" 1}': ("expected ':' after the key at offset 5, found '1'", 5),
    "{1: 2}": ("expected a key or '}' at offset 1, found '1'", 1),
    '{"a": 1, }': ("expected a key at offset 9, found '}'", 9),
    '{"a": [1}': ("expected ',' or the closing bracket at offset 8, found '}'", 8),
    "[01]": ("expected ',' or the closing bracket at offset 2, found '1'", 2),
    "[1.]": ("expected a digit at offset 3, found ']'", 1),
    "['a']": ("expected a value or ']' at offset 1, found \"'\"", 1),
    '["a\nb"]': ("the character '\\n' in a string, at offset 3", 1),
    r'["a\xb"]': ("an escape that JSON does not have in a string, at offset 3", 1),
    "[" * (MAX_DEPTH + 1): (f"nested deeper than {MAX_DEPTH} levels", MAX_DEPTH),
}


def scan(text: str, start: int = 0) -> tuple[int, Refusal | None]:
    """Return where the value at an index ends, and why it is none, if it is none."""
    tokens = JsonTokens()
    return tokens.read(text, start, 0, ended=True), tokens.refusal


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


@pytest.mark.parametrize("text", VALUES.values(), ids=VALUES)
def test_a_value_ends_where_it_ends(text: str):
    assert scan(f"x{text}}} and more", 1) == (len(text) + 1, None)
    end, tokens = in_characters(text)
    assert (end, tokens.is_complete, tokens.refusal) == (len(text), True, None)


@pytest.mark.parametrize(("text", "detail", "resume"), [(text, *found) for text, found in BROKEN.items()])
def test_what_breaks_the_grammar_is_named_with_its_place(text: str, detail: str, resume: int):
    whole = JsonTokens()
    whole.read(text, 0, 0, ended=True)
    for tokens in (whole, in_characters(text)[1]):
        assert tokens.refusal is not None
        assert (tokens.refusal.detail, tokens.resume, tokens.is_complete) == (detail, resume, False)


@pytest.mark.parametrize("text", ["{", '{"a', '{"a"', '{"a":', "[1", "[tr", '["\\u00', "[-"])
def test_what_ends_early_is_cut_off(text: str):
    _, refusal = scan(text)
    assert refusal is not None
    assert str(refusal.reason) == "truncated"


@given(st.text('{}[]",:\\ntrue0.1e-x \n', max_size=16))
def test_what_it_takes_pythons_json_takes_and_the_other_way_round(rest: str):
    text = f"[{rest}"
    end, refusal = scan(text)
    try:
        _, whole = json.JSONDecoder().raw_decode(text)
    except ValueError:
        assert refusal is not None
    else:
        assert (end, refusal) == (whole, None)
