"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import endpoints

MODULES = [f"endpoints.{module.name}" for module in pkgutil.iter_modules(endpoints.__path__)]


@pytest.mark.parametrize("name", ["screen", "quickstart", *MODULES])
def test_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
