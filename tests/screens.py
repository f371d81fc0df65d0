"""What a terminal shows, with its colours named."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO
from itertools import groupby
from operator import itemgetter

from rich.console import Console

from llama3_tools.cli.screen import console

_STYLES = {
    "1": "bold",
    "2": "dim",
    "31": "red",
    "32": "green",
    "33": "yellow",
    "1;31": "bold red",
    "1;32": "bold green",
    "2;36": "dim cyan",
}
_PIECE = re.compile(r"(?:\x1b\[([\d;]+)m)?([^\x1b]+)(?:\x1b\[0m)?")


def on_screen(show: Callable[[Console], None], width: int) -> str:
    """Show something where there are colours, and name them as in `[bold]yes[/]`; the ends of lines are cut off."""
    screen = console("always")
    screen.width, screen.file = width, StringIO()
    show(screen)
    pieces = groupby(_PIECE.findall(screen.file.getvalue()), itemgetter(0))
    named = ((style, "".join(text for _, text in group)) for style, group in pieces)
    marked = "".join(f"[{_STYLES[style]}]{text}[/]" if style else text for style, text in named)
    return "".join(f"{line.rstrip()}\n" for line in marked.splitlines())
