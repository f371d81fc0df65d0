"""What a string says where the schema declares no string."""

from __future__ import annotations

from typing import Any

import pytest

from llama3_tools.arguments.literals import (
    is_bracketed,
    is_null_word,
    looks_like_container,
    read_boolean,
    read_container,
    read_number,
)


@pytest.mark.parametrize(
    ("text", "is_null"),
    [
        *((text, True) for text in ("", " ", "None", " null\n")),
        *((text, False) for text in ("none", "NULL", "null.", "[]")),
    ],
)
def test_words_for_null(text: str, is_null: bool):
    assert is_null_word(text) is is_null


@pytest.mark.parametrize(
    ("text", "boolean"),
    [("true", True), ("TRUE ", True), ("\tFalse", False), ("yes", None), ("1", None), ("", None), ("true.", None)],
)
def test_booleans(text: str, boolean: object):
    assert read_boolean(text) is boolean


def test_a_long_text_is_no_boolean_and_no_number():
    for length, found in ((399, True), (400, None)):
        assert read_boolean("true".ljust(length)) is found
        assert read_number("1".ljust(length)) == (1 if found else None)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 5),
        (" -5\n", -5),
        ("2.50", 2.5),
        ("1e3", 1000.0),
        ("-0", 0),
        ("1E-2", 0.01),
        *(
            (text, None)
            for text in ("", "+5", "05", ".5", "5.", "1_000", "0x1", "\u0665", "NaN", "Infinity", "1e999", "5 km")
        ),
    ],
)
def test_numbers(text: str, number: object):
    assert read_number(text) == number
    assert type(read_number(text)) is type(number)


@pytest.mark.parametrize(
    ("text", "integer"),
    [
        ("5", 5),
        ("5.0", 5),
        ("1e2", 100),
        ("12345678901234567891.0", 12345678901234567891),
        ("5.5", None),
        ("1e-1", None),
        ("1e-99999999999999999999", None),
    ],
)
def test_integers_are_exact(text: str, integer: object):
    found = read_number(text, integer=True)
    assert (found, type(found)) == (integer, type(integer))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["a", 1]', ["a", 1]),
        (" {'a': None, 'b': True}\n", {"a": None, "b": True}),
        ("('a',)", ["a"]),
        ("{1, 2}", [1, 2]),
        ("[[1], {'a': ()}]", [[1], {"a": []}]),
        ("[]", []),
        ("{}", {}),
        *((text, None) for text in ("", "a", "[a]", "[1", "[1]]", "[1] [2]", "['a' 'b']", "[1}", '"[1]"', "[NaN]")),
        ('{"a": 1, "a": 2}', None),
        ('[{"a": {"b": 1, "b": 2}}]', None),
        ("{'a': 1, 'a': 2}", None),
        ('{"a": 1}, {"b": 2}', None),
        ('["\\ud800"]', None),
    ],
)
def test_lists_and_objects(text: str, value: Any):
    assert read_container(text) == value


@pytest.mark.parametrize("text", ["[]", " {a} ", "(a, b)"])
def test_what_stands_between_brackets(text: str):
    assert is_bracketed(text)
    assert looks_like_container(text)
    bare = text.strip()
    for other in ("", bare[1:], bare[:-1], f"{bare[:-1]}>", f"{text} b"):
        assert not is_bracketed(other)


@pytest.mark.parametrize(
    "text",
    [
        *["[a", "(a", "{", " ```json", "'a', b", '"a" ,'],
        *['"[1]"', "' {a", '"\n[1, 2]"'],
        *["- a\n- b", " * a\r\n\r\n  * b", "1. a\n2. b", "1) a\n2) b", "- a\n1. b", "• a\r• b"],
    ],
)
def test_what_begins_as_a_list_or_an_object_does(text: str):
    assert looks_like_container(text)


@pytest.mark.parametrize(
    "text",
    [
        *["", "a, b", "a\nb", "``a``", "'a'", '"a" b', "'a [b]'"],
        *["- a", "-a\n-b", "- a\nb\n- c", "a:\n- b\n- c", "1.5\n2.5", "1. FC Köln\nHertha", "2024. a\n2025. b"],
    ],
)
def test_what_does_not_begin_so(text: str):
    assert not looks_like_container(text)
