"""What importing a package brings with it, each in an interpreter of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

FRAMEWORKS = ["langchain", "langchain_core", "langgraph", "llama_index", "openai"]

ADAPTERS = [
    ("langchain_llama3_tools", "langchain_core", "langchain"),
    ("llama_index_llama3_tools", "llama_index", "llama-index"),
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
    path = f"import sys; sys.path[:] = {sys.path!r}\n"
    command = [sys.executable, "-c", path + program]
    done = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_core_imports_no_framework() -> None:
    imported = run("import llama3_tools; print(*{name.split('.')[0] for name in sys.modules})")
    assert "llama3_tools" in imported
    assert sorted({*FRAMEWORKS, "langchain_llama3_tools", "llama_index_llama3_tools"} & set(imported)) == []


def test_the_core_does_without_any_other_package() -> None:
    program = """
before = set(sys.modules)
import llama3_tools
print(*{name.split(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names)
"""
    assert run(program) == ["llama3_tools"]


@pytest.mark.parametrize(("adapter", "framework", "extra"), ADAPTERS)
def test_an_adapter_without_its_framework_names_the_extra(adapter: str, framework: str, extra: str) -> None:
    program = BLOCK.format(blocked=framework)
    program += f"from llama3_tools import MissingExtraError\ntry:\n    import {adapter}\n"
    program += "except MissingExtraError as error:\n    print(error)\n"
    assert f"'llama3-tools[{extra}]'" in run(program)


@pytest.mark.parametrize(("adapter", "framework", "extra"), ADAPTERS)
def test_an_adapter_works_where_the_other_framework_is_missing(adapter: str, framework: str, extra: str) -> None:
    others = [other for _, other, _ in ADAPTERS if other != framework]
    program = "".join(BLOCK.format(blocked=other) for other in others)
    program += f"import {adapter}; print({adapter}.Llama3JsonToolOutputParser.__name__)"
    assert run(program) == ["Llama3JsonToolOutputParser"], extra


@pytest.mark.parametrize(
    ("module", "imported"),
    [("llama3_tools.acceptance", "llama3_tools"), ("pytest_llama3_tools", "pytest_llama3_tools")],
)
def test_the_kit_judges_without_any_other_package_and_its_plugin_stands_alone(module: str, imported: str) -> None:
    program = f"""
import pytest
before = set(sys.modules)
import {module}
print(*{{name.split(".")[0] for name in set(sys.modules) - before}} - sys.stdlib_module_names)
"""
    assert run(program) == [imported]


def test_a_suite_without_pyyaml_names_the_extra() -> None:
    program = BLOCK.format(blocked="yaml")
    program += "from llama3_tools import MissingExtraError\nfrom llama3_tools.acceptance import load_suite\ntry:\n"
    program += "    load_suite('suite.yaml')\nexcept MissingExtraError as error:\n    print(error)\n"
    assert "'llama3-tools[acceptance]'" in run(program)


def test_repair_without_its_library_names_the_extra() -> None:
    program = BLOCK.format(blocked="json_repair")
    program += "from llama3_tools import Extractor, MissingExtraError\nExtractor(tools=[])\ntry:\n"
    program += "    Extractor(tools=[], repair=True)\nexcept MissingExtraError as error:\n    print(error)\n"
    assert "'llama3-tools[repair]'" in run(program)
