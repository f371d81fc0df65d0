"""The gateway as an ASGI application: its routes, and what answers each of them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from time import perf_counter
from typing import Any

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from llama3_gateway.access import Access
from llama3_gateway.api import APIS, CHAT, MESSAGES, OLLAMA, Api
from llama3_gateway.endpoint import Answer, Endpoint, Recording, error_response
from llama3_gateway.engine import Engine
from llama3_gateway.errors import GatewayError
from llama3_gateway.exchange import Exchange
from llama3_gateway.framing import read_body, write_body
from llama3_gateway.messages_input import NEEDS_ANTHROPIC
from llama3_gateway.metrics import Metrics
from llama3_gateway.pass_through import pass_through, send_model, send_models
from llama3_gateway.responses_input import NEEDS_STATE, KeptItems
from llama3_gateway.settings import GatewaySettings, ModelSettings, Upstream
from llama3_gateway.token_count import send_token_count
from llama3_gateway.turns import has_tool_history, prepare_turn
from llama3_gateway.upstream import UpstreamClient

_CONVERSATIONS = (
    *("/v1/responses/{id}", "/v1/responses/{id}/cancel", "/v1/responses/{id}/input_items"),
    *("/v1/conversations", "/v1/conversations/{rest:path}"),
)
_STATEFUL = f"{NEEDS_STATE}: send the whole conversation as input to /v1/responses"
_BATCHES = ("/v1/messages/batches", "/v1/messages/batches/{rest:path}")
_OF_ANTHROPIC = f"{NEEDS_ANTHROPIC}: send each request to /v1/messages"
_MISPLACED = (
    *("/v1/v1/{rest:path}", "/v1/api/{rest:path}", "/v1/messages/v1/messages"),
    *(
        f"/v1/{first}/{second}"
        for first in ("chat/completions", "completions", "responses")
        for second in ("chat/completions", "responses")
    ),
    *("/api/chat/completions", "/api/responses"),
)
"""Paths of clients whose address has a `/v1` that is not theirs, or ends with the path that the client adds itself."""


class Gateway(Starlette):
    """An ASGI application: the gateway, in front of a server that loses tool calls.

    >>> from llama3_gateway import GatewaySettings
    >>> application = Gateway(GatewaySettings(upstream="http://localhost:11434/v1"))

    Any ASGI server runs it: `uvicorn.run(application, port=8089)`.
    """

    def __init__(self, settings: GatewaySettings) -> None:
        """Make it from the settings."""
        self.settings = settings
        self.metrics = Metrics()
        self._client: UpstreamClient | None = None
        self._name = f"llama3-tools-{secrets.token_hex(8)}"
        self._access = Access(settings, self._name)
        self._kept = KeptItems()
        cors = Middleware(
            CORSMiddleware,
            settings.cors,
            allow_methods="*",
            allow_headers="*",
            allow_private_network=True,
            expose_headers="*",
        )
        super().__init__(
            routes=[
                self._route("/", _root, "none", "GET", is_open=True),
                self._route("/healthz", self.healthz, "none", "GET", is_open=True),
                self._route("/metrics", self.write_metrics, "none", "GET"),
                *(self._route(api.path, self._answering(api), api.name, "POST", api=api) for api in APIS),
                self._route("/v1/messages/count_tokens", self.count_tokens, "count_tokens", "POST", api=MESSAGES),
                self._route("/v1/models", self.models, "models", "GET"),
                self._route("/api/show", self.show, "show", "POST", api=OLLAMA),
                *(self._route(path, _refusing(_OF_ANTHROPIC), "none", api=MESSAGES) for path in _BATCHES),
                *(self._route(path, _misplaced, "none") for path in _MISPLACED),
                *(self._route(path, _refusing(_STATEFUL), "none") for path in _CONVERSATIONS),
                self._route("/v1/{rest:path}", self.pass_on, "pass_through"),
                self._route("/api/{rest:path}", self.pass_on, "pass_through", api=OLLAMA),
            ],
            middleware=[
                Middleware(Recording, self.metrics, logs_content=settings.log_content),
                *([cors] if settings.cors else []),
            ],
            exception_handlers={HTTPException: _not_found},
            lifespan=_closing,
        )
        self.router.redirect_slashes = False

    @property
    def client(self) -> UpstreamClient:
        """What asks the upstreams; made for the first request, as it belongs to one event loop."""
        if self._client is None:
            self._client = UpstreamClient(self.settings.timeout, self._name, self.settings.with_clients_key)
        return self._client

    async def aclose(self) -> None:
        """Close the connections to the upstreams."""
        client, self._client = self._client, None
        if client:
            await client.aclose()

    async def answer(self, exchange: Exchange, data: bytes, api: Api) -> None:
        """Answer a request of an API, with tools or, as other APIs know them not, without."""
        body, settings = self._begin(exchange, data, api)
        request = api.request(body, self._kept)
        if not body.get("tools") and api.is_of_upstream:
            if has_tool_history(request.get("messages")):  # which a server without tools refuses
                data = prepare_turn(request, settings, api.dialect).to_json()
            await pass_through(exchange, self.client, settings.upstream, data)
            return
        turn = prepare_turn(request, settings, api.dialect)
        await Engine(exchange, self.client, self.settings, api.dialect, api.shape(body, self._kept)).answer(turn)

    async def count_tokens(self, exchange: Exchange, data: bytes) -> None:
        """Answer how many tokens a request of the Messages API has."""
        body, settings = self._begin(exchange, data, MESSAGES)
        turn = prepare_turn(MESSAGES.request(body, self._kept), settings, MESSAGES.dialect)
        await send_token_count(exchange, self.client, turn, self.settings.max_answer)

    async def show(self, exchange: Exchange, data: bytes) -> None:
        """Answer what an upstream says of a model, which can call tools here."""
        await send_model(exchange, self.client, self._upstream_of(data), data)

    async def pass_on(self, exchange: Exchange, data: bytes) -> None:
        """Pass a request on as it is."""
        await pass_through(exchange, self.client, self._upstream_of(data), data)

    async def models(self, exchange: Exchange, data: bytes) -> None:
        """Answer which models there are: of several upstreams, the models of all."""
        upstreams = self.settings.upstreams
        if len(upstreams) == 1:
            await pass_through(exchange, self.client, upstreams[0], data)
        else:
            await send_models(exchange, self.client, upstreams)

    async def healthz(self, exchange: Exchange, _data: bytes) -> None:
        """Answer that the gateway runs, and, unless it asks for a key, in front of which server."""
        behind = {} if self.settings.api_key else {"upstream": self.settings.default.upstream.shown}
        await exchange.answer(write_body({"status": "ok", "name": "llama3-tools", **behind}))

    async def write_metrics(self, exchange: Exchange, _data: bytes) -> None:
        """Answer what was counted, for Prometheus."""
        headers = {"content-type": CONTENT_TYPE_PLAIN_0_0_4}
        await exchange.answer(generate_latest(self.metrics.registry), **headers)

    def _route(
        self, path: str, answer: Answer, name: str, *methods: str, api: Api = CHAT, is_open: bool = False
    ) -> Route:
        endpoint = Endpoint(
            name=name, answer=answer, settings=self.settings, access=self._access, api=api, is_open=is_open
        )
        return Route(path, endpoint, methods=methods or None)

    def _answering(self, api: Api) -> Answer:
        return lambda exchange, data: self.answer(exchange, data, api)

    def _begin(self, exchange: Exchange, data: bytes, api: Api) -> tuple[dict[str, Any], ModelSettings]:
        """Return the body of a request that is read, and the settings of its model."""
        began = perf_counter()
        record = exchange.record
        body = read_body(data)
        model = body.get("model")
        record.model = model if isinstance(model, str) else None
        stream = body.get("stream")
        record.is_stream = api.streams_by_default if stream is None else stream is True
        if record.logs_content:
            record.content["request"] = body
        record.added += perf_counter() - began
        return body, self.settings.of_model(model)

    def _upstream_of(self, data: bytes) -> Upstream:
        """Return the upstream for a request that is not read."""
        if self.settings.models and data.lstrip().startswith(b"{"):
            with suppress(GatewayError):  # anything but JSON has no model
                return self.settings.of_model(read_body(data).get("model")).upstream
        return self.settings.default.upstream


@asynccontextmanager
async def _closing(gateway: Gateway) -> AsyncIterator[None]:
    yield
    await gateway.aclose()


async def _root(exchange: Exchange, _data: bytes) -> None:
    headers = {"content-type": "text/plain"}
    await exchange.answer(b"llama3-tools gateway: point your client's base_url at /v1\n", **headers)


def _refusing(why: str) -> Answer:
    async def refuse(exchange: Exchange, _data: bytes) -> None:
        raise GatewayError(HTTPStatus.BAD_REQUEST, f"{exchange.path} {why}")

    return refuse


async def _misplaced(exchange: Exchange, _data: bytes) -> None:
    raise _nothing_here(HTTPStatus.NOT_FOUND, exchange.method, exchange.path)


async def _not_found(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as it is registered
    return error_response(_nothing_here(error.status_code, request.method, request.url.path), request.scope)


def _nothing_here(status: int, method: str, path: str) -> GatewayError:
    cure = "clients' base_url ends in /v1, once; that of Ollama's and Anthropic's own clients does not"
    message = f"there is no {method} {path} here: {cure}"
    return GatewayError(status, message, reason=message)
