"""What importing a package brings with it, each in an interpreter of its own."""

from __future__ import annotations

import sys

import pytest

import installed

FRAMEWORKS = ["langchain", "langchain_core", "langgraph", "llama_index", "openai"]

ADAPTERS = [
    ("langchain_llama3_tools", "llama_index"),
    ("llama_index_llama3_tools", "langchain_core"),
]

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
    assert sorted({*FRAMEWORKS, "langchain_llama3_tools", "llama_index_llama3_tools"} & set(imported)) == []


@pytest.mark.parametrize("extra", installed.NEEDS)
def test_what_needs_an_extra_works_with_it_and_names_it_where_it_is_missing(extra: str) -> None:
    package, statement = installed.NEEDS[extra]
    path = f"import sys; sys.path[:] = {sys.path!r}\n"
    assert installed.run(path + statement)[0] == 0
    status, printed = installed.run(path + BLOCK.format(blocked=package) + statement)
    assert (status != 0, f"pip install 'llama3-tools[{extra}]'" in printed) == (True, True), printed


@pytest.mark.parametrize(("adapter", "other"), ADAPTERS)
def test_an_adapter_works_where_the_other_framework_is_missing(adapter: str, other: str) -> None:
    program = f"{BLOCK.format(blocked=other)}import {adapter}; print({adapter}.Llama3JsonToolOutputParser.__name__)"
    assert run(program) == ["Llama3JsonToolOutputParser"]


@pytest.mark.parametrize(
    ("already", "module"),
    [("", "llama3_tools"), ("", "llama3_tools.acceptance"), ("import pytest", "pytest_llama3_tools")],
)
def test_the_core_the_kit_and_the_plugin_do_without_any_other_package(already: str, module: str) -> None:
    assert run(installed.BROUGHT.format(already=already, module=module)) == [module.partition(".")[0]]
