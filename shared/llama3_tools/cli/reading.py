"""The options that say how text is read: those that the subcommands share, and the limits."""

from __future__ import annotations

import re
from functools import reduce
from typing import get_args

import click
from click.decorators import FC

from llama3_tools.formats import FormatName
from llama3_tools.limits import DEFAULT_LIMITS, Limits, require_limits

_LIMIT = re.compile(r"(\w+)=(-?[0-9]{1,18})")

_OPTIONS = (
    click.option(
        "--format",
        "formats",
        type=click.Choice(get_args(FormatName)),
        multiple=True,
        help="Read only this form of calls; may be repeated.",
    ),
    click.option("--repair", is_flag=True, help="Repair malformed calls of the declared tools."),
    click.option(
        "--starts-reasoning", is_flag=True, help="Outputs begin inside <think>, because the prompt opened it."
    ),
)


def reading_options(command: FC) -> FC:
    """Add `--format`, `--repair` and `--starts-reasoning` to a command."""
    return reduce(lambda so_far, option: option(so_far), reversed(_OPTIONS), command)


def limit_option(command: FC) -> FC:
    """Add `--limit NAME=NUMBER` to a command, which gets all of them as one `limits`."""
    names = ", ".join(f"{name} ({limit})" for name, limit in DEFAULT_LIMITS._asdict().items())
    option = click.option(
        "--limit",
        "limits",
        multiple=True,
        callback=_limits,
        metavar="NAME=NUMBER",
        help=f"How much may be called, such as max_calls=5; may be repeated. The names and defaults: {names}.",
    )
    return option(command)


def _limits(_context: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> Limits:
    """Return the limits that were given, the others by default.

    Raises:
        click.BadParameter: a limit that there is not, or that cannot be so low or high.
    """
    limits = DEFAULT_LIMITS
    for one in given:
        found = _LIMIT.fullmatch(one)
        if not found or found[1] not in Limits._fields:
            names = ", ".join(Limits._fields)
            raise click.BadParameter(f"{one!r}: write NAME=NUMBER, such as max_calls=5. The names are {names}")
        try:
            limits = require_limits(limits._replace(**{found[1]: int(found[2])}))
        except ValueError as error:
            raise click.BadParameter(f"{one!r}: {error}") from None
    return limits
