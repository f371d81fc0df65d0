"""The command itself: its name and its help."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from llama3_tools import __version__
from llama3_tools.cli.group import llama3_tools


def test_the_version_is_the_packages() -> None:
    assert CliRunner().invoke(llama3_tools, ["--version"]).output == f"llama3-tools {__version__}\n"


def test_the_help_lists_the_subcommands() -> None:
    assert "extract" in CliRunner().invoke(llama3_tools, ["-h"]).output


@pytest.mark.parametrize("subcommand", ["accept", "extract"])
def test_the_help_of_a_subcommand_is_no_failure(subcommand: str) -> None:
    result = CliRunner().invoke(llama3_tools, [subcommand, "-h"])
    assert (result.exit_code, result.stdout.split()[:3]) == (0, ["Usage:", "llama3-tools", subcommand])
