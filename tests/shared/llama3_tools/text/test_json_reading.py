"""JSON that a user gives: what it says, or why it cannot be read."""

from __future__ import annotations

import pytest

from llama3_tools.text import read_json


@pytest.mark.parametrize(("text", "value"), [("[1, null]", [1, None]), (' {"a": "b"}\n', {"a": "b"}), ("5", 5)])
def test_json_is_read(text: str, value: object):
    assert read_json(text) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("{'a': 1}", "not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("9" * 5000, "a number in it has more digits than Python reads"),
        ("[" * 100_000, "nested too deep to be read"),
    ],
    ids=["empty", "Python", "digits", "deep"],
)
def test_what_cannot_be_read_says_why(text: str, why: str):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole message is compared
        read_json(text)
    assert str(raised.value) == why
