"""Runs the tests of the reader on an installed wheel, if its modules are compiled: `python tests/compiled.py -n auto`.

Other runs of the tests do not collect this file.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

ROOT = Path(__file__).parents[1]
BESIDE_IT = "pythonpath=examples benchmarks tests tools"  # not shared/, where the sources are
TESTS = ["principles", "llama3_tools/literals", "test_growth.py"]


@pytest.mark.parametrize("name", ["llama3_tools.literals", "llama3_tools.reader"])
def test_each_module_is_compiled(name: str) -> None:
    modules = [module.name for module in iter_modules(import_module(name).__path__, f"{name}.")]
    assert modules
    assert [module for module in modules if str(import_module(module).__file__).endswith(".py")] == []


if __name__ == "__main__":
    os.chdir(ROOT)
    places = ["tests/compiled.py", *(f"tests/shared/{place}" for place in TESTS)]
    sys.exit(pytest.main(["--override-ini", BESIDE_IT, *sys.argv[1:], *places]))
