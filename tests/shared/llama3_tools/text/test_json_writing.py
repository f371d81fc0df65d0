"""JSON text of decoded values, with integers that Python does not write."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama3_tools.literals.json_object import parse_whole
from llama3_tools.text.json_writing import shown, write_json

LONG = "7" * 5000

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_with_a_long_integer_the_rest_is_written_as_ever(value: dict[str, Any]):
    """Anything, with a long integer in it, is written as it is without, with the digits of that integer."""
    parsed = parse_whole(f'{{"n": {LONG}}}')
    assert parsed is not None
    long = parsed.members["n"]
    written = write_json({"é": value, "n": [long, -long], "t": (1, "é")})
    assert written == json.dumps({"é": value, "n": [0], "t": [1, "é"]}, ensure_ascii=False).replace(
        '"n": [0]', f'"n": [{LONG}, -{LONG}]'
    )


@pytest.mark.parametrize("number", [10**4999, 10**5000 - 1, 10**9001 + 7, -(10**6000), 2**20001], ids=range(5))
def test_every_digit_is_written(number: int):
    written = write_json(number)
    parsed = parse_whole(f'{{"n": {written}}}')
    assert parsed is not None
    assert parsed.members == {"n": number}
    assert shown([number]) == f"[{written}]"


def test_what_is_nested_deep_is_written():
    deep: list[Any] = []
    for _ in range(sys.getrecursionlimit() * 2):
        deep = [deep]
    assert write_json(deep) == "[" * (sys.getrecursionlimit() * 2 + 1) + "]" * (sys.getrecursionlimit() * 2 + 1)
    assert shown(deep) == write_json(deep)


def test_beside_a_long_integer_no_character_hides():
    assert shown({"\x9b": ["\u202e", 10**5000]}).startswith('{"\\x9b": ["\\u202e", 1000')


def test_one_list_twice_is_no_circle_and_a_circle_is_an_error():
    twice = [10**5000]
    assert write_json([twice, twice]).count("1") == 2
    twice.append(twice)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ValueError, match=r"^it contains itself$"):
        write_json(twice)


def test_what_is_no_json_is_an_error_or_has_a_default():
    with pytest.raises(TypeError):
        write_json([10**5000, {1}])
    with pytest.raises(TypeError):
        write_json({(1, 2): 10**5000})
    assert write_json([10**5000, {1}], default=str).endswith(', "{1}"]')
    assert write_json({1: 10**5000, None: 1}).startswith('{"1": 1000')
    assert shown([10**5000, {1}]).endswith(', "<set>"]')
    assert write_json([10**5000, "é"]).endswith(', "é"]')
    assert write_json(["é"]) == '["é"]'
