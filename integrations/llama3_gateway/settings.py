"""The settings: how a model's requests are changed, and how the gateway serves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from ipaddress import ip_address
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AnyHttpUrl,
    AnyUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    StringConstraints,
    ValidationError,
)
from pydantic.dataclasses import dataclass as checked_dataclass
from pydantic_settings import NoDecode

from llama3_tools import FormatName, OnUnknownTool, PromptFormat
from llama3_tools.chat import ChatOptions, Constrain, RepeatedCalls, ToolRole, chat_options

CHAT_NAMES = {"coerce": "coerce_arguments", "unknown_tool": "on_unknown_tool", "retries": "max_retries"}
"""The settings that have another name as options of the chat layer, and that name."""
KEYS = frozenset({"api_key", "upstream_api_key"})
"""The settings that are keys."""
_ENDPOINT = re.compile(r"/(?:chat/completions|completions|responses|messages|embeddings|api/(?:chat|generate|tags))\Z")
"""How a URL ends that is the address of one request."""


def _words(given: object) -> object:
    return re.findall(r"[^,\s]+", given) if isinstance(given, str) else given


def _key(key: str) -> str:
    if not key:
        raise ValueError("it is empty: leave it out, or write a key")
    if not key.isprintable():
        raise ValueError("a key has no line break, and no other character that is not shown")
    return key


def _base_url(given: str) -> str:
    """Return a URL as clients take it as `base_url`."""
    try:
        parsed = AnyHttpUrl(given)
    except ValidationError:
        parsed = None
    if parsed is None or parsed.query or parsed.fragment:
        raise ValueError("write a URL such as http://localhost:11434/v1")
    url = given.rstrip("/")
    if found := _ENDPOINT.search(url):
        base = url[: found.start()]
        meant = _shown(base if urlsplit(base).path else f"{base}/v1")
        raise ValueError(f"{_shown(url)} is the address of one request: write {meant}")
    return url if urlsplit(url).path else f"{url}/v1"


def _origin(given: str) -> str:
    """Return an origin as browsers write it: without a slash at its end, and without a usual port."""
    if given == "*":
        return given
    try:
        url = AnyUrl(given)
    except ValidationError:
        url = None
    has_host = url is not None and url.host and "*" not in url.host and url.username is None
    if url is None or not has_host or url.path not in {None, "/"} or url.query or url.fragment:
        raise ValueError(f"an origin is * or scheme://host[:port], not {given!r}")
    return str(url).rstrip("/")


def _shown(url: str) -> str:
    """Return a URL without a user and a password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


Url: TypeAlias = Annotated[str, AfterValidator(_base_url)]
Key: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_key)]
Origin: TypeAlias = Annotated[str, AfterValidator(_origin)]
_CONFIG = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True)


@checked_dataclass(frozen=True, config=ConfigDict(hide_input_in_errors=True))
class Upstream:
    """A server with models.

    >>> upstream = Upstream("http://localhost:11434/v1")
    >>> upstream.address("/v1/models"), upstream.address("/api/tags")
    ('http://localhost:11434/v1/models', 'http://localhost:11434/api/tags')

    Raises:
        ValidationError: `url` is not an http or https URL, or is that of one request; or the key is empty or cannot be
            sent.
    """

    url: Url
    """Where its OpenAI-compatible endpoints are, as clients take it as `base_url`. Without a path, it is `/v1`."""
    api_key: Key | None = field(default=None, repr=False)
    """The key that is sent to it, in place of the client's."""

    @property
    def shown(self) -> str:
        """The URL without a user and a password, for messages.

        >>> Upstream("http://user:password@localhost:8080/v1").shown
        'http://localhost:8080/v1'
        """
        return _shown(self.url)

    def address(self, path: str) -> str:
        """Return the URL for a path of the gateway."""
        if path.startswith("/v1/"):
            return f"{self.url}{path[3:]}"
        return f"{self.url.removesuffix('/v1')}{path}"


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """How a model's requests are changed, and where they go.

    >>> ModelSettings(Upstream("http://localhost:8080")).chat.tools_in
    'user'
    """

    upstream: Upstream = field(kw_only=False)
    """The server that answers."""
    chat: ChatOptions = field(default_factory=ChatOptions)
    """How the conversation works. With `tools_in="request"`, the upstream shows the tools to the model itself."""


class ModelOptions(BaseModel):
    """The settings that each model may have."""

    model_config = _CONFIG

    upstream: Url | None = None
    """The model's server, such as http://localhost:11434/v1."""
    upstream_api_key: Key | None = Field(None, repr=False)
    """Send this key to the server, in place of the client's."""
    native: bool = False
    """Send tools to the server instead of showing them in the prompt. Calls in the text become tool_calls, too."""
    prompt_format: PromptFormat = "json"
    """How the model is asked to call."""
    tools_in: Literal["user", "system"] = "user"
    """The message that contains the tools."""
    tool_role: ToolRole = "user"
    """The role of tool results."""
    retries: NonNegativeInt = 1
    """How often the model is asked to write a malformed call again."""
    constrain: Constrain = "auto"
    """How the model is held to a call that tool_choice requires."""
    unknown_tool: OnUnknownTool = "retry"
    """What happens to a call of an undeclared tool: call sends it to the client, text leaves it in the text, retry asks
    the model again."""
    repeated_calls: RepeatedCalls = "report"
    """What happens to a call that repeats the one before it: report drops it."""
    formats: Annotated[list[FormatName], NoDecode, BeforeValidator(_words)] = []
    """Read only this form of calls; may be repeated."""
    repair: bool = False
    """Repair malformed calls of the request's tools."""
    coerce: bool = True
    """Make arguments fit their schema."""
    split_reasoning: bool = False
    """Put <think>…</think> into reasoning_content."""
    starts_reasoning: bool = False
    """Answers begin inside <think>, because the prompt opened it."""


class ModelEntry(ModelOptions):
    """Settings for the models whose names match."""

    match: str = Field(min_length=1)
    """A pattern such as `qwen*`."""


class GatewaySettings(ModelOptions):
    """How the gateway serves.

    >>> qwen = {"match": "qwen*", "upstream": "http://localhost:8080/v1", "prompt_format": "function"}
    >>> settings = GatewaySettings(upstream="http://localhost:11434/v1", retries=2, models=[qwen])
    >>> settings.of_model("llama3.1").upstream.url
    'http://localhost:11434/v1'
    >>> settings.of_model("qwen3").chat.prompt_format, settings.of_model("qwen3").chat.max_retries
    ('function', 2)

    Raises:
        ValidationError: there is no such setting, `upstream` is missing, or a setting cannot have a value.
    """

    upstream: Url
    """The model's server, such as http://localhost:11434/v1. With a pattern: for the models whose names match; may be
    repeated."""
    models: tuple[ModelEntry, ...] = ()
    """Settings of single models. The first entry that matches counts, and the general settings for all that it does not
    set. A key goes only to the `upstream` of its own entry."""
    host: str = Field("127.0.0.1", min_length=1)
    """The address to listen on; by default, only this machine reaches it."""
    port: int = Field(8089, ge=0, lt=2**16)
    """The port to listen on; 0 for any that is free."""
    api_key: Key | None = Field(None, repr=False)
    """Ask clients for this key."""
    cors: Annotated[list[Origin], NoDecode, BeforeValidator(_words)] = []
    """Let web pages of this origin use the gateway, such as http://localhost:3000; * for all; may be repeated."""
    max_body: PositiveInt = 32 * 1024 * 1024
    """The most bytes of a request."""
    max_answer: PositiveInt = 64 * 1024 * 1024
    """The most bytes of a server's answer that the gateway reads. Answers that pass through are not limited."""
    timeout: PositiveFloat = 600.0
    """Seconds for which a server may be silent."""
    keepalive: PositiveFloat = 15.0
    """Seconds after which a stream that holds back text sends a comment."""
    log_content: bool = False
    """Log questions and answers."""

    @cached_property
    def default(self) -> ModelSettings:
        """The settings of models that match no pattern."""
        return _model_settings(self._of_default)

    @cached_property
    def of_patterns(self) -> tuple[tuple[str, ModelSettings], ...]:
        """The patterns, and the settings of the models whose names they match."""
        return tuple((entry.match, self._of_entry(entry)) for entry in self.models)

    def of_model(self, name: object) -> ModelSettings:
        """Return the settings of a model: those of the first pattern that its name matches, or the default's."""
        if isinstance(name, str):
            for pattern, settings in self.of_patterns:
                if fnmatchcase(name, pattern):
                    return settings
        return self.default

    @property
    def is_for_this_machine(self) -> bool:
        """Whether only programs on this machine reach it."""
        return _is_loopback(self.host)

    def is_own_host(self, name: str) -> bool:
        """Return whether a request for a host of this name is meant for the gateway.

        A page can point its own name at 127.0.0.1 (DNS rebinding). To the browser, the gateway then has the page's own
        origin, and CORS does not stop it. So if only this machine is served, only loopback names and the hosts in
        `cors` are accepted.

        >>> settings = GatewaySettings(upstream="http://localhost:11434/v1")
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
        return list(dict.fromkeys([self.default.upstream, *(settings.upstream for _, settings in self.of_patterns)]))

    @property
    def with_clients_key(self) -> frozenset[Upstream]:
        """The servers to which a client's key goes, its `Authorization` or `x-api-key`.

        If no key is set, these are all. If a server has its own key, the client's is for the default's server
        alone; if the gateway has one, it is for the gateway.

        >>> other = {"match": "qwen*", "upstream": "http://localhost:8080", "upstream_api_key": "sesame"}
        >>> settings = GatewaySettings(upstream="http://localhost:11434", models=[other])
        >>> [upstream.url for upstream in settings.with_clients_key]
        ['http://localhost:11434/v1']
        """
        if self.api_key:
            return frozenset()
        upstreams = self.upstreams
        if any(upstream.api_key for upstream in upstreams):
            upstreams = [upstream for upstream in upstreams[:1] if not upstream.api_key]
        return frozenset(upstreams)

    @cached_property
    def _of_default(self) -> dict[str, Any]:
        return self.model_dump(include={*ModelOptions.model_fields}, exclude_unset=True)

    def _of_entry(self, entry: ModelEntry) -> ModelSettings:
        own = entry.model_dump(exclude={"match"}, exclude_unset=True)
        merged = {**self._of_default, **own}
        if merged["upstream"] != self.upstream and "upstream_api_key" not in own:
            merged.pop("upstream_api_key", None)
        return _model_settings(merged)


def _model_settings(values: Mapping[str, Any]) -> ModelSettings:
    """Return what the settings that are set come to."""
    changes = {CHAT_NAMES.get(name, name): value for name, value in values.items()}
    upstream = Upstream(changes.pop("upstream"), changes.pop("upstream_api_key", None))
    if changes.pop("native", False):
        changes["tools_in"] = "request"
    changes["formats"] = changes.get("formats") or None
    return ModelSettings(upstream, chat=chat_options(None, changes))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
