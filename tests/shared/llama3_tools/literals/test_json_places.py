"""Where in JSON is what a message names."""

from __future__ import annotations

import pytest

from llama3_tools.literals.json_object import JsonObject, parse_object
from llama3_tools.literals.json_places import BrokenObject, key_twice, read_object, value_start

LONG = "7" * 6000
BROKEN = {
    "a word": ('So: {"a": oops}', "malformed", "expected a value at offset 10, found 'o'", 10),
    "an overflow": (
        'So: {"a": [1, {"b": -1e999}]}',
        "malformed",
        "a number too large for a float, before offset 26",
        26,
    ),
    "an overflow after integers": (
        f'So: {{"a": {LONG}, "1e999": 1e999}} 2',
        "malformed",
        f"a number too large for a float, before offset {LONG.count('7') + 26}",
        6026,
    ),
    "half a surrogate pair": (r'So: {"\\": "\ud83d"}', "malformed", "half a surrogate pair, at offset 12", 12),
    "half a surrogate pair, raw": ('So: {"a": "\ud83d"}', "malformed", "half a surrogate pair, at offset 11", 11),
    "half after a whole one": (
        r'So: {"a": "\ud83d\ude00\udcd2"}',
        "malformed",
        "half a surrogate pair, at offset 23",
        23,
    ),
    "cut off": ('{"a": [1', "truncated", "", 8),
}


@pytest.mark.parametrize(("text", "reason", "detail", "end"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_strict_json_is_named_with_its_place(text: str, reason: str, detail: str, end: int):
    broken = read_object(text, text.index("{"))
    assert isinstance(broken, BrokenObject)
    assert (str(broken.refusal.reason), broken.end) == (reason, end)
    assert detail in broken.refusal.detail


@pytest.mark.parametrize(
    ("text", "flaw"),
    [('{"a": 1} \\ud83d', ""), (f'{{"a": {LONG}}}', ""), (f'{{"a": 1, "a": {LONG}}}', "the key 'a' occurs twice")],
)
def test_any_other_object_is_read(text: str, flaw: str):
    parsed = read_object(text, 0)
    assert isinstance(parsed, JsonObject)
    assert parsed.flaw == flaw


TWICE = {
    '{"a": 1, "b": "a", "c": ["c"]}': None,
    '[{"a": 1}, {"a": {"a": 1}}]': None,
    '{"a": 1, "b": {}, "a": 2}': ("a", 18),
    '[{"b": {"a": 1, "a": 2}}]': ("a", 16),
    r'{"a": 1, "\u0061": 2}': ("a", 9),
    r'{"\"" : 1, "\"" : 2}': ('"', 11),
}


@pytest.mark.parametrize(("text", "twice"), TWICE.items())
def test_the_key_that_one_object_has_twice_is_found(text: str, twice: tuple[str, int] | None):
    assert key_twice(f'{text}, "a": 1, "a": 1', 0, len(text)) == twice


@pytest.mark.parametrize("space", ["", " ", "\n\t"])
def test_a_value_is_found_under_its_key(space: str):
    members = {"a": '"x"', "b": "[1, 2]", "n": LONG, "\\n": '"w"', "d": '"z"'}
    text = "So: {" + f"{space},{space}".join(f'"{key}"{space}:{space}{value}' for key, value in members.items()) + "}"
    parsed = parse_object(text, 4, checked=True)
    assert parsed is not None
    for key, value in members.items():
        assert value_start(parsed, key.replace("\\n", "\n")) == text.index(value)
