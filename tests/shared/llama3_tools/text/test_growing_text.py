"""Text that comes in pieces: all of it, in order, whatever their number."""

from __future__ import annotations

import pytest

from llama3_tools.text.growing_text import GrowingText


@pytest.mark.parametrize("first", ["", "first "])
@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 258, 1000])
def test_all_of_it_is_kept_in_order(first: str, count: int):
    text, pieces = GrowingText(first), [f"{number}," for number in range(count)]
    for piece in pieces:
        text.add(piece)
    assert text.joined() == first + "".join(pieces)
    assert bool(text) == bool(first or pieces)


def test_it_goes_on_after_it_was_joined():
    text = GrowingText("a")
    assert text.joined() == "a"
    text.add("b")
    assert text.joined() == "ab"
