"""Where the settings of `llama3-tools serve` come from: the command line, the environment, a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from llama3_gateway.settings import KEYS, GatewaySettings, ModelEntry
from llama3_tools.errors import did_you_mean

_PREFIX = "LLAMA3_TOOLS_"
_FOR_SOME = re.compile(r"([^=]+)=(\w+://.*)")
_NO_UPSTREAM = "where is the model? Write its server's URL, such as: llama3-tools serve http://localhost:11434/v1"


class _Settings(BaseSettings, GatewaySettings):
    model_config = SettingsConfigDict(env_prefix=_PREFIX)


@dataclass(frozen=True)
class _Source:
    values: dict[str, Any]
    spelled: Callable[[str], str]
    """Returns a setting's name as the user wrote it there."""

    @property
    def entries(self) -> Sequence[Any]:
        """The settings of single models."""
        models = self.values.get("models", ())
        return models if isinstance(models, list) else ()


def given_settings(options: Mapping[str, Any], file: Path | None = None) -> GatewaySettings:
    """Return the settings of a command line, of the environment, and of a file.

    An empty variable is none, unless it is that of a key: ignoring that one would open the gateway.

    Args:
        options: what the command line sets.
        file: a TOML file.

    Raises:
        ValueError: the file is not TOML, there is no such setting, or a setting cannot have its value. Each is named as
            it was written.
    """
    environment = {name: value for name, value in EnvSettingsSource(_Settings)().items() if value or name in KEYS}
    sources = [
        _Source(_with_entries(options), lambda name: f"--{name.replace('_', '-')}"),
        _Source(_with_entries(environment), lambda name: f"{_PREFIX}{name.upper()}"),
        _Source(_settings_in(file) if file else {}, lambda name: f"{name} in {file}"),
    ]
    merged: dict[str, Any] = {}
    for source in reversed(sources):
        merged |= source.values
    if entries := [entry for source in sources for entry in source.entries]:
        merged["models"] = entries
    if "upstream" not in merged:
        raise ValueError(_NO_UPSTREAM)
    try:
        return GatewaySettings.model_validate(merged)
    except ValidationError as error:
        told = [f"{_where(one['loc'], sources)}: {_what(one)}" for one in error.errors()]
        raise ValueError("\n".join(told)) from None


def _settings_in(file: Path) -> dict[str, Any]:
    try:
        return TomlConfigSettingsSource(_Settings, file)()
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _with_entries(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which an upstream with a pattern is an entry for the models whose names match."""
    values = {name: ",".join(value) if isinstance(value, tuple) else value for name, value in given.items()}
    upstreams = re.findall(r"[^,\s]+", values.pop("upstream", ""))
    plain = {upstream for upstream in upstreams if not _FOR_SOME.fullmatch(upstream)}
    if len(plain) > 1:
        raise ValueError(f"{' and '.join(sorted(plain))}: write PATTERN=URL for the models of one of the two")
    models = [{"match": found[1], "upstream": found[2]} for one in upstreams if (found := _FOR_SOME.fullmatch(one))]
    return {**values, **({"upstream": plain.pop()} if plain else {}), **({"models": models} if models else {})}


def _what(error: ErrorDetails) -> str:
    """Return what is wrong with a setting."""
    if error["type"] != "extra_forbidden":
        return error["msg"].removeprefix("Value error, ")
    *of, name = error["loc"]
    known = (ModelEntry if of else GatewaySettings).model_fields
    return f"there is no such option{did_you_mean(str(name), known)}"


def _where(loc: Sequence[int | str], sources: Sequence[_Source]) -> str:
    """Return a setting's name as its source writes it."""
    name, *rest = loc
    if name == "models" and rest:
        place = int(rest[0])
        for source in sources:
            if place < len(source.entries):
                of_file = ".".join(map(str, (name, place, *rest[1:])))
                return source.spelled(of_file if source is sources[-1] else "upstream")
            place -= len(source.entries)
    return next(source for source in sources if name in source.values).spelled(str(name))
