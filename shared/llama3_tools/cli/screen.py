"""The terminal: colours where it has them, and nothing that a model writes taken for a command to it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import click
from click.decorators import FC
from rich.console import Console

__all__ = ["ColorChoice", "color_option", "console", "visible"]

ColorChoice: TypeAlias = Literal["auto", "always", "never"]

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
_PICTURES |= {code: f"\\x{code:02x}" for code in range(0x80, 0xA0)}
# Those that turn the direction of the text around, and so can show it in another order than it has.
_PICTURES |= {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)}
_VISIBLE = {code: picture for code, picture in _PICTURES.items() if chr(code) not in "\n\t"}


def color_option(command: FC) -> FC:
    """Add `--color` to a command."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="When to print in colour; auto: on a terminal, as NO_COLOR and FORCE_COLOR have it.",
    )(command)


def console(color: ColorChoice = "auto", *, stderr: bool = False) -> Console:
    """Give a console that prints in colour when that is wanted, and marks up nothing by itself."""
    return Console(
        stderr=stderr,
        force_terminal=True if color == "always" else None,
        no_color=True if color == "never" else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def visible(text: str) -> str:
    r"""Give text with its control characters as pictures, so that a terminal shows them and does not obey.

    >>> visible("a\x1b[2Jb\n")
    'a␛[2Jb\n'
    """
    return text.translate(_VISIBLE)
