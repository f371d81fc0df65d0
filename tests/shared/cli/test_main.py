"""The command itself: its name, its help, and what it says where its packages are missing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from commands import done
from llama3_tools import __version__
from llama3_tools.cli.group import llama3_tools

BLOCKED = """
import sys
sys.path[:] = {path!r}
sys.modules[{package!r}] = None
from llama3_tools.cli import main
main()
"""


def test_the_version_is_the_packages() -> None:
    assert CliRunner().invoke(llama3_tools, ["--version"]).output == f"llama3-tools {__version__}\n"


def test_the_help_lists_the_subcommands() -> None:
    assert "extract" in CliRunner().invoke(llama3_tools, ["-h"]).output


@pytest.mark.parametrize("subcommand", ["accept", "extract"])
def test_the_help_of_a_subcommand_is_no_failure(subcommand: str) -> None:
    result = CliRunner().invoke(llama3_tools, [subcommand, "-h"])
    assert (result.exit_code, result.stdout.split()[:3]) == (0, ["Usage:", "llama3-tools", subcommand])


@pytest.mark.parametrize("package", ["click", "rich"])
def test_without_its_packages_the_command_says_what_to_install(package: str) -> None:
    program = BLOCKED.format(path=sys.path, package=package)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "llama3-tools needs packages that are an extra: pip install 'llama3-tools[cli]'\n"


def test_what_else_is_missing_is_not_called_an_extra() -> None:
    program = BLOCKED.format(path=sys.path, package="llama3_tools.cli.group")
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "ModuleNotFoundError" in ended.stderr


def test_the_module_runs_as_the_command() -> None:
    command = [sys.executable, "-m", "llama3_tools.cli", "extract"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(
        command, input="Grüß Gott".encode(), env=environment, capture_output=True, timeout=60, check=True
    )
    assert ended.stdout.decode() == '{"file": "-", "content": "Grüß Gott", "tool_calls": [], "rejections": []}\n'


def test_it_runs_where_there_is_no_standard_error() -> None:
    ended = done("extract", __file__, before="sys.stderr = None")
    assert (ended.returncode, ended.stdout[:9]) == (0, '{"file": ')
