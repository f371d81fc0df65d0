"""Where the settings of `llama3-tools serve` come from: the command line, the environment, a file."""

from __future__ import annotations

import re
import sys
from argparse import HelpFormatter
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings, CliSettingsSource, EnvSettingsSource, NoDecode, SettingsConfigDict

from llama3_gateway.settings import GatewaySettings, with_native

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Options", "given_settings", "load_settings"]

_KEYS = frozenset({"api_key", "upstream_api_key"})
_FOR_SOME = re.compile(r"([^=]+)=(\w+://.*)")


class Options(BaseSettings, GatewaySettings):
    """Run the gateway between your client and an OpenAI-compatible server.

    Your client sends tools=[…] to http://localhost:8089/v1. The gateway puts them into the prompt, and turns the calls
    in the model's text into tool_calls.

    An option may also stand in the environment, as LLAMA3_TOOLS_NAME, or in the file of --config. The command line wins
    over the environment, and the environment over the file.
    """

    model_config = SettingsConfigDict(
        cli_avoid_json=True,
        cli_hide_none_type=True,
        cli_implicit_flags=True,
        cli_kebab_case=True,
        cli_prog_name="llama3-tools serve",
        cli_shortcuts={"formats": "format"},
        env_prefix="LLAMA3_TOOLS_",
    )

    upstream: Annotated[list[str], NoDecode] = []  # type: ignore[assignment]  # here, it may be repeated
    """[PATTERN=]URL: the model's server. With a pattern: for the models whose names match."""
    config: Path | None = None
    """A TOML file with these options, and with options for single models."""


def given_settings(arguments: Sequence[str]) -> GatewaySettings:
    """Return the settings of a command line, of the environment, and of the file that one of them names.

    Args:
        arguments: the command line, without the command.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not TOML, there is no such setting, or a setting cannot have its value.
        SystemExit: the command line asks for help, or has an option that there is not.
    """
    command_line = CliSettingsSource[Any](Options, cli_parse_args=list(arguments), formatter_class=HelpFormatter)
    environment = EnvSettingsSource(Options)()
    set_there = {name: value for name, value in environment.items() if value or name in _KEYS}
    given = [set_there, command_line()]
    for source, named in zip(given, ("LLAMA3_TOOLS_{}", "--{}"), strict=True):
        for name in _KEYS & source.keys():
            if not source[name].strip():
                shown = name.upper() if source is set_there else name.replace("_", "-")
                raise ValueError(f"{named.format(shown)} is empty: leave it out, or write a key")
    file = reduce(lambda found, values: values.pop("config", found), given, None)
    try:
        return GatewaySettings.model_validate(reduce(_over, given, load_settings(Path(file)) if file else {}))
    except ValidationError as error:
        told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise ValueError("\n".join(told)) from None


def load_settings(path: Path) -> dict[str, Any]:
    """Return what a TOML file says, for `read_settings`.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not TOML.
    """
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of two sources, of which the one above wins. Its upstreams with a pattern are entries."""
    merged = {**with_native(below), **with_native(above)}
    plain, models = set(), []
    for upstream in re.findall(r"[^,\s]+", above.get("upstream", "")):
        if found := _FOR_SOME.fullmatch(upstream):
            models.append({"match": found[1], "upstream": found[2]})
        else:
            plain.add(upstream)
    if len(plain) > 1:
        raise ValueError("--upstream is given twice without a pattern: write PATTERN=URL for the models of one")
    merged["upstream"] = next(iter(plain), below.get("upstream"))
    if models and isinstance(entries := merged.get("models", []), list):
        merged["models"] = [*models, *entries]
    return {name: value for name, value in merged.items() if value is not None}
