"""Python's literals token by token: the arguments of a call, or one literal, as JSON."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama3_tools.literals.json_depth import MAX_DEPTH
from llama3_tools.literals.python_tokens import PythonTokens


def read(text: str, *, is_call: bool = True, as_they_are: bool = False, size: int = 0) -> PythonTokens:
    """Read a text whole, or in pieces of a size."""
    tokens = PythonTokens(is_call=is_call, as_they_are=as_they_are)
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    at, rest = 0, ""
    for number, piece in enumerate(pieces):
        rest += piece
        end = tokens.read(rest, 0, at, ended=number + 1 == len(pieces))
        if tokens.is_complete or tokens.refusal:
            break
        at, rest = at + end, rest[end:]
    return tokens


ARGUMENTS = {
    "none": ("()", [], {}),
    "one": ("('x')", ['"x"'], {}),
    "names": ("(a=1, b='x',)", [], {"a": "1", "b": '"x"'}),
    "both": ("(1, b=[True, None])", ["1"], {"b": "[true, null]"}),
    "JSON's constants": ("(a=true, b=false, c=null)", [], {"a": "true", "b": "false", "c": "null"}),
    "a dict": ("(a={'k': (1, 2), \"l\": {}})", [], {"a": '{"k": [1, 2], "l": {}}'}),
    "a set": ("(a={1, 2})", [], {"a": "[1, 2]"}),
    "parentheses around one value": ("(a=(1))", [], {"a": "1"}),
    "a tuple of one value": ("(a=(1,))", [], {"a": "[1]"}),
    "exponents": ("(a=12e+5, b=1E-5, c=+1e5)", [], {"a": "12e+5", "b": "1e-5", "c": "1e5"}),
    "digits": ("(a=1_000.50E05, b=0x1F)", [], {"a": "1000.50e05", "b": "31"}),
    "names that begin as something else": ("(X=1, r='\\\\', R='\\\\')", [], {"X": "1", "r": '"\\\\"', "R": '"\\\\"'}),
    "a raw string, and another": (r"(r'\n', '\n')", [r'"\\n"', r'"\n"'], {}),
    "white space": ("(\n\ta = 1 ,\r\n)", [], {"a": "1"}),
}


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize(("text", "positional", "keywords"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments(text: str, positional: list[str], keywords: dict[str, str], size: int):
    tokens = read(text, size=size)
    assert tokens.is_complete
    assert (tokens.positional, tokens.keywords) == (positional, keywords)


def test_it_stops_where_the_call_ends():
    tokens = PythonTokens()
    assert tokens.read("f(a=1) and more", 1, 0, ended=True) == 6
    assert tokens.is_complete


@pytest.mark.parametrize("size", [0, 1])
def test_one_literal_may_be_read_alone(size: int):
    tokens = read("{'a': [1, 'x']} and more", is_call=False, size=size)
    assert tokens.is_complete
    assert tokens.positional == ['{"a": [1, "x"]}']


BROKEN = {
    "strings side by side": ("('a' 'b')", 5),
    "strings side by side in a list": ("(['a' 'b'])", 6),
    "strings side by side in a key": ("({'a' 'b': 1})", 6),
    "a name": ("(a=b)", 3),
    "a call": ("(a=g())", 3),
    "a sum": ("(a=1+1)", 4),
    "bytes": ("(b'x')", 1),
    "a wrong bracket": ("(a=[1})", 5),
    "a name twice": ("(a=1, a=2)", 6),
    "a line break in a string": ("('a\nb')", 1),
    "a carriage return in a string": ("('a\rb')", 1),
    "half a surrogate pair": (r"('\ud83d')", 1),
    "a raw half of a surrogate pair": ("('\ud83d')", 1),
    "a raw half of a surrogate pair, the other escaped": ("('\ud83d\\ude00')", 1),
    "a number that is none": ("(01)", 1),
    "a constant as a name": ("(True=1)", 1),
    "another constant as a name": ("(False=1)", 1),
    "a third constant as a name": ("(None=1)", 1),
}


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize(("text", "resume"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_literal_breaks_at_its_token(text: str, resume: int, size: int):
    tokens = read(text, size=size)
    assert tokens.refusal is not None
    assert str(tokens.refusal.reason) == "malformed"
    assert tokens.resume == resume


@pytest.mark.parametrize("text", ["(", "(a", "(a=", "(a=1", "(a='x", "(a=[1, ", "(a=tr", "(a='''x''"])
def test_what_ends_early_is_cut_off(text: str):
    refusal = read(text).refusal
    assert refusal is not None
    assert str(refusal.reason) == "truncated"


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("(a=g())", "expected a literal at offset 3, found a call of 'g'"),
        ("(a=g)", "expected a literal at offset 3, found the name 'g'"),
    ],
)
def test_a_word_that_is_no_literal_is_named(text: str, detail: str):
    refusal = read(text).refusal
    assert refusal is not None
    assert refusal.detail == detail


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("(", "a literal or the closing bracket"),
        ("('", "the rest of a string"),
        ("(''", "',' or the closing bracket"),
        ("(a", "the rest of a word"),
        ("(a=1", "',' or the closing bracket"),
    ],
)
def test_what_was_due_where_it_ends_is_said(text: str, due: str):
    refusal = read(text).refusal
    assert refusal is not None
    assert refusal.detail == f"the output ends inside it, where {due} was due"


def test_a_string_in_three_quotes_begins_once_they_are_there():
    tokens = PythonTokens()
    assert tokens.read("('''x", 0, 0, ended=False) == len("('''x")
    assert tokens.is_in_string


def test_what_is_nested_too_deep_says_so():
    levels = MAX_DEPTH - 1
    assert read(f"({'[' * levels}{']' * levels})").is_complete
    refusal = read("(" + "[" * MAX_DEPTH).refusal
    assert refusal is not None
    assert str(refusal.reason) == "too_deep"


@pytest.mark.parametrize(("length", "found"), [(4095, "the name 'xx"), (4096, "a long name")])
def test_a_name_has_a_longest_length(length: int, found: str):
    refusal = read(f"(a={'x' * length})").refusal
    assert refusal is not None
    assert f"found {found}" in refusal.detail


STRINGS = {
    "plain": ("'x'", "x"),
    "another quote": ('"it\'s"', "it's"),
    "escapes": (r"'a\nb\t\\\x41\u00e9\N{BULLET}'", "a\nb\t\\Aé•"),
    "raw": (r"r'\n'", r"\n"),
    "raw, in double quotes": (r'R"\n"', r"\n"),
    "with Python 2's letter for text": (r'u"\n"', "\n"),
    "with the same letter, large": (r"U'\n'", "\n"),
    "three quotes": ("'''a\n'b' ''c'''", "a\n'b' ''c"),
    "a line that goes on": ("'a\\\nb'", "ab"),
}


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize(("written", "value"), STRINGS.values(), ids=STRINGS)
def test_strings(written: str, value: str, size: int):
    assert json.loads(read(f"({written})", size=size).positional[0]) == value


def test_strings_of_built_in_tools_are_read_as_they_are():
    tokens = read(r'(query="C:\new \"x\"")', as_they_are=True)
    assert json.loads(tokens.keywords["query"]) == r'C:\new "x"'


literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(literals, st.sampled_from([0, 1, 4]))
def test_whatever_python_writes_is_read(value: object, size: int):
    tokens = read(f"({value!r})", size=size)
    assert tokens.is_complete
    assert json.loads(tokens.positional[0]) == value


@given(st.text("'\"[]{}(),:=1ax \\\n-.", max_size=12))
def test_whatever_it_takes_as_a_literal_python_takes(rest: str):
    text = f"[{rest}]"
    tokens = PythonTokens(is_call=False)
    end = tokens.read(text, 0, 0, ended=True)
    if tokens.is_complete:
        ast.literal_eval(text[:end])
