"""Characters that nobody sees, written out."""

from __future__ import annotations

import json

import pytest

from llama3_tools.text.escaping import escape_invisible, escape_invisible_json

HIDING = (
    "\x1b\x9b\xad\u180e\u200b\u2028\u2029\u202e\u2060\u206a\u3164\ud800\ufe00\ufeff\uffa0"
    "\U000e0041\U000e0100"  # and what joins or selects where there is nothing to join:
    "\u200d\ufe0f"
)


@pytest.mark.parametrize("character", HIDING)
def test_what_hides_or_commands_is_written_out(character: str) -> None:
    assert escape_invisible(f"a{character}b") == f"a{ascii(character)[1:-1]}b"
    assert json.loads(escape_invisible_json(f'"a{character}b"')) == f"a{character}b"
    assert escape_invisible_json(f'"a{character}b"').isprintable()


@pytest.mark.parametrize(("text", "written"), [("é\u200cb", "é\\u200cb"), ("日\ufe0f\ufe0f", "日\ufe0f\\ufe0f")])
def test_what_joins_does_so_once_and_on_both_sides(text: str, written: str) -> None:
    assert escape_invisible(text) == written


@pytest.mark.parametrize("text", ["a\tb\nc", "Zürich", "日本", "👩‍🚀 ❤️‍🔥 1️⃣ ©️", "می‌خواهم"])
def test_what_is_read_stays(text: str) -> None:
    assert escape_invisible(text) == text


@pytest.mark.parametrize(("text", "written"), [("می‌خ", "می\\u200cخ"), ("❤️", "❤\\ufe0f"), ("日\u200d本", "日\\u200d本")])
def test_names_and_arguments_are_seen_exactly(text: str, written: str) -> None:
    assert escape_invisible(text, exact=True) == written
    assert escape_invisible_json(f'"{text}"', exact=True) == f'"{written}"'
    assert escape_invisible_json(f'"{text}"') == f'"{text}"'
