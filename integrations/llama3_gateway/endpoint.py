"""How each request is answered: who may ask, its body, a client that leaves, errors, the record of it."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias

import anyio
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from llama3_gateway.access import Access
from llama3_gateway.api import CHAT, Api
from llama3_gateway.errors import FAULT, GatewayError, UpstreamRefusal
from llama3_gateway.exchange import Exchange
from llama3_gateway.framing import write_body
from llama3_gateway.logs import log_fault, log_request
from llama3_gateway.metrics import Metrics, RequestRecord
from llama3_gateway.settings import GatewaySettings

Answer: TypeAlias = Callable[[Exchange, bytes], Awaitable[None]]
"""Answers a request with this body."""

_CLIENT_CLOSED_REQUEST = 499
"""nginx's word for a client that has gone."""
_ID_HEADERS = (b"x-request-id", b"request-id")
"""Where OpenAI's clients, and Anthropic's, look for the id of a request."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """The application of a route: it answers while the client is there, and explains what cannot be answered."""

    name: str
    """Of the route, in metrics and in the log."""
    answer: Answer
    settings: GatewaySettings
    access: Access
    api: Api = CHAT
    """The API to which the route belongs: its clients' keys, and its errors."""
    is_open: bool = False
    """Whether all may ask, with or without the gateway's key."""

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
                exchange.headers = self.access.admit(exchange.headers, self.api.key_header, is_open=self.is_open)
                body = await self._body(exchange)
                group.start_soon(watch)
                await self.answer(exchange, body)
            except ClientDisconnect:
                pass
            except GatewayError as error:
                await self._explain(exchange, error)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next request is answered
                log_fault("a request could not be answered", error, exchange.record)
                await self._explain(exchange, GatewayError(500, FAULT, code="fault"))
            group.cancel_scope.cancel()

    async def _body(self, exchange: Exchange) -> bytes:
        try:
            with anyio.fail_after(self.settings.timeout):
                return await exchange.body(self.settings.max_body)
        except TimeoutError:
            message = "the body of the request did not come in time: --timeout allows more"
            raise GatewayError(HTTPStatus.REQUEST_TIMEOUT, message, reason=message) from None

    async def _explain(self, exchange: Exchange, error: GatewayError) -> None:
        response = error_response(error, exchange.scope, self.api)
        if isinstance(error, UpstreamRefusal) and error.is_like(self.api.error(error)):
            response = Response(error.body, error.status)
            response.raw_headers = [*error.headers, (b"content-length", str(len(error.body)).encode())]
        elif isinstance(error, UpstreamRefusal):
            response.raw_headers += [header for header in error.headers if header[0] != b"content-type"]
        if not exchange.is_started and await exchange.discard():
            await exchange.respond(response)


@dataclass(frozen=True)
class Recording:
    """Middleware that counts and logs each request, and knows its path without slashes that are too many."""

    app: ASGIApp
    metrics: Metrics
    logs_content: bool
    """Whether the log is to have what was asked and answered."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note what happens to a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope["path"] = _plain(scope["path"])
        if raw_path := scope.get("raw_path"):
            scope["raw_path"] = _plain(raw_path.decode("latin-1")).encode("latin-1")
        record = RequestRecord(scope["method"], scope["path"], logs_content=self.logs_content)
        scope["state"] = {**scope.get("state", {}), "record": record}

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.status = int(message["status"])
                message["headers"] = _with_id(list(message["headers"]), record)
            await send(message)

        self.metrics.open_requests.inc()
        try:
            await self.app(scope, receive, noting)
        finally:
            record.route = getattr(scope.get("endpoint"), "name", record.route)
            record.status = record.status or _CLIENT_CLOSED_REQUEST
            self.metrics.add(record)
            self.metrics.open_requests.dec()
            log_request(record)


def error_response(error: GatewayError, scope: Scope, api: Api = CHAT) -> Response:
    """Return an error in the form of an API, and note its reason."""
    scope["state"]["record"].reason = error.reason
    # With 401, Claude Code would ask again for minutes, and show nothing.
    headers = {"x-should-retry": "false"} if error.status == HTTPStatus.UNAUTHORIZED else None
    return Response(write_body(api.error(error)), error.status, headers, media_type="application/json")


def _plain(path: str) -> str:
    return "/" + "/".join(part for part in path.split("/") if part not in {"", "."})


def _with_id(headers: list[tuple[bytes, bytes]], record: RequestRecord) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with the id of its request, if the upstream's have none."""
    given = dict(headers).get(_ID_HEADERS[0])
    record.id = given.decode("latin-1") if given else f"req_{secrets.token_hex(12)}"
    named = {name for name, _ in headers}
    return [*headers, *((name, record.id.encode("latin-1")) for name in _ID_HEADERS if name not in named)]
