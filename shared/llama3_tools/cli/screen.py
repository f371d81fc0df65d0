"""The terminal, with colours if it has any."""

from __future__ import annotations

import os
from typing import Literal, TypeAlias

import click
from click.decorators import FC
from rich.console import Console

_ENDLESS = 10**9

ColorChoice: TypeAlias = Literal["auto", "always", "never"]


def color_option(command: FC) -> FC:
    """Add `--color` to a command."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="When to print in colour. `auto`: on a terminal; NO_COLOR and FORCE_COLOR change that.",
    )(command)


class _Screen(Console):
    def on_broken_pipe(self) -> None:
        """Leave a reader who went away to the command, which knows its exit status."""
        raise  # noqa: PLE0704 - called while the error is handled


def console(color: ColorChoice, *, stderr: bool = False, is_endless: bool = False) -> Console:
    """Return a console that prints in colour when that is wanted, and marks up nothing by itself.

    Args:
        color: when to print in colour.
        stderr: whether it prints to standard error.
        is_endless: whether lines have no limit, as in a file or a pipe.
    """
    screen = _Screen(
        stderr=stderr,
        force_terminal=True if color == "always" else None,
        no_color=True if color == "never" else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    if is_endless and not screen.file.isatty() and "COLUMNS" not in os.environ:
        screen.width = _ENDLESS
    return screen
