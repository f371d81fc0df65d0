"""The command itself: its name, its help, and what it makes of whatever ends a subcommand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click
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


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Return the command a subcommand `end`, which does what it is given."""
    return lambda end: monkeypatch.setitem(llama3_tools.commands, "end", click.Command("end", callback=end))


NO_SPACE = (28, "No space left on device")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (click.UsageError("a\x1b"), ["Usage: llama3-tools end [OPTIONS]", "Error: a\\x1b"]),
        (click.ClickException("a\x1b"), ["Error: a\\x1b"]),
        (OSError(*NO_SPACE), ["Error: the output: No space left on device"]),
        (OSError(*NO_SPACE, "a\x1b"), ["Error: a\\x1b: No space left on device"]),
        (BrokenPipeError(), []),
        (KeyboardInterrupt(), ["Error: interrupted"]),
        (ZeroDivisionError("a\x1b"), ["Traceback (most recent call last):", "ZeroDivisionError: a\\x1b"]),
    ],
)
def test_whatever_keeps_a_subcommand_from_its_end_has_one_status(
    ending: Callable[[Callable[[], object]], None], error: BaseException, said: list[str]
) -> None:
    def end() -> None:
        raise error

    ending(end)
    result = CliRunner().invoke(llama3_tools, ["end"], prog_name="llama3-tools")
    assert (result.exit_code, result.stdout) == (2, "")
    lines = result.stderr.strip().splitlines()
    assert [*lines[:1], *lines[1:][-1:]] == said


def test_what_cannot_be_written_is_an_error_and_let_go(
    ending: Callable[[Callable[[], object]], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    ending(lambda: sys.stdout.write("Hello."))
    with full.open("w") as file:  # closing it would write what is left again
        monkeypatch.setattr(sys, "stdout", file)
        with pytest.raises(SystemExit) as ended:
            llama3_tools(["end"], prog_name="llama3-tools")
    assert (ended.value.code, capsys.readouterr().err) == (2, "Error: the output: No space left on device\n")
