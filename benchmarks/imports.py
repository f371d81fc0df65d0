"""What an import takes, in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from tempfile import TemporaryDirectory

from figures import Ratio

__all__ = ["IMPORTS", "imports"]

IMPORTS = (
    ("llama3_tools", "pydantic", 1.5),
    (
        "langchain_llama3_tools",
        "langchain_core.language_models.chat_models, langchain_core.output_parsers.transform",
        None,
    ),
    ("llama_index_llama3_tools", "llama_index.core", None),
)
"""A package, what it is compared with, and what the ratio is to be at most."""


def imports(repeats: int) -> Iterator[Ratio]:
    """Measure the packages that are installed, against pydantic and against what they are adapters of."""
    with TemporaryDirectory() as bytecode:
        for package, floor, target in IMPORTS:
            if all(find_spec(name.partition(".")[0]) for name in (package, floor)):
                times = [_seconds(modules, bytecode, repeats) for modules in (package, floor)]
                yield Ratio(f"import {package}", times[0], times[1], target)


def _seconds(modules: str, bytecode: str, repeats: int) -> float:
    """Return the time of the fastest of several imports, without the interpreter's own modules."""
    interpreter = _imported("sys", bytecode).keys()
    _imported(modules, bytecode)  # compiles what is not compiled
    runs = (_imported(modules, bytecode) for _ in range(repeats))
    return min(sum(own for name, own in run.items() if name not in interpreter) for run in runs)


def _imported(modules: str, bytecode: str) -> dict[str, float]:
    """Return the time of each module that is imported, in seconds."""
    command = [sys.executable, "-X", "importtime", "-X", f"pycache_prefix={bytecode}", "-c", f"import {modules}"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(  # noqa: S603
        command, check=True, capture_output=True, text=True, encoding="utf-8", env=environment
    )
    lines = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines()]
    return {name.strip(): int(own) / 1e6 for own, _, name in lines if own.strip().isdigit()}
