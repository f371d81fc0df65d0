"""The gateway as an ASGI application: its routes, and what holds for all of them."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from time import perf_counter
from typing import Any, TypeAlias

import anyio

from llama3_gateway.engine import Engine
from llama3_gateway.errors import ClientGoneError, GatewayError, UpstreamRefusal
from llama3_gateway.exchange import Exchange, Receive, Scope, Send
from llama3_gateway.framing import read_body
from llama3_gateway.logs import log_fault, log_request
from llama3_gateway.metrics import Metrics
from llama3_gateway.ollama_chat import OllamaDialect, OllamaShape, from_ollama
from llama3_gateway.openai_chat import ChatDialect, ChatShape
from llama3_gateway.openai_responses import ResponseShape
from llama3_gateway.pass_through import pass_through, send_models
from llama3_gateway.responses_input import NEEDS_STATE, KeptItems, from_responses
from llama3_gateway.settings import GatewaySettings, ModelSettings
from llama3_gateway.turns import Turn, asking_again, has_tool_history, prepare_turn
from llama3_gateway.upstream import UpstreamClient

__all__ = ["Gateway"]

_Body: TypeAlias = dict[str, Any]
_Handler: TypeAlias = Callable[["Gateway", Exchange, bytes], Awaitable[None]]

_CLIENT_CLOSED_REQUEST = 499
"""nginx's word for a client that has gone."""
_OPEN_TO_ALL = frozenset({"/", "/healthz"})
"""Paths for which no key is asked."""
_OTHER_SITES = frozenset({"cross-site", "same-site"})
"""What browsers say of requests that a page of another origin has caused."""
_STATEFUL = re.compile(
    r"/v1/responses/(?!input_tokens$|compact$)[^/]+(?:/cancel|/input_items)?|/v1/conversations(?:/.*)?"
)
"""Paths of the Responses API that are about what the server has kept."""
_MISPLACED = re.compile(
    r"/v1/(?:v1|api)/.*|/v1/(?:chat/completions|completions|responses)/(?:chat/completions|responses)"
    r"|/api/(?:chat/completions|responses)"
)
"""Paths of clients whose address has a `/v1` that is not theirs, or ends with the path that the client adds itself."""
_PREFLIGHT_SECONDS = b"600"
_PLAIN = b"text/plain; charset=utf-8"
_METRICS = b"text/plain; version=0.0.4; charset=utf-8"


class Gateway:
    """An ASGI application that gives tools to the clients of a server that has none.

    >>> from llama3_gateway import GatewaySettings, ModelSettings, Upstream
    >>> application = Gateway(GatewaySettings(default=ModelSettings(Upstream("http://localhost:11434/v1"))))

    Any ASGI server runs it: `uvicorn.run(application, port=8089)`.
    """

    def __init__(self, settings: GatewaySettings) -> None:
        """Take the settings."""
        self.settings = settings
        self.metrics = Metrics()
        self._client: UpstreamClient | None = None
        self._name = f"llama3-tools-{secrets.token_hex(8)}"
        self._kept = KeptItems()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or take part in the server's start and end."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
        elif scope["type"] == "http":
            await self._answer(Exchange(scope, receive, send))

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

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, exchange: Exchange) -> None:
        self.metrics.open_requests += 1
        exchange.record.logs_content = self.settings.log_content
        try:
            await self._answer_while_connected(exchange)
        finally:
            self.metrics.open_requests -= 1
            exchange.record.status = exchange.record.status or _CLIENT_CLOSED_REQUEST
            self.metrics.add(exchange.record)
            log_request(exchange.record)

    async def _answer_while_connected(self, exchange: Exchange) -> None:
        """Answer, and stop at once if the client goes: this closes the upstream's answer."""
        try:
            self._admit(exchange)
            body = await self._body(exchange)
        except GatewayError as error:
            exchange.record.reason = error.message
            await _explain(exchange, error)
            return
        except ClientGoneError:
            return
        async with anyio.create_task_group() as group:

            async def answer() -> None:
                await self._answer_or_explain(exchange, body)
                group.cancel_scope.cancel()

            exchange.start_soon = group.start_soon
            group.start_soon(answer)
            await exchange.disconnected()
            group.cancel_scope.cancel()

    async def _body(self, exchange: Exchange) -> bytes:
        """Return the body of a request.

        Raises:
            GatewayError: it is too long, or does not come in time.
            ClientGoneError: the client has gone before its end.
        """
        try:
            with anyio.fail_after(self.settings.timeout):
                return await exchange.body(self.settings.max_body)
        except TimeoutError:
            message = "the body of the request did not come in time: --timeout allows more"
            raise GatewayError(HTTPStatus.REQUEST_TIMEOUT, message) from None

    async def _answer_or_explain(self, exchange: Exchange, body: bytes) -> None:
        try:
            name, handler = _route(exchange)
            exchange.record.route = name
            await handler(self, exchange, body)
        except UpstreamRefusal as error:
            exchange.record.reason = error.reason
            length = (b"content-length", str(len(error.body)).encode())
            await exchange.start(error.status, [*error.headers, length])
            await exchange.finish(error.body)
        except GatewayError as error:
            exchange.record.reason = error.reason
            if not exchange.is_started:
                await _explain(exchange, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next request is answered
            log_fault("a request could not be answered", error, exchange.record)
            if not exchange.is_started:
                await _explain(exchange, GatewayError(500, "a fault of the gateway: its log says where", code="fault"))

    def _admit(self, exchange: Exchange) -> None:
        """Note what the answer has for web pages.

        Raises:
            GatewayError: the request is of a web page that may not send it, is for another host, lacks the key, or
                is one that this gateway itself has sent.
        """
        if any(key == b"via" and self._name.encode() in value for key, value in exchange.headers):
            message = "this gateway asks itself: --upstream says where the model is"
            raise GatewayError(HTTPStatus.LOOP_DETECTED, message, code="loop")
        host = exchange.header(b"host")
        if host is not None and not self.settings.is_own_host(host):
            message = f"{host} is no name of this machine: --host 0.0.0.0 takes all names, --cors those of its origins"
            raise GatewayError(HTTPStatus.FORBIDDEN, message, code="host")
        origin = exchange.header(b"origin")
        if origin is None and exchange.header(b"sec-fetch-site") in _OTHER_SITES and "*" not in self.settings.cors:
            message = "web pages may not use this gateway without saying whose they are: only --cors '*' allows it"
            if exchange.path not in _OPEN_TO_ALL:
                raise GatewayError(HTTPStatus.FORBIDDEN, message, code="origin")
        if origin is not None:
            if not {origin, "*"} & set(self.settings.cors):
                allowing = "'*'" if origin == "null" else origin  # of files, and of frames that are shut in
                message = f"web pages of {origin} may not use this gateway: --cors {allowing} allows them"
                raise GatewayError(HTTPStatus.FORBIDDEN, message, code="origin")
            exchange.extra_headers = [
                (b"access-control-allow-origin", origin.encode("latin-1")),
                (b"access-control-expose-headers", b"*"),
                (b"vary", b"Origin"),
            ]
        key = self.settings.api_key
        if key is None or exchange.path in _OPEN_TO_ALL or (origin is not None and exchange.is_preflight):
            return
        scheme, _, rest = (exchange.header(b"authorization") or "").strip().partition(" ")
        given = (rest if scheme.lower() == "bearer" else f"{scheme} {rest}").strip().encode("latin-1")
        exchange.headers = [header for header in exchange.headers if header[0] != b"authorization"]
        if not hmac.compare_digest(given, key.encode()):
            message = "this gateway asks for its own key: send it as Authorization: Bearer KEY"
            raise GatewayError(HTTPStatus.UNAUTHORIZED, message, code="api_key")

    async def chat(self, exchange: Exchange, data: bytes) -> None:
        """Answer a chat completion."""
        body, settings = self._begin(exchange, data)
        if not body.get("tools"):
            if body.get("functions"):
                message = 'functions is not supported: send the same as tools, [{"type": "function", "function": …}]'
                raise GatewayError(HTTPStatus.BAD_REQUEST, message, param="functions")
            await self._without_tools(exchange, data, body, settings)
            return
        options = body.get("stream_options")
        include_usage = isinstance(options, dict) and options.get("include_usage") is True
        shape = ChatShape(include_usage=include_usage)
        await self._with_tools(exchange, prepare_turn(body, settings), ChatDialect(), shape)

    async def responses(self, exchange: Exchange, data: bytes) -> None:
        """Answer a request of OpenAI's Responses API, by asking for a chat completion."""
        body, settings = self._begin(exchange, data)
        turn = prepare_turn(from_responses(body, self._kept), asking_again(settings))
        await self._with_tools(exchange, turn, ChatDialect(), ResponseShape(body, self._kept))

    async def ollama_chat(self, exchange: Exchange, data: bytes) -> None:
        """Answer a chat in Ollama's own form."""
        body, settings = self._begin(exchange, data, streams_by_default=True)
        if body.get("tools"):
            turn = prepare_turn(from_ollama(body), settings, is_ollama=True)
            await self._with_tools(exchange, turn, OllamaDialect(), OllamaShape())
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

    async def health(self, exchange: Exchange, _data: bytes) -> None:
        """Answer that the gateway runs."""
        await exchange.answer_json(HTTPStatus.OK, {"status": "ok"})

    async def count(self, exchange: Exchange, _data: bytes) -> None:
        """Answer what was counted, for Prometheus."""
        await exchange.answer(HTTPStatus.OK, self.metrics.text().encode(), _METRICS)

    async def say_hello(self, exchange: Exchange, _data: bytes) -> None:
        """Answer what this is, for people with a browser."""
        text = b"llama3-tools gateway: point your client's base_url at /v1\n"
        await exchange.answer(HTTPStatus.OK, text, _PLAIN)

    async def allow(self, exchange: Exchange, _data: bytes) -> None:
        """Answer a browser that asks whether a web page may send its request."""
        asked = exchange.header(b"access-control-request-headers") or "*"
        headers = [
            (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE, OPTIONS"),
            (b"access-control-allow-headers", asked.encode("latin-1")),
            (b"access-control-max-age", _PREFLIGHT_SECONDS),
        ]
        await exchange.start(HTTPStatus.NO_CONTENT, headers)
        await exchange.finish()

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

    async def _with_tools(
        self, exchange: Exchange, turn: Turn, dialect: ChatDialect | OllamaDialect, shape: _Shape
    ) -> None:
        await Engine(exchange, self.client, self.settings, dialect, shape).answer(turn)

    async def _without_tools(
        self, exchange: Exchange, data: bytes, body: _Body, settings: ModelSettings, *, is_ollama: bool = False
    ) -> None:
        """Pass a request on: as it is, unless its history holds calls, which a server without tools refuses."""
        if has_tool_history(body.get("messages")):
            data = prepare_turn(body, settings, is_ollama=is_ollama).written()
        await pass_through(exchange, self.client, settings.upstream, data)


_Shape: TypeAlias = "ChatShape | ResponseShape | OllamaShape"

_ROUTES: dict[tuple[str, str], tuple[str, _Handler]] = {
    ("POST", "/v1/chat/completions"): ("chat", Gateway.chat),
    ("POST", "/v1/responses"): ("responses", Gateway.responses),
    ("POST", "/api/chat"): ("ollama_chat", Gateway.ollama_chat),
    ("GET", "/v1/models"): ("models", Gateway.models),
    ("GET", "/healthz"): ("healthz", Gateway.health),
    ("GET", "/metrics"): ("metrics", Gateway.count),
    ("GET", "/"): ("root", Gateway.say_hello),
}


def _route(exchange: Exchange) -> tuple[str, _Handler]:
    """Return the name of a route, and what answers there.

    Raises:
        GatewayError: there is none.
    """
    if exchange.is_preflight and exchange.extra_headers:
        return "preflight", Gateway.allow
    method = "GET" if exchange.method == "HEAD" else exchange.method  # whose answer is the same, without its body
    if route := _ROUTES.get((method, exchange.path)):
        return route
    if _STATEFUL.fullmatch(exchange.path):
        message = f"{exchange.path} {NEEDS_STATE}: send the whole conversation as input to /v1/responses"
        raise GatewayError(HTTPStatus.BAD_REQUEST, message)
    if exchange.path.startswith(("/v1/", "/api/")) and not _MISPLACED.fullmatch(exchange.path):
        return "pass_through", Gateway.pass_on
    cure = "clients' base_url ends in /v1, once; that of Ollama's own clients does not"
    message = f"there is no {exchange.method} {exchange.path} here: {cure}"
    raise GatewayError(HTTPStatus.NOT_FOUND, message, reason=message)


async def _explain(exchange: Exchange, error: GatewayError) -> None:
    """Answer with an error, in the form that the client's path has."""
    is_ollama = exchange.path.startswith("/api/")
    await exchange.answer_json(error.status, {"error": error.message} if is_ollama else error.to_openai())
