"""The examination of one endpoint: which questions are asked, in which order, and what came back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin, urlsplit

from llama3_acceptance.doctor.exchanges import Connection, Exchange, bare_url
from llama3_acceptance.doctor.questions import (
    MAX_TOKENS,
    NATIVE,
    QUESTIONS,
    TEXT_AND_CALL,
    THINKING_TOKENS,
    TOOLS,
    TWO_AGAIN,
    WITH_EMPTY_CONTENT,
    request_body,
)
from llama3_acceptance.doctor.said import Said
from llama3_acceptance.doctor.secrets import Secrets
from llama3_acceptance.running.runner import Endpoint, EndpointError, check_endpoint
from llama3_tools import Extraction, Extractor
from llama3_tools.chat.finish_reason import is_complete

_LISTED = "models"
_ELSEWHERE = "models under /v1"
_WITH_TOOLS = tuple(name for name, body in QUESTIONS.items() if "tools" in body)


@dataclass(frozen=True, slots=True)
class Examination:
    """What was asked of whom, and what came back."""

    base_url: str
    """The endpoint, without what may be secret in its address."""
    model: str
    """The model, by the name that was asked for."""
    exchanges: Mapping[str, Exchange] = field(hash=False)
    """The answers, by the names of their questions."""
    not_asked: tuple[str, ...] = ()
    """The questions for which there was no time."""
    has_key: bool = False
    """Whether a key was given."""
    max_tokens: int = MAX_TOKENS
    """How long an answer might be: longer if the model thinks."""
    gateway: str | None = None
    """The address that was given, if this project's gateway answers there; the endpoint is then its upstream,
    as far as the gateway tells."""
    secrets: Secrets = field(default=Secrets("", "none"), repr=False, compare=False)
    """What has to be hidden in a report."""

    def __getitem__(self, name: str) -> Exchange:
        """Return the answer to a question; one without anything if it was not asked."""
        return self.exchanges.get(name, Exchange(name))

    @property
    def models(self) -> list[str] | None:
        """The names of the models that the endpoint lists; `None` if it lists none that can be read."""
        return _model_names(self[_LISTED])

    @property
    def is_elsewhere(self) -> bool:
        """Whether the endpoint is found if `/v1` is added to its address."""
        return _model_names(self[_ELSEWHERE]) is not None

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The questions for whose answers there was no time, or which were not asked for lack of it."""
        late = (name for name, answer in self.exchanges.items() if answer.is_timeout)
        return (*late, *self.not_asked)

    @property
    def calls_natively(self) -> bool:
        """Whether the server sends calls as `tool_calls`."""
        return any(self[name].calls for name in NATIVE)

    @property
    def calls_in_text(self) -> bool:
        """Whether the text of an answer to a request with tools has a call."""
        return any(self.read(name).tools_called for name in NATIVE)

    @property
    def calls_in_the_prompt(self) -> bool:
        """Whether the model calls in its text if the tools are in the prompt."""
        return self.read("in the prompt").tools_called

    def failed(self, name: str) -> bool:
        """Return whether a question failed, rather than that there was no time for it, or the server was busy."""
        answer = self[name]
        return name in self.exchanges and not (answer.is_answered or answer.is_timeout or answer.is_busy)

    def read(self, name: str) -> Extraction:
        """Return what the extractor makes of the text of an answer."""
        return _read(self[name])

    def said(self, name: str) -> Said | None:
        """Return what an answer says; `None` if there is no answer."""
        return Said.of(self[name], self.read(name)) if self[name].is_answered else None

    def is_still_thinking(self, name: str) -> bool:
        """Return whether the limit ended an answer before the model said or called anything."""
        answer, read = self[name], self.read(name)
        is_cut_off = answer.is_answered and not is_complete(answer.finish_reason)
        return is_cut_off and not (answer.calls or read.tools_called or (read.content or "").strip())


_EXTRACTOR = Extractor(list(TOOLS.values()), on_unknown_tool="call", split_reasoning=True)


@lru_cache
def _read(answer: Exchange) -> Extraction:
    return _EXTRACTOR.extract(answer.content, complete=is_complete(answer.finish_reason))


def examine(
    base_url: str,
    model: str,
    *,
    api_key: str = "none",
    seconds: float = 120,
    on_question: Callable[[str], None] = lambda _: None,
) -> Examination:
    """Ask an endpoint all questions, as far as they make sense after the answers before them.

    Args:
        base_url: the endpoint's address, which ends in `/v1` with nearly every server.
        model: the model, as the endpoint knows it.
        api_key: its key; local servers take any.
        seconds: how long all of it may take.
        on_question: is told the name of each question before it is asked.

    Raises:
        EndpointError: the address is not a URL or is that of a request, or the key cannot be sent.
        MissingExtraError: httpx2 is not installed.
    """
    check_endpoint(Endpoint(base_url, model, api_key))
    _check_path(base_url)
    connection, has_key = Connection(base_url, api_key, seconds), api_key != "none"
    gateway, health = None, _health(connection, base_url)
    if health.get("name") == "llama3-tools":
        gateway, base_url = bare_url(base_url), str(health.get("upstream") or base_url)
        connection.close()
        connection = Connection(base_url, api_key, connection.seconds_left)
    exchanges: dict[str, Exchange] = {}
    of = Examination(bare_url(base_url), model, exchanges, has_key=has_key, secrets=connection.secrets, gateway=gateway)
    not_asked: list[str] = []
    max_tokens = MAX_TOKENS
    try:
        on_question(_LISTED)
        exchanges[_LISTED] = connection.ask("/models")
        if not of[_LISTED].status:
            return of
        if of.models is None and not base_url.rstrip("/").endswith("/v1"):
            exchanges[_ELSEWHERE] = connection.ask("/v1/models")
        for name in QUESTIONS:
            if _is_needless(name, of):
                continue
            if not connection.seconds_left:
                not_asked.append(name)
                continue
            on_question(name)
            exchanges[name] = answer = connection.ask("/chat/completions", request_body(name, model, max_tokens), name)
            if name == "one" and of.is_still_thinking(name):
                max_tokens = THINKING_TOKENS
                exchanges[name] = connection.ask("/chat/completions", request_body(name, model, max_tokens), name)
            if name == "plain" and not answer.is_answered:
                break
    finally:
        connection.close()
    return replace(of, not_asked=tuple(not_asked), max_tokens=max_tokens)


def _is_needless(name: str, of: Examination) -> bool:
    """Return whether the answers so far say all that a question could."""
    if name == WITH_EMPTY_CONTENT:
        return "result" not in of.exchanges or of["result"].is_answered
    if name == TWO_AGAIN:
        said, said_streamed = of.said("two"), of.said("two streamed")
        return said is None or said_streamed is None or said == said_streamed
    if name == TEXT_AND_CALL:
        two = of["two"]
        return not two.calls or bool(two.content.strip() or two.reasoning)
    one = of["one"]
    if name in _WITH_TOOLS[1:] and "one" in of.exchanges and not (one.is_answered or one.is_timeout):
        return True
    return name in (*_WITH_TOOLS[1:], "in the prompt") and of.is_still_thinking("one")


def _check_path(base_url: str) -> None:
    """Raise if paths cannot be added to an address."""
    parts = urlsplit(base_url)
    if parts.query or parts.fragment:
        raise EndpointError(
            f"the address has a query or a fragment after {bare_url(base_url).rstrip('/')}: the requests' paths cannot "
            "be added to it; leave it out, and give a key with --api-key"
        )


def _health(connection: Connection, base_url: str) -> dict[str, Any]:
    """Return what an endpoint says of itself at `/healthz`; nothing if that is not an object."""
    health = connection.ask(urljoin(base_url, "/healthz")).body
    return health if isinstance(health, dict) else {}


def _model_names(exchange: Exchange) -> list[str] | None:
    body: Any = exchange.body if exchange.status == HTTPStatus.OK else None
    try:
        return [str(one["id"]) for one in body["data"]]
    except (LookupError, TypeError):
        return None
