"""Runs programs of `examples/` as a user does: outside of this process, in the same interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache

_IN_TURN = """
import contextlib, io, json, pathlib, runpy, sys
paths, sys.argv[1:] = sys.argv[1:], ["--pause", "0"]
sys.path.insert(0, str(pathlib.Path(paths[0]).parent))
ended = []
for path in paths:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as stopped:
            ended.append((stopped.code, out.getvalue(), err.getvalue()))
print(json.dumps(ended))
"""


@cache
def run_in_turn(*paths: str, warnings_are_errors: bool = True) -> dict[str, subprocess.CompletedProcess[str]]:
    """Run programs that import the same framework in one process, without pauses. Keep what each prints."""
    done = run_program("-c", _IN_TURN, *paths, warnings_are_errors=warnings_are_errors)
    assert (done.returncode, done.stderr) == (0, "")
    ended = zip(paths, json.loads(done.stdout), strict=True)
    return {path: subprocess.CompletedProcess([path], *results) for path, results in ended}


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
