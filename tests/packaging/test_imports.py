"""What importing a package brings with it, each in an interpreter of its own."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import installed
import llama3_tools
from llama3_tools.errors import MissingExtraError, of_extra

FRAMEWORKS = ["langchain", "langchain_core", "langgraph", "llama_index", "openai"]

BASES = {
    "langchain_llama3_tools": "langchain_core.language_models.chat_models, langchain_core.output_parsers.transform",
    "llama_index_llama3_tools": "llama_index.core",
}
"""What an adapter's framework imports itself, by the adapter."""

ADAPTERS = [
    (
        "langchain_llama3_tools",
        "llama_index",
        "Llama3JsonToolOutputParser, Llama3ToolModel",
        ["langchain_core.tools"],
    ),
    ("llama_index_llama3_tools", "langchain_core", "Llama3JsonToolOutputParser, Llama3ToolLLM", []),
]
"""An adapter, the other framework, what it is used for, and what of its own may come beside what its base imports."""

BLOCK = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Block())
"""


def run(program: str) -> list[str]:
    """The words that the program prints, in a fresh interpreter that finds the packages where this one does."""
    status, printed = installed.run(f"import sys; sys.path[:] = {sys.path!r}\n{program}")
    assert status == 0, printed
    return printed.split()


def test_the_core_imports_no_framework() -> None:
    imported = run("import llama3_tools; print(*{name.split('.')[0] for name in sys.modules})")
    assert "llama3_tools" in imported
    assert (
        sorted({*FRAMEWORKS, "llama3_acceptance", "langchain_llama3_tools", "llama_index_llama3_tools"} & set(imported))
        == []
    )


def test_the_version_is_that_of_the_distribution_and_looked_up_when_it_is_asked_for() -> None:
    assert llama3_tools.__version__ == version("llama3-tools")
    assert run("import sys, llama3_tools; print('importlib.metadata' in sys.modules)") == ["False"]
    assert not hasattr(llama3_tools, "__versions__")


def test_arrows_run_one_way_between_the_packages_of_the_core() -> None:
    core = Path(llama3_tools.__file__).parent
    guide = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")
    (order,) = re.findall(r"`(text ←[^`]*)`", guide)
    below: set[str] = set()
    for name in order.replace("←", " ").split():
        below.add(name)
        files = core.joinpath(name).rglob("*.py") if core.joinpath(name).is_dir() else [core / f"{name}.py"]
        imported = {module for file in files for module in imported_modules(file)}
        assert {module.split(".")[1] for module in imported} <= below, name
    assert below >= {path.name for path in core.iterdir() if path.joinpath("__init__.py").exists()}


def imported_modules(file: Path) -> set[str]:
    """The modules of the core that one file imports anywhere in it."""
    nodes = ast.walk(ast.parse(file.read_text("utf-8")))
    named = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {module for module in named if module.startswith("llama3_tools.")}


@pytest.mark.parametrize("extra", installed.NEEDS)
def test_what_needs_an_extra_names_it_where_it_is_missing(extra: str) -> None:
    package, statement = installed.NEEDS[extra]
    status, printed = installed.run(
        f"import sys; sys.path[:] = {sys.path!r}\n{BLOCK.format(blocked=package)}{statement}"
    )
    assert (status != 0, f"pip install 'llama3-tools[{extra}]'" in printed) == (True, True), printed


@pytest.mark.parametrize(("name", "is_ours"), [("langchain_core.new", True), ("jsonpatch", False), (None, False)])
def test_a_framework_that_is_too_old_is_as_one_that_is_missing_and_its_own_needs_are_not(
    name: str | None, is_ours: bool
) -> None:
    with pytest.raises(ImportError) as raised, of_extra("install it", "langchain_core"):
        raise ImportError(name=name)
    assert isinstance(raised.value, MissingExtraError) is is_ours


@pytest.mark.parametrize(("adapter", "other", "names", "more"), ADAPTERS)
def test_an_adapter_exports_all_that_it_says_brings_no_more_than_it_needs_and_asks_nobody(
    adapter: str, other: str, names: str, more: list[str]
) -> None:
    """It is imported where the other framework is missing, and warns of nothing."""
    program = f"""{BLOCK.format(blocked=other)}
import socket, warnings
def refuse(*_): raise SystemExit("network")
socket.socket.connect = socket.getaddrinfo = refuse
warnings.simplefilter("error")
import {BASES[adapter]}
before = set(sys.modules)
from {adapter} import {names}
brought = set(sys.modules) - before
import {adapter} as adapter
from {adapter} import *
print(hasattr(adapter, {other!r}), set(adapter.__all__) <= set(globals()), *brought)
"""
    has_other, has_all, *brought = run(program)
    assert (has_other, has_all) == ("False", "True")
    of_frameworks = [module for module in brought if module.partition(".")[0] in FRAMEWORKS]
    assert [module for module in of_frameworks if not module.startswith(tuple(more))] == []


@pytest.mark.parametrize(
    ("already", "module", "brought"),
    [
        ("", "llama3_tools", ["llama3_tools"]),
        ("", "llama3_acceptance", ["llama3_acceptance", "llama3_tools"]),
        ("", "llama3_gateway", ["llama3_gateway", "llama3_tools"]),
        ("import pytest", "pytest_llama3_tools", ["pytest_llama3_tools"]),
    ],
)
def test_the_core_the_kit_the_plugin_and_the_gateway_are_imported_without_any_other_package(
    already: str, module: str, brought: list[str]
) -> None:
    assert sorted(run(installed.BROUGHT.format(already=already, module=module))) == brought
