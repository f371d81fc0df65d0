"""What the package needs, and what it must not bring."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import BaseTool
from llama_index.core.types import BaseOutputParser

import llama_index_llama3_tools
from llama3_tools import MissingExtraError

PACKAGE = Path(llama_index_llama3_tools.__file__).parent

IMPORT = """
import sys
sys.path[:] = {path!r}

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

{prepare}
try:
    import llama_index_llama3_tools
except ImportError as error:
    print(type(error).__name__, error)
"""


def import_with(missing: str = "", prepare: str = "sys.meta_path.insert(0, Missing())") -> str:
    program = IMPORT.format(path=sys.path, missing=missing, prepare=prepare)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True, timeout=120
    )
    return done.stdout.strip()


def test_without_the_framework_the_error_names_the_extra() -> None:
    assert import_with("llama_index") == (
        f"{MissingExtraError.__name__} llama_index_llama3_tools needs llama-index-core 0.14.12 or newer: "
        "pip install 'llama3-tools[llama-index]'"
    )


def test_with_a_framework_that_is_too_old_too() -> None:
    prepare = "import llama_index.core.base.llms.types as types; del types.ToolCallBlock"
    assert import_with(prepare=prepare).startswith("MissingExtraError ")


def test_a_framework_whose_own_needs_are_missing_speaks_for_itself() -> None:
    assert import_with("filetype") == "ModuleNotFoundError No module named 'filetype'"


def test_importing_it_warns_of_nothing_and_asks_nobody() -> None:
    prepare = "import socket\ndef refuse(*_): raise SystemExit('network')\nsocket.socket.connect = refuse"
    prepare += "\nsocket.getaddrinfo = refuse"
    assert import_with(prepare=prepare) == ""


@pytest.mark.parametrize("root", ["shared", "integrations"])
def test_the_framework_s_namespace_is_left_alone(root: str) -> None:
    assert not (PACKAGE.parents[1] / root / "llama_index").exists()


def test_what_is_private_in_the_framework_and_overridden_is_there() -> None:
    # All that the package takes of LlamaIndex beyond its public names. It is abstract: each such LLM has to have it.
    assert "_prepare_chat_with_tools" in FunctionCallingLLM.__abstractmethods__
    files = [file.read_text("utf-8") for file in PACKAGE.glob("*.py")]
    own = set(re.findall(r"(?:def |self\.|cls\.)(_[a-z]\w*)", "".join(files)))
    bases = [FunctionCallingLLM, BaseOutputParser, ReActOutputParser, BaseTool]
    theirs = {name for base in bases for name in dir(base) if name.startswith("_") and not name.startswith("__")}
    streams = {"_structured_stream_call", "_structured_astream_call", "_extend_messages"}
    assert own & theirs == {"_prepare_chat_with_tools", *streams}
