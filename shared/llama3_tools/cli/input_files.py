"""The files that the command is given: model outputs, and tools."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from llama3_tools.tools import ToolLike, read_tool_list

STDIN = "-"
"""The name of standard input."""


def read_text(name: str) -> str:
    """Read a file as it is, line breaks included; a mark of the byte order is not part of it.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8.
    """
    data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    return data.decode("utf-8-sig")


def why_unreadable(error: OSError | UnicodeDecodeError) -> str:
    """Return why a file cannot be read, in a few words."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8: the byte at offset {error.start} cannot be read"
    return error.strerror or str(error)


def read_tools(name: str) -> Sequence[ToolLike]:
    """Read the tools in a file: a JSON list of OpenAI tools, the body of a request, or one tool.

    Raises:
        click.UsageError: it cannot be read, or contains something else.
    """
    try:
        tools = read_tool_list(read_text(name))
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{name}: {why_unreadable(error)}") from None
    except ValueError as error:
        raise click.UsageError(f"{name}: {error}") from None
    if tools is None:
        raise click.UsageError(f"{name}: it has no tools: leave out --tools if a call of any name counts")
    return tools
