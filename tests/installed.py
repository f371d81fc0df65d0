"""What each extra brings, and what is said where it is missing.

As a program it tries all of that in an environment of its own, given the extras that were installed there:
`python -I tests/installed.py langchain cli`.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distributions
from importlib.util import find_spec

NEEDS = {
    "langchain": ("langchain_core", "import langchain_llama3_tools"),
    "langchain-agents": ("langchain", "from langchain_llama3_tools import Llama3ToolMiddleware as M; M()"),
    "llama-index": ("llama_index", "import llama_index_llama3_tools"),
    "validation": ("jsonschema", "from llama3_tools import validate_arguments as v; v({}, {'type': 'object'})"),
    "batch": ("pyarrow", "from llama3_batch import extract_batch"),
    "acceptance": (
        "yaml",
        (
            "import contextlib, llama3_acceptance\n"
            "with contextlib.suppress(FileNotFoundError): llama3_acceptance.load_suite('none.yaml')"
        ),
    ),
    "gateway": ("uvicorn", "import llama3_gateway.server"),
    "cli": ("rich", "import sys; sys.argv[1:] = ['--help']; from llama3_tools.cli import main; main()"),
}
"""Of each extra, a package that it brings, and something that needs it. What is missing is named by the extra."""

BROUGHT = """
import sys
{already}
before = set(sys.modules)
import {module}
print(*{{name.split(".")[0] for name in set(sys.modules) - before}} - sys.stdlib_module_names)
"""
"""Prints the top-level packages that importing a module brings in, beside the standard library's."""


def versions(names: list[str]) -> str:
    """This Python's version, and those of packages that are installed."""
    here = {found.name: found.version for found in distributions()}
    return ", ".join([f"Python {sys.version.split()[0]}", *(f"{name} {here[name]}" for name in names if name in here)])


def run(program: str) -> tuple[int, str]:
    """Run a program in a fresh interpreter. Gives its status and what it printed, errors and all."""
    command = [sys.executable, "-I", "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8", timeout=120)
    return done.returncode, (done.stdout + done.stderr).strip()


def try_all(extras: list[str]) -> list[str]:
    """What is wrong with an installation that has these extras, in sentences."""
    wrong = []
    if (printed := run(BROUGHT.format(already="", module="llama3_tools"))) != (0, "llama3_tools"):
        wrong.append(f"importing the core gave {printed}")
    if not extras and (here := sorted({found.name for found in distributions()} - {"pip"})) != ["llama3-tools"]:
        wrong.append(f"without an extra there is {here}")
    for extra, (package, statement) in NEEDS.items():
        status, printed = run(statement)
        if find_spec(package) is None:
            if extra in extras:
                wrong.append(f"{extra} brought no {package}")
            if status == 0 or "pip install 'llama3-tools[" not in printed:
                wrong.append(f"without {package}, `{statement}` names no extra: {printed}")
        elif status != 0:
            wrong.append(f"with {package}, `{statement}` fails: {printed}")
    return wrong


if __name__ == "__main__":
    sys.exit("\n".join(try_all(sys.argv[1:])) or None)
