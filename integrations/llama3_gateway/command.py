"""`llama3-tools serve`: runs the gateway."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, get_args

import click
from click.core import ParameterSource
from click.decorators import FC

from llama3_gateway.errors import SettingsError
from llama3_gateway.settings import GatewaySettings, load_settings, read_settings
from llama3_tools import FormatName, MissingExtraError, OnUnknownTool, PromptFormat
from llama3_tools.chat import Constrain, RepeatedCalls, ToolRole, ToolsPlace
from llama3_tools.cli.status import CannotRunError

__all__ = ["serve"]

_OTHER_WORDS = {
    "--model": "each request of a client names its model; --upstream 'PATTERN=URL' sends some models elsewhere",
    "--base-url": "write --upstream URL",
    "--url": "write --upstream URL",
}
"""Options that other programs have, and what to write here."""
_FOR_SOME = re.compile(r"([^=]+)=(\w+://.*)")


def _option(name: str, about: str, **more: Any) -> Callable[[FC], FC]:  # noqa: ANN401 - as click takes them
    """Return an option that may also stand in the environment."""
    first = name.split("/", maxsplit=1)[0].lstrip("-")
    variable = f"LLAMA3_TOOLS_{first.replace('-', '_').upper()}"
    return click.option(name, first.replace("-", "_"), help=about, envvar=variable, default=None, **more)


def _flag(name: str, about: str) -> Callable[[FC], FC]:
    return _option(f"--{name}/--no-{name}", about)


def _words(kind: object) -> click.Choice[str]:
    return click.Choice(get_args(kind))


_READING = (
    _flag("native", "Send tools to the server, too, and only turn calls in the text into tool_calls."),
    _option("--prompt-format", "How the model is asked to call [json].", type=_words(PromptFormat)),
    _option(
        "--tools-in", "The message that holds the tools [user]; request: the same as --native.", type=_words(ToolsPlace)
    ),
    _option("--tool-role", "The role of tool results [user].", type=_words(ToolRole)),
    _option("--retries", "How often the model is asked to write a malformed call again [1].", type=click.IntRange(0)),
    _option(
        "--constrain", "Make the server enforce a call that tool_choice requires, in this way.", type=_words(Constrain)
    ),
    _option(
        "--unknown-tool",
        "Whether a call of an undeclared tool is a call or stays in the text [call].",
        type=_words(OnUnknownTool),
    ),
    _option(
        "--repeated-calls",
        "What becomes of a call that repeats the one before it: report drops it [report].",
        type=_words(RepeatedCalls),
    ),
    click.option(
        "--format",
        "formats",
        type=_words(FormatName),
        multiple=True,
        envvar="LLAMA3_TOOLS_FORMATS",
        help="Read only this form of calls; may be repeated.",
    ),
    _flag("repair", "Repair malformed calls of the request's tools."),
    _flag("coerce", "Make arguments fit their schema [on]."),
    _flag("split-reasoning", "Put <think>…</think> into reasoning_content."),
    _flag("starts-reasoning", "Answers begin inside <think>, because the prompt opened it."),
)
_SERVING = (
    _option("--host", "The address to listen on [127.0.0.1: only for this machine].", metavar="ADDRESS"),
    _option("--port", "The port to listen on [8089]; 0 for any free port.", type=click.IntRange(0, 65535)),
    _option("--api-key", "Ask clients for this key.", metavar="KEY"),
    _option("--upstream-api-key", "Send this key to --upstream, in place of the client's.", metavar="KEY"),
    _option("--cors", "Let web pages of these origins use the gateway, separated by commas; * for all.", multiple=True),
    _option("--max-body", "The most bytes of a request [33554432].", type=click.IntRange(1)),
    _option("--max-answer", "The most bytes of an answer that is read [67108864].", type=click.IntRange(1)),
    _option("--timeout", "Seconds for which the server may be silent [600].", type=click.FloatRange(0, min_open=True)),
    _option(
        "--keepalive",
        "Seconds after which a silent stream sends a comment [15].",
        type=click.FloatRange(0, min_open=True),
    ),
    _flag("log-content", "Log questions and answers."),
)


def _gateway_options(command: FC) -> FC:
    return reduce(lambda so_far, option: option(so_far), reversed((*_READING, *_SERVING)), command)


class _Serve(click.Command):
    """Names the option that was meant, where another program's was written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if cure := _OTHER_WORDS.get(error.option_name):
                raise click.UsageError(f"there is no {error.option_name}: {cure}", ctx) from None
            raise
        if ctx.args:
            stray = ctx.args[0]
            option = "--upstream" if "://" in stray else "an option"
            raise click.UsageError(f"{stray} needs {option} before it, such as --upstream URL", ctx)
        return rest


@click.command(
    cls=_Serve,
    context_settings={"allow_extra_args": True},
    short_help="Run the gateway: tool calls for every client of a server.",
)
@click.option(
    "--upstream",
    "upstreams",
    multiple=True,
    envvar="LLAMA3_TOOLS_UPSTREAM",
    metavar="[PATTERN=]URL",
    help="The model's server, such as http://localhost:11434/v1. With a pattern: for the models whose names match.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="LLAMA3_TOOLS_CONFIG",
    metavar="FILE",
    help="A TOML file with these options, and with options for single models.",
)
@_gateway_options
def serve(upstreams: tuple[str, ...], config: Path | None, **options: object) -> None:
    """Run the gateway between your client and an OpenAI-compatible server.

    Your client sends tools=[…] to http://localhost:8089/v1. The gateway puts them into the prompt, and turns the calls
    in the model's text into tool_calls.

    Defaults are in brackets. An option may also stand in the environment, as LLAMA3_TOOLS_NAME, or in the file of
    --config. The command line wins over the environment, and the environment over the file.
    """
    try:
        values = load_settings(config) if config else {}
        settings = read_settings(_merged(values, upstreams, _in_order(options)))
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    _run(settings)


def _in_order(options: dict[str, object]) -> list[dict[str, object]]:
    """Return the options that were given: those of the environment, then those of the command line."""
    if isinstance(cors := options.get("cors"), tuple):
        options = {**options, "cors": tuple(re.split(r"[,\s]+", ",".join(cors).strip(", "))) if cors else ()}
    given = {name: value for name, value in options.items() if value not in {None, ()}}
    source_of = click.get_current_context().get_parameter_source
    return [
        {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if source_of(name) is source
        }
        for source in (ParameterSource.ENVIRONMENT, ParameterSource.COMMANDLINE)
    ]


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of two sources, of which the one above wins.

    `native = true` and `tools_in = "request"` are the same setting: so either of them wins over both of the other's.
    """
    merged = {**below, **above}
    if "tools_in" in above and "native" not in above:
        merged.pop("native", None)
    if above.get("native") is False and "tools_in" not in above and below.get("tools_in") == "request":
        merged.pop("tools_in")
    return merged


def _merged(values: dict[str, Any], upstreams: tuple[str, ...], given: Sequence[dict[str, object]]) -> dict[str, Any]:
    """Return the settings of the file, and over them those that were given."""
    merged = reduce(_over, given, values)
    models = []
    plain = None
    for upstream in upstreams:
        if match := _FOR_SOME.fullmatch(upstream):
            models.append({"match": match[1], "upstream": match[2]})
        elif plain and plain != upstream:
            raise SettingsError("--upstream is given twice without a pattern: write PATTERN=URL for the models of one")
        else:
            merged["upstream"] = plain = upstream
    if models and "upstream" not in merged:
        raise SettingsError("--upstream is given with patterns alone: give one without, for all other models")
    if models:
        merged["models"] = [*models, *values.get("models", [])]
    return merged


def _run(settings: GatewaySettings) -> None:
    """Serve until the process is told to stop.

    Raises:
        CannotRunError: a package is missing, or the address cannot be used.
    """
    try:
        from llama3_gateway.server import AddressError, run  # noqa: PLC0415 - the extra may be missing

        try:
            run(settings, lambda text: click.echo(text, err=True))
        except AddressError as error:
            raise CannotRunError(str(error)) from None
    except MissingExtraError as error:
        raise CannotRunError(str(error)) from None
