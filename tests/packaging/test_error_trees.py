"""The trees of errors in the docstrings: each error stands under what it derives from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType

import pytest

import llama3_acceptance.suites.load
import llama3_gateway.errors
import llama3_tools.errors

MODULES = (llama3_tools.errors, llama3_gateway.errors)
LINE = re.compile(
    r"    (?P<branch>(?:[│ ]   )*(?:[├└]── )?)(?P<name>[A-Z]\w+)(?: \((?P<others>[\w, ]+)\))?(?: {2,}.*)?"
)
"""A line of a tree: an error, what it derives from beside the error above it, and what it is for."""
ELSEWHERE = {"SuiteError": llama3_acceptance.suites.load.SuiteError}
"""What the tree of the core names, and a package that stands on it defines."""


def drawn(module: ModuleType) -> Iterator[tuple[str, set[str]]]:
    """Yield each error of the tree of a module, and what it derives from."""
    above: list[str] = []
    for found in filter(None, map(LINE.fullmatch, (module.__doc__ or "").splitlines())):
        depth = len(found["branch"]) // 4
        above[depth:] = [found["name"]]
        yield found["name"], {*above[:depth][-1:], *(found["others"] or "").split(", ")} - {""}


def class_named(module: ModuleType, name: str) -> type:
    found: type = getattr(module, name, None) or ELSEWHERE[name]
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_an_error_stands_under_what_it_derives_from(module: ModuleType) -> None:
    tree = dict(drawn(module))
    assert set(tree) >= {name for name in module.__all__ if name.endswith("Error")}
    for name, bases in tree.items():
        assert bases == {base.__name__ for base in class_named(module, name).__bases__} - {"Exception"}, name
