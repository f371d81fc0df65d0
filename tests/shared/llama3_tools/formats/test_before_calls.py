"""What stands directly before a call, where nothing stands before that."""

from __future__ import annotations

import pytest

from llama3_tools.formats.prefixes import functools_start, header_before, mark_start
from llama3_tools.formats.pythonic import name_before, quoted_name_before


def test_a_name_is_found_also_where_the_text_begins():
    found = name_before("f(", 1)
    assert found is not None
    assert found[1] == "f"


def test_a_quoted_name_is_found_also_where_the_text_begins():
    found = quoted_name_before("['f(", 3)
    assert found is not None
    assert found[1] == "f"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (">>>f\n", "f"),
        ("\nf\n", "f"),
        ("\nf \t\r\n\n  ", "f"),
        ("a >>> b >>>f\n", "f"),
        (f"\n{'x' * 128}    \r\n        ", "x" * 128),
        (f"\n{'x' * 129}\n", None),
        ("\n\n", None),
        ("\nf ", None),
        ("\nf g\n", None),
        (f"\nf{' ' * 20}\n", None),
        (f"\nf\n{' ' * 9}", None),
    ],
)
@pytest.mark.parametrize("after", ["", '{"a": ">>>g\\n"}\n'])
def test_a_line_with_nothing_but_a_name_is_a_header(text: str, name: str | None, after: str):
    found = header_before(text + after, len(text))
    assert (found and found[1]) == name


def test_functools_is_found_also_where_the_text_begins():
    assert functools_start("functools[", 9, 0) == 0
    assert functools_start("functools[", 9, 1) == 9


@pytest.mark.parametrize(
    ("text", "length"), [("\n`f", 1), ("\n``f", 2), ("\n**f", 2), ("\n*f", 0), ("\n>>>f", 3), ("f", 0)]
)
def test_marks_before_a_name_are_found(text: str, length: int):
    assert mark_start(text, len(text) - 1) == len(text) - 1 - length
