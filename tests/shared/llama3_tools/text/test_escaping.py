"""Characters that nobody sees, written out."""

from __future__ import annotations

import json

import pytest

from llama3_tools.text.escaping import escape_invisible, escape_invisible_json


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
        ("\U000e0100", "\\U000e0100"),
        ("\x9b", "\\x9b"),
        ("\u206a", "\\u206a"),
        ("\u3164", "\\u3164"),
        ("\uffa0", "\\uffa0"),
        ("\u180e", "\\u180e"),
        ("\ufe00", "\\ufe00"),
        ("\ufe0f", "\\ufe0f"),
        ("\u200d", "\\u200d"),
        ("é\u200c", "é\\u200c"),
        ("日\ufe0f\ufe0f", "日\ufe0f\\ufe0f"),
    ],
)
def test_what_hides_or_commands_is_written_out(character: str, written: str) -> None:
    assert escape_invisible(f"a{character}b") == f"a{written}b"
    assert json.loads(escape_invisible_json(f'"a{character}b"')) == f"a{character}b"
    assert escape_invisible_json(f'"a{character}b"').isprintable() or "\ufe0f" in written


@pytest.mark.parametrize("text", ["a\tb\nc", "Zürich", "日本", "👩‍🚀 ❤️‍🔥 1️⃣ ©️", "می‌خواهم"])
def test_what_is_read_stays(text: str) -> None:
    assert escape_invisible(text) == text


@pytest.mark.parametrize(("text", "written"), [("می‌خ", "می\\u200cخ"), ("❤️", "❤\\ufe0f"), ("日\u200d本", "日\\u200d本")])
def test_names_and_arguments_are_seen_exactly(text: str, written: str) -> None:
    assert escape_invisible(text, exact=True) == written
    assert escape_invisible_json(f'"{text}"', exact=True) == f'"{written}"'
    assert escape_invisible_json(f'"{text}"') == f'"{text}"'
