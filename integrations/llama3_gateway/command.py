"""`llama3-tools serve`, whose options are the gateway's settings. What it needs is an extra, imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
from click.core import ParameterSource

from llama3_tools import MissingExtraError
from llama3_tools.cli.status import CannotRunError

_NAMES = {"formats": "format"}
"""Options with another name than their setting: each takes one of several."""
_PLACEHOLDERS = {"upstream": "[PATTERN=]URL", "upstream_api_key": "KEY", "api_key": "KEY", "cors": "ORIGIN"}


class _Serve(click.Command):
    """A command with an option for each setting."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        try:
            from llama3_gateway.settings import GatewaySettings  # noqa: PLC0415 - the extra may be missing
        except MissingExtraError as error:
            raise CannotRunError(str(error)) from None
        settings = {name: field for name, field in GatewaySettings.model_fields.items() if name != "models"}
        options = [
            _option(name, field.annotation, field.description, field.default) for name, field in settings.items()
        ]
        servers, config, *rest = super().get_params(ctx)
        return [servers, config, *options, *rest]


def _option(name: str, kind: Any, about: str | None, default: Any) -> click.Option:  # noqa: ANN401 - of any setting
    words = _NAMES.get(name, name).replace("_", "-")
    if kind is bool:
        return click.Option([f"--{words}/--no-{words}", name], default=default, show_default=True, help=about)
    words_of = [get_args(one) for one in (kind, *get_args(kind)) if get_origin(one) is Literal]
    return click.Option(
        [f"--{words}", name],
        type=click.Choice(words_of[0]) if words_of else type(default) if isinstance(default, (int, float)) else str,
        multiple=name == "upstream" or get_origin(kind) is list,
        default=default if isinstance(default, (str, int, float)) else None,
        show_default=True,
        metavar=_PLACEHOLDERS.get(name),
        help=about,
    )


@click.command(cls=_Serve, short_help="Run the gateway: tool calls for every client of a server.")
@click.argument("servers", nargs=-1, metavar="[URL]")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="LLAMA3_TOOLS_CONFIG",
    help="A TOML file with these options, and with options for single models.",
)
@click.pass_context
def serve(ctx: click.Context, /, servers: tuple[str, ...], config: Path | None, **options: Any) -> None:  # noqa: ANN401 - of any setting
    """Run the gateway between your client and the OpenAI-compatible server at URL, or at --upstream.

    Your client sends tools=[…] to http://localhost:8089/v1. The gateway puts them into the prompt, and turns the calls
    in the model's text into tool_calls.

    An option may also be set in the environment, as LLAMA3_TOOLS_NAME, or in the file of --config. The command line
    goes before the environment, and the environment before the file.
    """
    from llama3_gateway.server import run  # noqa: PLC0415 - the extra may be missing
    from llama3_gateway.sources import given_settings  # noqa: PLC0415 - the same

    given = {
        name: one for name, one in options.items() if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    if servers:
        given["upstream"] = (*servers, *given.get("upstream", ()))
    try:
        settings = given_settings(given, config)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    run(settings, click.echo)
