"""Characters that nobody sees, written out."""

from __future__ import annotations

import pytest

from llama3_tools.visible import visible


@pytest.mark.parametrize(
    ("character", "written"),
    [
        ("\x1b", "\\x1b"),
        ("\u00ad", "\\xad"),
        ("\u200b", "\\u200b"),
        ("\u202e", "\\u202e"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
        ("\u2060", "\\u2060"),
        ("\ufeff", "\\ufeff"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_hides_or_commands_is_written_out(character: str, written: str) -> None:
    assert visible(f"a{character}b") == f"a{written}b"


@pytest.mark.parametrize("text", ["a\tb\nc", "Zürich", "日本", "👩‍🚀 ❤️", "می‌خواهم"])
def test_what_is_read_stays(text: str) -> None:
    assert visible(text) == text
