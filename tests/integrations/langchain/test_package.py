"""What the package needs, and what it must not bring."""

from __future__ import annotations

import subprocess
import sys

IMPORT = """
import sys
sys.path[:] = {path!r}

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

{prepare}
try:
    {statement}
except ImportError as error:
    print(type(error).__name__, error)
"""


def import_with(
    *missing: str,
    prepare: str = "sys.meta_path.insert(0, Missing())",
    statement: str = "import langchain_llama3_tools",
) -> str:
    program = IMPORT.format(path=sys.path, missing=missing, prepare=prepare, statement=statement)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True, timeout=120
    )
    return done.stdout.strip()


def test_without_the_framework_the_error_names_the_extra() -> None:
    assert import_with("langchain_core") == (
        "MissingExtraError langchain_llama3_tools needs langchain-core 1.4 or newer: "
        "pip install 'llama3-tools[langchain]'"
    )


def test_with_a_framework_that_is_too_old_too() -> None:
    prepare = (
        "import types; sys.modules['langchain_core'] = old = types.ModuleType('langchain_core'); old.__path__ = []"
    )
    assert import_with(prepare=prepare).startswith("MissingExtraError ")


def test_a_framework_whose_own_needs_are_missing_speaks_for_itself() -> None:
    # LangChain's lazy imports put words of their own around the error; some of its needs come later than others.
    for missing in ("pydantic", "jsonpatch"):
        assert import_with(missing).startswith(("ImportError ", "ModuleNotFoundError "))


def test_langchain_itself_is_not_needed() -> None:
    assert import_with("langchain", "langgraph", "openai") == ""


def test_the_middleware_needs_it_and_says_so() -> None:
    asked_for = "from langchain_llama3_tools import Llama3ToolMiddleware"
    assert import_with("langchain", statement=asked_for) == (
        "MissingExtraError Llama3ToolMiddleware needs langchain 1.3 or newer: "
        "pip install 'llama3-tools[langchain-agents]'"
    )
    assert import_with("langgraph", statement=asked_for).startswith(("ImportError ", "ModuleNotFoundError "))
    assert import_with(statement=asked_for) == ""


def test_importing_it_warns_of_nothing_and_asks_nobody() -> None:
    prepare = "import socket\ndef refuse(*_): raise SystemExit('network')\nsocket.socket.connect = refuse"
    prepare += "\nsocket.getaddrinfo = refuse"
    assert import_with(prepare=prepare) == ""
