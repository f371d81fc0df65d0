"""Where in JSON stands what a message names."""

from __future__ import annotations

import pytest

from llama3_tools.literals.json_object import JsonObject, parse_object
from llama3_tools.literals.json_places import BrokenObject, key_twice, read_object, value_start
from llama3_tools.literals.refusal import Refusal
from llama3_tools.values import RejectionReason

LONG = "7" * 6000

BROKEN = {
    "a word": ('So: {"a": oops}', "expected a value at offset 10, found 'o'", 10),
    "a number that overflows": ('So: {"a": 1e999}', "a number too large for a float, before offset 15", 15),
    "the same below": ('So: {"a": [1, {"b": -1e999}], "c": 2}', "a number too large for a float, before offset 26", 26),
    "a number that overflows after integers": (
        f'So: {{"a": {LONG}, "b": -{LONG}, "1e999": 1e999}} 2',
        "a number too large for a float, before offset 12034",
        12034,
    ),
    "half a surrogate pair": (r'So: {"\\": "\ud83d"}', "half a surrogate pair, at offset 12", 12),
    "a raw half of a surrogate pair": ('So: {"a": "\ud83d"}', "half a surrogate pair, at offset 11", 11),
    "half a surrogate pair after a whole one": (
        r'So: {"a": "\ud83d\ude00\udcd2"}',
        "half a surrogate pair, at offset 23",
        23,
    ),
}


@pytest.mark.parametrize(("text", "detail", "end"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_strict_json_is_named_with_its_place(text: str, detail: str, end: int):
    assert read_object(text, 4) == BrokenObject(Refusal(RejectionReason.MALFORMED, detail), end)


def test_what_stands_before_the_object_is_not_looked_at():
    broken = read_object('1e999 {"a": 1e999}', 6)
    assert isinstance(broken, BrokenObject)
    assert broken.end == 17


def test_what_ends_early_is_cut_off():
    broken = read_object('{"a": [1', 0)
    assert isinstance(broken, BrokenObject)
    assert (broken.refusal.reason, broken.end) == (RejectionReason.TRUNCATED, 8)


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ('{"a": 1} \\ud83d', ""),
        (f'{{"a": {LONG}}}', ""),
        ('{"a": 1, "a": 2} \\ud83d', "the key 'a' stands twice"),
        (f'{{"a": 1, "a": {LONG}}}', "the key 'a' stands twice"),
    ],
    ids=["strict", "a long integer", "a key twice", "a key twice, and a long integer"],
)
def test_any_other_object_is_read(text: str, flaw: str):
    parsed = read_object(text, 0)
    assert isinstance(parsed, JsonObject)
    assert parsed.flaw == flaw


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ('{"a": 1, "b": "a", "c": ["c"]}', None),
        ('[{"a": 1}, {"a": 1}]', None),
        ('{"a": {"a": 1}}', None),
        ('{"a": 1, "b": {}, "a": 2}', ("a", 18)),
        ('[{"b": {"a": 1, "a": 2}}]', ("a", 16)),
        (r'{"\u0061": 1, "a": 2}', ("a", 14)),
        (r'{"a": 1, "\u0061": 2}', ("a", 9)),
        (r'{"\"": 1, "\"": 2}', ('"', 10)),
        ('{"a" : 1, "a" : 2}', ("a", 10)),
    ],
)
def test_the_key_that_one_object_has_twice_is_found(text: str, twice: tuple[str, int] | None):
    assert key_twice(f'{text}, "a": 1, "a": 1', 0, len(text)) == twice


@pytest.mark.parametrize("space", ["", " ", "\n\t"])
@pytest.mark.parametrize("key", ["a", "b", "c", "d", "\n"])
def test_a_value_is_found_under_its_key(key: str, space: str):
    members = {'"a"': '"x"', '"b"': "[1, 2]", '"c"': '"y"', '"\\n"': '"w"', '"d"': '"z"'}
    text = "So: {" + f"{space},{space}".join(f"{one}{space}:{space}{value}" for one, value in members.items()) + "}"
    parsed = parse_object(text, 4)
    assert parsed is not None
    written = members['"\\n"' if key == "\n" else f'"{key}"']
    assert value_start(parsed, key) == text.index(written)


def test_a_value_is_found_also_behind_a_long_integer():
    text = f'{{"a": "x", "n": {LONG}, "b": "y"}}'
    parsed = parse_object(text, 0, checked=True)
    assert parsed is not None
    assert value_start(parsed, "b") == text.index('"y"')
