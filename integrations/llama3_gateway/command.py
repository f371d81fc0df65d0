"""`llama3-tools serve`: runs the gateway. What it needs is an extra, which is imported when it runs."""

from __future__ import annotations

import click

from llama3_tools import MissingExtraError
from llama3_tools.cli.status import CannotRunError

__all__ = ["serve"]


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    short_help="Run the gateway: tool calls for every client of a server.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def serve(arguments: tuple[str, ...]) -> None:
    """Run the gateway between your client and an OpenAI-compatible server."""
    try:
        from llama3_gateway.server import AddressError, run  # noqa: PLC0415 - the extra may be missing
        from llama3_gateway.sources import given_settings  # noqa: PLC0415 - the same
    except MissingExtraError as error:
        raise CannotRunError(str(error)) from None
    try:
        settings = given_settings(arguments)
    except (OSError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    try:
        run(settings, lambda text: click.echo(text, err=True))
    except AddressError as error:
        raise CannotRunError(str(error)) from None
