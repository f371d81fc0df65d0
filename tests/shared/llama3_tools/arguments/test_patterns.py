"""The patterns of schemas: those of JavaScript that Python reads, too."""

from __future__ import annotations

import pytest

from llama3_tools.arguments.patterns import readable


def test_a_pattern_searches():
    pattern = readable("a+$")
    assert pattern is not None
    assert pattern.search("baa")
    assert not pattern.search("ab")


@pytest.mark.parametrize("pattern", [r"^\p{L}+$", "(", "[", "a{99999999999}", "(?<name>a)", "(" * 5000])
def test_one_that_python_does_not_read_is_none(pattern: str):
    assert readable(pattern) is None


def test_each_is_read_once():
    assert readable("b+") is readable("b+")
