"""The command `llama3-tools`. What it needs is an extra; without it, it says what to install."""

from __future__ import annotations

import sys
from io import TextIOWrapper

__all__ = ["main"]

_PACKAGES = frozenset({"click", "rich"})
_EXTRAS = {"accept": "cli,acceptance", "doctor": "cli,acceptance", "serve": "gateway"}
"""The extras of a subcommand, if it needs more than `cli`."""


def main() -> None:
    """Run the command with the arguments of this process, and end the process.

    Raises:
        SystemExit: always, with the command's status: 0; 1 if cases failed; 2 if it could not run.
    """
    try:
        from llama3_tools.cli.group import llama3_tools  # noqa: PLC0415 - the extra may be missing
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        command = sys.argv[1] if len(sys.argv) > 1 else ""
        extras = _EXTRAS.get(command, "cli")
        asked = f"llama3-tools {command}" if command in _EXTRAS else "llama3-tools"
        needed = f"{asked} needs packages that are an extra: pip install 'llama3-tools[{extras}]'"
        print(needed, file=sys.stderr)  # noqa: T201 - a command prints
        raise SystemExit(2) from None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal need not have every letter
    llama3_tools()
