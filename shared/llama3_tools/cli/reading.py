"""The options that say how text is read, which the subcommands share."""

from __future__ import annotations

from functools import reduce
from typing import get_args

import click
from click.decorators import FC

from llama3_tools.formats import FormatName

__all__ = ["reading_options"]

_OPTIONS = (
    click.option(
        "--format",
        "formats",
        type=click.Choice(get_args(FormatName)),
        multiple=True,
        help="Read only this form of calls; may be repeated.",
    ),
    click.option("--lenient", is_flag=True, help="Also read variants that no manual has."),
    click.option("--repair", is_flag=True, help="Repair malformed calls of the declared tools."),
    click.option(
        "--starts-reasoning", is_flag=True, help="Outputs begin inside <think>, because the prompt opened it."
    ),
)


def reading_options(command: FC) -> FC:
    """Add `--format`, `--lenient`, `--repair` and `--starts-reasoning` to a command."""
    return reduce(lambda so_far, option: option(so_far), reversed(_OPTIONS), command)
