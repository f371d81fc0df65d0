"""What an import takes, in an interpreter of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from figures import Ratio

__all__ = ["imports"]

_IMPORTS = (
    ("llama3_tools", "pydantic", 1.5),
    ("langchain_llama3_tools", "langchain_core.language_models, langchain_core.output_parsers", None),
    ("llama_index_llama3_tools", "llama_index.core", None),
)
"""A package, what it is compared with, and what the ratio is to be at most."""


def imports(repeats: int) -> Iterator[Ratio]:
    """Measure the packages that are installed, against pydantic and against what they are adapters of."""
    without = _imported("sys").keys()
    for package, floor, target in _IMPORTS:
        if all(find_spec(name.partition(".")[0]) for name in (package, floor)):
            times = [
                min(sum(own for name, own in _imported(modules).items() if name not in without) for _ in range(repeats))
                for modules in (package, floor)
            ]
            yield Ratio(f"import {package}", 0, times[0], times[1], target)


def _imported(modules: str) -> dict[str, float]:
    """Give the time of each module that is imported, the interpreter's own ones among them, in seconds."""
    command = [sys.executable, "-X", "importtime", "-c", f"import {modules}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")  # noqa: S603
    lines = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines()]
    return {name.strip(): int(own) / 1e6 for own, _, name in lines if own.strip().isdigit()}
