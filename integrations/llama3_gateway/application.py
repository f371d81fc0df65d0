"""The gateway as an ASGI application: its routes, and what answers each of them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from time import perf_counter
from typing import Any, TypeAlias

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from llama3_gateway.access import Access
from llama3_gateway.anthropic_messages import MessageShape
from llama3_gateway.endpoint import Answer, Endpoint, Recording, error_response
from llama3_gateway.engine import Engine
from llama3_gateway.errors import GatewayError, bad_request
from llama3_gateway.exchange import Exchange
from llama3_gateway.framing import read_body
from llama3_gateway.messages_input import NEEDS_ANTHROPIC, from_messages
from llama3_gateway.metrics import Metrics
from llama3_gateway.ollama_chat import OllamaDialect, OllamaShape, from_ollama
from llama3_gateway.openai_chat import ChatDialect, ChatShape
from llama3_gateway.openai_responses import ResponseShape
from llama3_gateway.pass_through import pass_through, send_models
from llama3_gateway.responses_input import NEEDS_STATE, KeptItems, from_responses
from llama3_gateway.settings import GatewaySettings, ModelSettings
from llama3_gateway.token_count import send_token_count
from llama3_gateway.turns import has_tool_history, prepare_turn
from llama3_gateway.upstream import UpstreamClient

__all__ = ["Gateway"]

_Body: TypeAlias = dict[str, Any]

_STATELESS = ("/v1/responses/input_tokens", "/v1/responses/compact")
_STATEFUL = (
    *("/v1/responses/{id}", "/v1/responses/{id}/cancel", "/v1/responses/{id}/input_items"),
    *("/v1/conversations", "/v1/conversations/{rest:path}"),
)
"""Paths of the Responses API that are about what the server has kept."""
_OF_ANTHROPIC = ("/v1/messages/batches", "/v1/messages/batches/{rest:path}")
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
    """An ASGI application that gives tools to the clients of a server that has none.

    >>> from llama3_gateway import GatewaySettings
    >>> application = Gateway(GatewaySettings(upstream="http://localhost:11434/v1"))

    Any ASGI server runs it: `uvicorn.run(application, port=8089)`.
    """

    def __init__(self, settings: GatewaySettings) -> None:
        """Take the settings."""
        self.settings = settings
        self.metrics = Metrics()
        self._client: UpstreamClient | None = None
        self._name = f"llama3-tools-{secrets.token_hex(8)}"
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
                Route("/", root),
                Route("/healthz", healthz),
                Route("/metrics", metrics),
                self._route("/v1/chat/completions", self.chat, "chat", "POST"),
                self._route("/v1/responses", self.responses, "responses", "POST"),
                self._route("/v1/messages", self.messages, "messages", "POST"),
                self._route("/v1/messages/count_tokens", self.count_tokens, "count_tokens", "POST"),
                self._route("/api/chat", self.ollama_chat, "ollama_chat", "POST"),
                self._route("/v1/models", self.models, "models", "GET"),
                *(self._route(path, _misplaced, "none") for path in _MISPLACED),
                *(self._route(path, self.pass_on, "pass_through") for path in _STATELESS),
                *(self._route(path, _stateful, "none") for path in _STATEFUL),
                *(self._route(path, _of_anthropic, "none") for path in _OF_ANTHROPIC),
                self._route("/v1/{rest:path}", self.pass_on, "pass_through"),
                self._route("/api/{rest:path}", self.pass_on, "pass_through"),
            ],
            middleware=[
                Middleware(Recording, self.metrics, logs_content=settings.log_content),
                *([cors] if settings.cors else []),
                Middleware(Access, settings, self._name),
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

    async def chat(self, exchange: Exchange, data: bytes) -> None:
        """Answer a chat completion."""
        body, settings = self._begin(exchange, data)
        if not body.get("tools"):
            if body.get("functions"):
                message = 'functions is not supported: send the same as tools, [{"type": "function", "function": …}]'
                raise bad_request(message, "functions")
            await self._without_tools(exchange, data, body, settings)
            return
        options = body.get("stream_options")
        include_usage = isinstance(options, dict) and options.get("include_usage") is True
        shape = ChatShape(include_usage=include_usage)
        turn = prepare_turn(body, settings)
        await Engine(exchange, self.client, self.settings, ChatDialect(), shape).answer(turn)

    async def responses(self, exchange: Exchange, data: bytes) -> None:
        """Answer a request of OpenAI's Responses API, by asking for a chat completion."""
        body, settings = self._begin(exchange, data)
        turn = prepare_turn(from_responses(body, self._kept), settings)
        shape = ResponseShape(body, self._kept)
        await Engine(exchange, self.client, self.settings, ChatDialect(), shape).answer(turn)

    async def messages(self, exchange: Exchange, data: bytes) -> None:
        """Answer a request of Anthropic's Messages API, by asking for a chat completion."""
        body, settings = self._begin(exchange, data)
        turn = prepare_turn(from_messages(body), settings)
        await Engine(exchange, self.client, self.settings, ChatDialect(), MessageShape(body)).answer(turn)

    async def count_tokens(self, exchange: Exchange, data: bytes) -> None:
        """Answer how many tokens a request of the Messages API has."""
        body, settings = self._begin(exchange, data)
        turn = prepare_turn(from_messages(body), settings)
        await send_token_count(exchange, self.client, turn, self.settings.max_answer)

    async def ollama_chat(self, exchange: Exchange, data: bytes) -> None:
        """Answer a chat in Ollama's own form."""
        body, settings = self._begin(exchange, data, streams_by_default=True)
        if body.get("tools"):
            turn = prepare_turn(from_ollama(body), settings, is_ollama=True)
            await Engine(exchange, self.client, self.settings, OllamaDialect(), OllamaShape()).answer(turn)
        else:
            await self._without_tools(exchange, data, from_ollama(body), settings, is_ollama=True)

    async def pass_on(self, exchange: Exchange, data: bytes) -> None:
        """Pass a request on as it is."""
        settings = self.settings.default
        if self.settings.models and data.lstrip().startswith(b"{"):
            with suppress(GatewayError):  # what is no JSON has no model
                settings = self.settings.of_model(read_body(data).get("model"))
        await pass_through(exchange, self.client, settings.upstream, data)

    async def models(self, exchange: Exchange, data: bytes) -> None:
        """Answer which models there are: of several upstreams, the models of all."""
        upstreams = self.settings.upstreams
        if len(upstreams) == 1:
            await pass_through(exchange, self.client, upstreams[0], data)
        else:
            await send_models(exchange, self.client, upstreams)

    def _route(self, path: str, answer: Answer, name: str, *methods: str) -> Route:
        return Route(path, Endpoint(name, self.settings, answer), methods=methods or None)

    def _begin(
        self, exchange: Exchange, data: bytes, *, streams_by_default: bool = False
    ) -> tuple[_Body, ModelSettings]:
        """Return the body of a request that is read, and the settings of its model."""
        began = perf_counter()
        record = exchange.record
        body = read_body(data)
        model = body.get("model")
        record.model = model if isinstance(model, str) else None
        stream = body.get("stream")
        record.is_stream = streams_by_default if stream is None else stream is True
        if record.logs_content:
            record.content["request"] = body
        record.added += perf_counter() - began
        return body, self.settings.of_model(model)

    async def _without_tools(
        self, exchange: Exchange, data: bytes, body: _Body, settings: ModelSettings, *, is_ollama: bool = False
    ) -> None:
        """Pass a request on: as it is, unless its history holds calls, which a server without tools refuses."""
        if has_tool_history(body.get("messages")):
            data = prepare_turn(body, settings, is_ollama=is_ollama).written()
        await pass_through(exchange, self.client, settings.upstream, data)


@asynccontextmanager
async def _closing(gateway: Gateway) -> AsyncIterator[None]:
    yield
    await gateway.aclose()


async def root(_request: Request) -> Response:
    """Answer what this is, for people with a browser."""
    return PlainTextResponse("llama3-tools gateway: point your client's base_url at /v1\n")


async def healthz(request: Request) -> Response:
    """Answer that the gateway runs, and, unless it asks for a key, in front of which server."""
    settings: GatewaySettings = request.app.settings
    behind = {} if settings.api_key else {"upstream": settings.default.upstream.shown}
    return JSONResponse({"status": "ok", "name": "llama3-tools", **behind})


async def metrics(request: Request) -> Response:
    """Answer what was counted, for Prometheus."""
    return Response(generate_latest(request.app.metrics.registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


async def _stateful(exchange: Exchange, _data: bytes) -> None:
    message = f"{exchange.path} {NEEDS_STATE}: send the whole conversation as input to /v1/responses"
    raise GatewayError(HTTPStatus.BAD_REQUEST, message)


async def _of_anthropic(exchange: Exchange, _data: bytes) -> None:
    raise GatewayError(HTTPStatus.BAD_REQUEST, f"{exchange.path} {NEEDS_ANTHROPIC}: send each request to /v1/messages")


async def _misplaced(exchange: Exchange, _data: bytes) -> None:
    raise _nothing_here(HTTPStatus.NOT_FOUND, exchange.method, exchange.path)


async def _not_found(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as it is registered
    return error_response(_nothing_here(error.status_code, request.method, request.url.path), request.scope)


def _nothing_here(status: int, method: str, path: str) -> GatewayError:
    cure = "clients' base_url ends in /v1, once; that of Ollama's and Anthropic's own clients does not"
    message = f"there is no {method} {path} here: {cure}"
    return GatewayError(status, message, reason=message)
