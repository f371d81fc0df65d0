"""The public names, pinned in `exports.txt`: adding or losing one is a decision. And none hides a module."""

from __future__ import annotations

import importlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXPORTS = (Path(__file__).parent / "exports.txt").read_text("utf-8").split()
PACKAGES = sorted({name.rpartition(".")[0] for name in EXPORTS})


def test_packages_export_these_names_and_no_others() -> None:
    modules = {package: importlib.import_module(package) for package in PACKAGES}
    assert sorted(f"{package}.{name}" for package, module in modules.items() for name in module.__all__) == EXPORTS
    assert [name for module in modules.values() for name in module.__all__ if not hasattr(module, name)] == []


def test_every_exported_name_has_its_place_in_the_api_reference() -> None:
    pages = "\n".join(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))
    named = {line.removeprefix("::: ") for line in pages.splitlines() if line.startswith("::: ")}
    assert [name for name in EXPORTS if name not in named and not name.endswith(".__version__")] == []
