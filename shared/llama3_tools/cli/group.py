"""The command and its subcommands."""

from __future__ import annotations

import click

from llama3_tools._version import __version__
from llama3_tools.cli.accept import accept
from llama3_tools.cli.extract import extract

__all__ = ["llama3_tools"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, package_name="llama3-tools", message="%(prog)s %(version)s")
def llama3_tools() -> None:
    """Read the tool calls in what a local Llama 3 writes, and measure how well it calls."""


llama3_tools.add_command(accept)
llama3_tools.add_command(extract)
