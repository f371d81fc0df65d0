"""How each request is answered: its body, a client that leaves, errors, the record of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TypeAlias

import anyio
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from llama3_gateway.errors import GatewayError, UpstreamRefusal
from llama3_gateway.exchange import JSON, Exchange
from llama3_gateway.framing import written
from llama3_gateway.logs import log_fault, log_request
from llama3_gateway.metrics import Metrics, RequestRecord
from llama3_gateway.settings import GatewaySettings

__all__ = ["Answer", "Endpoint", "Recording", "error_response", "is_of_messages"]

Answer: TypeAlias = Callable[[Exchange, bytes], Awaitable[None]]
"""Answers a request with this body."""

_CLIENT_CLOSED_REQUEST = 499
"""nginx's word for a client that has gone."""
_FAULT = "a fault of the gateway: its log says where"


class Endpoint:
    """The application behind a route: it answers while the client is there, and explains what cannot be answered."""

    def __init__(self, name: str, settings: GatewaySettings, answer: Answer) -> None:
        """Take the route's name, the limits of a request, and what answers it."""
        self.__name__ = name
        self._settings = settings
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and stop at once if the client leaves: this closes the upstream's answer.

        Starlette would notice that only when something is sent.
        """
        exchange = Exchange(scope, receive, send)
        async with anyio.create_task_group() as group:
            exchange.start_soon = group.start_soon

            async def watch() -> None:
                await exchange.disconnected()
                group.cancel_scope.cancel()

            try:
                body = await self._body(exchange)
                group.start_soon(watch)
                await self._answer(exchange, body)
            except ClientDisconnect:
                pass
            except UpstreamRefusal as refusal:
                exchange.record.reason = refusal.reason
                await exchange.respond(_refusal_response(refusal, exchange.path))
            except GatewayError as error:
                await _explain(exchange, error)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next request is answered
                log_fault("a request could not be answered", error, exchange.record)
                await _explain(exchange, GatewayError(500, _FAULT, code="fault"))
            group.cancel_scope.cancel()

    async def _body(self, exchange: Exchange) -> bytes:
        try:
            with anyio.fail_after(self._settings.timeout):
                return await exchange.body(self._settings.max_body)
        except TimeoutError:
            message = "the body of the request did not come in time: --timeout allows more"
            raise GatewayError(HTTPStatus.REQUEST_TIMEOUT, message, reason=message) from None


class Recording:
    """Middleware that counts and logs each request, and knows its path without slashes that are too many."""

    def __init__(self, app: ASGIApp, metrics: Metrics, *, logs_content: bool) -> None:
        """Take what counts, and whether the log is to have what was asked and answered."""
        self._app = app
        self._metrics = metrics
        self._logs_content = logs_content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note what becomes of a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["path"] = "/" + "/".join(part for part in scope["path"].split("/") if part not in {"", "."})
        record = RequestRecord(scope["method"], scope["path"], logs_content=self._logs_content)
        scope["state"] = {**scope.get("state", {}), "record": record}

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.status = int(message["status"])
            await send(message)

        self._metrics.open_requests.inc()
        try:
            await self._app(scope, receive, noting)
        finally:
            record.route = getattr(scope.get("endpoint"), "__name__", record.route)
            record.status = record.status or _CLIENT_CLOSED_REQUEST
            self._metrics.add(record)
            self._metrics.open_requests.dec()
            log_request(record)


def error_response(error: GatewayError, scope: Scope) -> Response:
    """Return an error in the form that the path of the request has, and note its reason."""
    scope["state"]["record"].reason = error.reason
    path = scope["path"]
    if is_of_messages(path):
        body: object = error.to_anthropic()
    else:
        body = {"error": error.message} if path.startswith("/api/") else error.to_openai()
    return Response(written(body), error.status, media_type="application/json")


def is_of_messages(path: str) -> bool:
    """Return whether a path is one of Anthropic's Messages API.

    >>> is_of_messages("/v1/messages"), is_of_messages("/v1/messages/count_tokens"), is_of_messages("/v1/models")
    (True, True, False)
    """
    return f"{path}/".startswith("/v1/messages/")


async def _explain(exchange: Exchange, error: GatewayError) -> None:
    exchange.record.reason = error.reason
    if not exchange.is_started:
        await exchange.respond(error_response(error, exchange.scope))


def _refusal_response(refusal: UpstreamRefusal, path: str) -> Response:
    headers, body = refusal.headers, refusal.body
    if is_of_messages(path) and all(name != b"content-encoding" for name, _ in headers):
        headers = [*(header for header in headers if header[0] != b"content-type"), (b"content-type", JSON)]
        body = written(GatewayError(refusal.status, refusal.message).to_anthropic())
    response = Response(body, refusal.status)
    response.raw_headers = [*headers, (b"content-length", str(len(body)).encode())]
    return response
