"""The public names, pinned in `exports.txt`: adding or losing one is a decision. And none hides a module."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
EXPORTS = (Path(__file__).parent / "exports.txt").read_text("utf-8").split()
PACKAGES = sorted({name.rpartition(".")[0] for name in EXPORTS})


def test_packages_export_these_names_and_no_others() -> None:
    modules = {package: importlib.import_module(package) for package in PACKAGES}
    assert sorted(f"{package}.{name}" for package, module in modules.items() for name in module.__all__) == EXPORTS
    assert [name for module in modules.values() for name in module.__all__ if not hasattr(module, name)] == []


def test_every_exported_name_has_its_place_in_the_api_reference() -> None:
    pages = "\n".join(page.read_text("utf-8") for page in (ROOT / "docs" / "api").glob("*.md"))
    named = {line.removeprefix("::: ") for line in pages.splitlines() if line.startswith("::: ")}
    assert [name for name in EXPORTS if name not in named and not name.endswith(".__version__")] == []


def hidden_modules(package: ModuleType) -> list[str]:
    """The modules that something else stands for in the package that holds them; programs are not looked at."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    modules = {one.name: importlib.import_module(one.name) for one in found if not one.name.endswith(".__main__")}
    hidden = []
    for name, module in modules.items():
        outer, _, inner = name.rpartition(".")
        holder = sys.modules[outer]
        if getattr(holder, inner) is not module or inner in getattr(holder, "__all__", ()):
            hidden.append(name)
    return hidden


@pytest.mark.parametrize("package", [name for name in PACKAGES if "." not in name])
def test_no_function_or_value_of_a_package_hides_a_module_of_its_name(package: str) -> None:
    assert hidden_modules(importlib.import_module(package)) == []
