"""Runs a program of `examples/` as a user does: as a process of its own, in this interpreter."""

from __future__ import annotations

import os
import subprocess
import sys

__all__ = ["run_program"]


def run_program(
    path: str, *arguments: str, warnings_are_errors: bool = True, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, two minutes at most, and keep what it prints."""
    strictly = ["-W", "error"] if warnings_are_errors else []
    return subprocess.run(
        [sys.executable, *strictly, path, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
