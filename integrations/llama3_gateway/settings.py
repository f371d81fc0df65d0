"""The configuration: what a request of a model becomes, and how the gateway serves."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from llama3_gateway.errors import SettingsError
from llama3_tools.chat import ChatOptions, ToolsPlace, chat_options
from llama3_tools.errors import require_options

__all__ = [
    "OF_MODEL",
    "OF_SERVER",
    "GatewaySettings",
    "ModelSettings",
    "Upstream",
    "load_settings",
    "read_settings",
]

_CHAT_OPTIONS = {
    "repair": "repair",
    "coerce": "coerce_arguments",
    "split_reasoning": "split_reasoning",
    "starts_reasoning": "starts_reasoning",
    "formats": "formats",
    "unknown_tool": "on_unknown_tool",
    "prompt_format": "prompt_format",
    "tools_in": "tools_in",
    "tool_role": "tool_role",
    "repeated_calls": "repeated_calls",
    "retries": "max_retries",
    "constrain": "constrain",
}
"""The settings that are options of the chat layer, and their names there."""
OF_MODEL = ("upstream", "upstream_api_key", "native", *_CHAT_OPTIONS)
"""The settings that models may have of their own."""
_USUAL_PLACE = ChatOptions().tools_in
_ALL_ADDRESSES = frozenset({"0.0.0.0", "::"})  # noqa: S104 - only compared
_ENDPOINT = re.compile(r"/(?:chat/completions|completions|responses|embeddings|api/(?:chat|generate|tags))\Z")
"""How a URL ends that is the address of one request."""
_ORIGIN = re.compile(
    r"(?P<origin>(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::(?P<port>[1-9][0-9]{0,4}))?)"
    r"(?P<path>/[^,\s]*)?\Z"
)
_USUAL_PORTS = {"http": 80, "https": 443}
"""Browsers leave them out of an origin."""


@dataclass(frozen=True)
class Upstream:
    """A server with models.

    >>> upstream = Upstream("http://localhost:11434/v1")
    >>> upstream.address("/v1/models"), upstream.address("/api/tags")
    ('http://localhost:11434/v1/models', 'http://localhost:11434/api/tags')

    Raises:
        SettingsError: `url` is not an http or https URL, or is that of one request; or the key is empty or cannot be
            sent.
    """

    url: str
    """Where its OpenAI-compatible endpoints are, as clients take it as `base_url`. Without a path, it is `/v1`."""
    api_key: str | None = field(default=None, repr=False)
    """The key that is sent to it, in place of the client's."""

    def __post_init__(self) -> None:
        """Check the URL."""
        try:
            parts = urlsplit(self.url)
            is_url = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        except ValueError:  # of a bracket that is not closed, or a port that is not a number
            is_url = False
        if not is_url or parts.query or parts.fragment:
            raise SettingsError(f"upstream is a URL such as http://localhost:11434/v1, not {self.url!r}")
        url = self.url.rstrip("/")
        if found := _ENDPOINT.search(url):
            base = url[: found.start()]
            meant = _shown(base if urlsplit(base).path else f"{base}/v1")
            raise SettingsError(f"upstream {_shown(url)} is the address of one request: write {meant}")
        object.__setattr__(self, "url", url if urlsplit(url).path else f"{url}/v1")
        object.__setattr__(self, "api_key", _key(self.api_key, "upstream_api_key"))

    @property
    def shown(self) -> str:
        """The URL without a user and a password, for messages.

        >>> Upstream("http://user:password@localhost:8080/v1").shown
        'http://localhost:8080/v1'
        """
        return _shown(self.url)

    def address(self, path: str) -> str:
        """Return the URL that stands for a path of the gateway."""
        if path.startswith("/v1/"):
            return f"{self.url}{path[3:]}"
        return f"{self.url.removesuffix('/v1')}{path}"


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """What a request of a model becomes.

    >>> ModelSettings(Upstream("http://localhost:8080")).chat.tools_in
    'user'
    """

    upstream: Upstream = field(kw_only=False)
    """Where it is answered."""
    chat: ChatOptions = field(default_factory=ChatOptions)
    """How the conversation is held. With `tools_in="request"`, the upstream shows the tools to the model itself."""


@dataclass(frozen=True, kw_only=True)
class GatewaySettings:
    """How the gateway serves.

    >>> settings = GatewaySettings(default=ModelSettings(Upstream("http://localhost:11434/v1")))
    >>> settings.of_model("llama3.1").upstream.url
    'http://localhost:11434/v1'
    """

    default: ModelSettings
    """For models that no pattern is for."""
    models: tuple[tuple[str, ModelSettings], ...] = ()
    """Patterns such as `qwen*`, and the settings of the models whose names they match. The first one counts."""
    host: str = "127.0.0.1"
    """The address to listen on. By default, only this machine reaches it."""
    port: int = 8089
    """The port; 0 for any that is free."""
    api_key: str | None = field(default=None, repr=False)
    """The key that clients have to send; `None` for none."""
    cors: tuple[str, ...] = ()
    """The origins whose web pages may use it, such as `http://localhost:3000`; `*` for all."""
    max_body: int = 32 * 1024 * 1024
    """The most bytes of a request."""
    max_answer: int = 64 * 1024 * 1024
    """The most bytes of an upstream's answer that is read. Answers that pass through are not limited."""
    timeout: float = 600.0
    """Seconds for which an upstream may be silent."""
    keepalive: float = 15.0
    """Seconds after which a stream in which nothing can be sent yet sends a comment."""
    log_content: bool = False
    """Whether the log has what was asked and answered."""

    def __post_init__(self) -> None:
        """Check the settings."""
        for name in ("max_body", "max_answer", "timeout", "keepalive"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
                raise SettingsError(f"{name} is a number above 0, not {value!r}")
        if type(self.port) is not int or not 0 <= self.port < 2**16:
            raise SettingsError(f"port is a number from 0 to 65535, not {self.port!r}")
        if not isinstance(self.log_content, bool):
            raise SettingsError(f"log_content is true or false, not {self.log_content!r}")
        object.__setattr__(self, "api_key", _key(self.api_key, "api_key"))
        object.__setattr__(self, "cors", tuple(map(_origin, self.cors)))

    def of_model(self, name: object) -> ModelSettings:
        """Return the settings of a model: those of the first pattern that its name matches, or the default's."""
        if isinstance(name, str):
            for pattern, settings in self.models:
                if fnmatchcase(name, pattern):
                    return settings
        return self.default

    @property
    def is_for_this_machine(self) -> bool:
        """Whether only programs on this machine reach it."""
        return _is_loopback(self.host)

    @property
    def is_for_all_addresses(self) -> bool:
        """Whether it listens on all addresses of this machine."""
        return self.host in _ALL_ADDRESSES

    def is_own_address(self, upstream: Upstream, port: int) -> bool:
        """Return whether an upstream is the gateway itself, as far as its URL tells.

        >>> settings = GatewaySettings(default=ModelSettings(Upstream("http://localhost:8089/v1")))
        >>> settings.is_own_address(settings.default.upstream, 8089)
        True

        Args:
            upstream: the upstream.
            port: on which the gateway listens.
        """
        parts = urlsplit(upstream.url)
        host = parts.hostname or ""
        if parts.port != port:
            return False
        return host == self.host or (
            (self.is_for_all_addresses or self.is_for_this_machine) and (_is_loopback(host) or host in _ALL_ADDRESSES)
        )

    def is_own_host(self, name: str) -> bool:
        """Return whether a request for a host of this name is meant for the gateway.

        A page can point its own name at 127.0.0.1 (DNS rebinding). To the browser, the gateway then has the page's own
        origin, and CORS does not stop it. So if only this machine is served, only loopback names and the hosts in
        `cors` are accepted.

        >>> settings = GatewaySettings(default=ModelSettings(Upstream("http://localhost:11434/v1")))
        >>> settings.is_own_host("localhost:8089"), settings.is_own_host("example.com")
        (True, False)
        """
        if not self.is_for_this_machine or "*" in self.cors:
            return True
        try:
            host = urlsplit(f"//{name}").hostname or ""
            return _is_loopback(host) or host in {urlsplit(origin).hostname for origin in self.cors}
        except ValueError:
            return False

    @property
    def upstreams(self) -> list[Upstream]:
        """The servers, each once, the default's first."""
        return list(dict.fromkeys([self.default.upstream, *(settings.upstream for _, settings in self.models)]))

    @property
    def with_clients_key(self) -> frozenset[Upstream]:
        """The servers to which a client's `Authorization` goes.

        If no key is set, these are all. If a server has a key of its own, the client's is for the default's server
        alone; if the gateway has one, it is for the gateway.

        >>> local, other = Upstream("http://localhost:11434"), Upstream("http://localhost:8080", "sesame")
        >>> settings = GatewaySettings(default=ModelSettings(local), models=(("qwen*", ModelSettings(other)),))
        >>> [upstream.url for upstream in settings.with_clients_key]
        ['http://localhost:11434/v1']
        """
        if self.api_key:
            return frozenset()
        upstreams = self.upstreams
        if any(upstream.api_key for upstream in upstreams):
            upstreams = [upstream for upstream in upstreams[:1] if not upstream.api_key]
        return frozenset(upstreams)


OF_SERVER = tuple(one.name for one in fields(GatewaySettings) if one.name not in {"default", "models"})
"""The settings that hold for all requests."""
_ALL = (*OF_MODEL, *OF_SERVER, "models")


def read_settings(values: Mapping[str, Any]) -> GatewaySettings:
    """Read settings, as a TOML file has them.

    >>> models = [{"match": "qwen*", "upstream": "http://localhost:8080/v1", "prompt_format": "function"}]
    >>> settings = read_settings({"upstream": "http://localhost:11434/v1", "retries": 2, "models": models})
    >>> settings.of_model("qwen3").chat.prompt_format, settings.of_model("qwen3").chat.max_retries
    ('function', 2)

    Args:
        values: the settings by name. `models` is a list of more of them, each with a pattern, `match`; what such an
            entry does not say, the others do. But a key goes to no other server than the `upstream` beside it.

    Raises:
        SettingsError: there is no such setting, `upstream` is missing, or a setting cannot have a value.
    """
    _require_known(values, "the configuration", _ALL)
    common = {name: value for name, value in values.items() if name in OF_MODEL}
    default = _model_settings(common, None, "the configuration")
    entries = values.get("models", [])
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise SettingsError("models is a list of tables: write [[models]] before each")
    place = common.get("tools_in", _USUAL_PLACE)
    usual = _USUAL_PLACE if place == "request" else place
    models = tuple(_entry(entry, default, f"models[{place}]", usual) for place, entry in enumerate(entries))
    of_server = {name: value for name, value in values.items() if name in OF_SERVER}
    if "host" in of_server:
        _require_str(of_server["host"], "host")
    cors = of_server.get("cors", ())
    if not isinstance(cors, (list, tuple)) or not all(isinstance(origin, str) for origin in cors):
        raise SettingsError(f'cors is a list of origins such as ["http://localhost:3000"], not {cors!r}')
    return GatewaySettings(default=default, models=models, **{**of_server, "cors": tuple(cors)})


def load_settings(path: Path) -> dict[str, Any]:
    """Return what a TOML file says, for `read_settings`.

    Raises:
        SettingsError: it cannot be read, or has a setting that there is not.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - few start with a file
    else:
        import tomli as tomllib  # noqa: PLC0415 - the same
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from None
    _require_known(values, str(path), _ALL)
    return values


def _entry(entry: object, default: ModelSettings, where: str, place: ToolsPlace) -> tuple[str, ModelSettings]:
    if not isinstance(entry, Mapping):
        raise SettingsError(f"{where} is a table: write [[models]] before it")
    _require_known(entry, where, ("match", *OF_MODEL))
    pattern = entry.get("match")
    if not isinstance(pattern, str) or not pattern:
        raise SettingsError(f'{where} has no match: say for which models it is, such as match = "qwen*"')
    return pattern, _model_settings({key: entry[key] for key in entry if key != "match"}, default, where, place)


def _model_settings(
    values: Mapping[str, Any], default: ModelSettings | None, where: str, place: ToolsPlace = _USUAL_PLACE
) -> ModelSettings:
    """Return what a model's settings, and the default's, come to. `place` takes the tools if `native` is taken back."""
    url, key = values.get("upstream"), values.get("upstream_api_key")
    if url is None and default is None:
        raise SettingsError("upstream is missing: say where the model is, such as http://localhost:11434/v1")
    for name in ("upstream", "upstream_api_key"):
        if values.get(name) is not None:
            _require_str(values[name], f"{name} of {where}")
    if url is None:
        assert default is not None  # noqa: S101 - it has just been seen
        upstream = default.upstream if key is None else replace(default.upstream, api_key=key)
    else:
        upstream = Upstream(url, key)
        if default and key is None and upstream.url == default.upstream.url:
            upstream = default.upstream  # with its key, which goes to no other server
    return ModelSettings(upstream, chat=_chat_settings(values, default, where, place))


def _chat_settings(
    values: Mapping[str, Any], default: ModelSettings | None, where: str, place: ToolsPlace
) -> ChatOptions:
    changes = {_CHAT_OPTIONS[name]: value for name, value in values.items() if name in _CHAT_OPTIONS}
    native = values.get("native")
    if native is not None and not isinstance(native, bool):
        raise SettingsError(f"native of {where} is true or false, not {native!r}")
    if native is False and values.get("tools_in") == "request":
        raise SettingsError(f'native of {where} is false, and tools_in = "request" is the same as true: leave one out')
    if native:
        changes["tools_in"] = "request"
    elif native is False and default and default.chat.tools_in == "request":
        changes.setdefault("tools_in", place)
    try:
        return chat_options("the gateway", default.chat if default else None, changes)
    except (TypeError, ValueError) as error:
        option, _, rest = str(error).partition(" ")
        setting = next((name for name, known in _CHAT_OPTIONS.items() if known == option), option)
        raise SettingsError(f"{where}: {setting} {rest}") from None


def _require_known(values: Mapping[str, Any], where: str, known: Sequence[str]) -> None:
    try:
        require_options(where, values, known)
    except TypeError as error:
        raise SettingsError(str(error)) from None


def _shown(url: str) -> str:
    """Return a URL without a user and a password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _origin(given: str) -> str:
    """Return an origin as browsers write it: without a slash at its end, and without a usual port.

    Raises:
        SettingsError: it is not an origin, so that it would allow nothing.
    """
    if given == "*":
        return given
    found = _ORIGIN.match(given.lower())
    if found is None:
        letters = "" if given.isascii() else "; browsers write a host in other letters as xn--…"
        raise SettingsError(f"an origin in cors is * or scheme://host[:port], not {given!r}{letters}")
    origin, scheme, port, path = found.group("origin", "scheme", "port", "path")
    if path and path != "/":
        raise SettingsError(f"an origin in cors has no path: write {origin}, not {given!r}")
    return origin.removesuffix(f":{port}") if port == str(_USUAL_PORTS.get(scheme)) else origin


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _key(given: str | None, name: str) -> str | None:
    """Return a key as it is sent: without white space around it.

    Raises:
        SettingsError: it is empty, or cannot be sent.
    """
    if given is None:
        return None
    _require_str(given, name)
    key = given.strip()
    if not key:
        raise SettingsError(f"{name} is white space alone: write a key, or leave it out")
    if not key.isprintable():
        raise SettingsError(f"{name} has a line break or another character that no key has")
    return key


def _require_str(value: object, what: str) -> None:
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{what} is a text, not {value!r}")
