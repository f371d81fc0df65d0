"""The arguments of a server's calls: strict JSON or none (principle 1), in any pieces, and each character read once."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import Any

import pytest

from chunkings import chunkings
from llama3_tools.arguments.server_arguments import GrowingArguments, is_strict, with_escaped_halves
from steps import steps_of

LONG = "7" * 5000
LONG_INT = int("7" * 500) * sum(10 ** (500 * place) for place in range(10))

OBJECTS = [
    pytest.param("", {}, id="nothing"),
    pytest.param(" \n ", {}, id="white space"),
    pytest.param('{"a": "}", "b": [{"c": "\\"}"}]}', {"a": "}", "b": [{"c": '"}'}]}, id="braces and quotes"),
    pytest.param(' \n{"a": 1} \t\r\n', {"a": 1}, id="white space around"),
    pytest.param(f'{{"a": -{LONG}}}', {"a": -LONG_INT}, id="an integer of any size"),
    pytest.param('{"a": "é\\ud83d\\ude00\\n"}', {"a": "é😀\n"}, id="escapes"),
    pytest.param('{"a": 1, "a": 2}', {"a": 2}, id="a key twice"),
]
OTHERS = {
    "NaN": '{"a": NaN}',
    "a number too large for a float": '{"a": 1e999}',
    "half a surrogate pair": '{"a": "\\ud83d"}',
    "half a pair that is no escape": '{"a": "\ud83d"}',
    "a raw line break": '{"a": "b\nc"}',
    "other quotes": "{'a': 1}",
    "a brace too many": '{"a": 1}}',
    "an object and prose": '{"a": 1} x',
    "an object and a blank of another kind": '{"a": 1}\xa0',
    "a list": '[{"a": 1}]',
    "a string": '"{}"',
    "cut off": '{"a": 1',
    "too deep": '{"a": ' * 2000 + "1" + "}" * 2000,
}


def read(pieces: list[str]) -> GrowingArguments:
    growing = GrowingArguments()
    for piece in pieces:
        growing.feed(piece)
    return growing


@pytest.mark.parametrize(("text", "expected"), OBJECTS)
def test_an_object_is_arguments_in_any_pieces(text: str, expected: dict[str, Any]):
    for pieces in chunkings(text):
        growing = read(pieces)
        assert growing.value == expected
        value = growing.value
        growing.feed("")
        assert growing.value is value


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_anything_else_is_none_in_any_pieces(text: str):
    made = [read(pieces) for pieces in chunkings(text)]
    assert {growing.value is None for growing in made} == {True}
    assert {growing.is_too_deep for growing in made} == {text == OTHERS["too deep"]}


def test_an_object_is_there_from_its_end_until_something_follows():
    growing = GrowingArguments()
    seen = []
    for piece in ["", " ", '{"a"', ": 1", "}", "\n", "\t ", " x", " "]:
        growing.feed(piece)
        seen.append(growing.value)
    assert seen == [{}, {}, None, None, {"a": 1}, {"a": 1}, {"a": 1}, None, None]
    assert seen[4] is seen[6]


STRICT: list[dict[str, Any]] = [
    {},
    {"a": [1, 1.5, None, True, "é😀", {"b": ("c",)}]},
    {"a": 10**5000},
    {"a": date(2026, 1, 2), "b": {1}, "c": b"x"},
    {(1, 2): 3},
]
NOT_STRICT: list[dict[str, Any]] = [
    {"a": math.nan},
    {"a": [1, -math.inf]},
    {"a": {"b": (math.inf,)}},
    {"a": "é\ud83d"},
    {"a": [{"\ude00": 1}]},
    {"\ud83d": 1},
]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [*((arguments, True) for arguments in STRICT), *((arguments, False) for arguments in NOT_STRICT)],
    ids=range(len(STRICT) + len(NOT_STRICT)),
)
def test_decoded_arguments_are_strict_or_not(arguments: dict[str, Any], expected: bool):
    assert is_strict(arguments) is expected


def test_they_may_be_nested_deep_and_hold_themselves():
    deep: list[Any] = [math.nan]
    for _ in range(5000):
        deep = [deep]
    assert not is_strict({"a": deep})
    circle: list[Any] = [1]
    circle.append(circle)
    assert is_strict({"a": circle})


@pytest.mark.parametrize("text", ['{"a": "é\ud83d"}', '{"\ude00": ["😀", "\ud83d"]}', '{"a": "b"}'])
def test_halves_of_surrogate_pairs_are_escaped(text: str):
    escaped = with_escaped_halves(text)
    assert json.loads(escaped) == json.loads(text)
    assert escaped.encode().decode() == escaped


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", ['"x', "}", '{"b": 1}, ', "1, ", '"}", ', " ", "[", "\\"])
@pytest.mark.parametrize("head", ["", "1 ", "{", "{} ", '{"a": [', '{"a": "', '{"a": NaN}'])
def test_the_work_grows_as_the_arguments_do(head: str, piece: str):
    def work(times: int) -> int:
        return steps_of(lambda: read([head, *[piece] * times]))

    work(3)
    assert work(800) < 5 * work(200) + 500
