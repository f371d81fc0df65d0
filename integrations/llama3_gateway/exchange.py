"""One HTTP request and the answer to it, as ASGI has them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, MutableMapping
from http import HTTPStatus
from time import perf_counter
from typing import Any, TypeAlias
from urllib.parse import quote

from llama3_gateway.errors import ClientGoneError, GatewayError
from llama3_gateway.framing import written
from llama3_gateway.metrics import RequestRecord

__all__ = ["EVENT_STREAM", "JSON", "NDJSON", "Exchange", "Header", "Message", "Receive", "Scope", "Send"]

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

JSON = b"application/json"
EVENT_STREAM = b"text/event-stream; charset=utf-8"
NDJSON = b"application/x-ndjson"


class Exchange:
    """One request, and what has been answered so far."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Begin with the head of a request."""
        self.method: str = scope["method"]
        self.path: str = "/" + "/".join(part for part in scope["path"].split("/") if part not in {"", "."})
        """The path without slashes that are too many, by which the request is answered."""
        self.raw_path: str = (scope.get("raw_path") or quote(scope["path"]).encode()).decode("latin-1")
        """The path as it was sent."""
        self.query: bytes = scope.get("query_string", b"")
        self.headers: list[Header] = list(scope["headers"])
        self.record = RequestRecord(self.method, self.path)
        self.extra_headers: list[Header] = []
        """Sent with whatever is answered, in place of the upstream's headers of those names."""
        self.start_soon: Callable[[Callable[[], Coroutine[Any, Any, None]]], object]
        """Starts a task that ends with the answer."""
        self.is_started = False
        """Whether the head of the answer is out."""
        self.is_finished = False
        """Whether the end of the answer is out."""
        self.last_written = perf_counter()
        """When something was sent for the last time."""
        self.is_writing = False
        """Whether the client is to take something that was sent."""
        self._receive = receive
        self._send = send

    def header(self, name: bytes) -> str | None:
        """Return a header of the request; `None` if it has none of this name."""
        return next((value.decode("latin-1") for key, value in self.headers if key == name), None)

    @property
    def is_preflight(self) -> bool:
        """Whether a browser asks whether a web page may send a request."""
        return self.method == "OPTIONS" and self.header(b"access-control-request-method") is not None

    async def body(self, most: int) -> bytes:
        """Return the whole body.

        Args:
            most: how many bytes it may have.

        Raises:
            GatewayError: it has more.
            ClientGoneError: the client has gone before its end.
        """
        length = self.header(b"content-length") or ""
        if length.isdecimal() and int(length) > most:
            raise _too_long(most)
        pieces, size, goes_on = [], 0, True
        while goes_on:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > most:
                raise _too_long(most)
            goes_on = message.get("more_body", False)
        return b"".join(pieces)

    async def disconnected(self) -> None:
        """Wait until the client has gone, or has its answer."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def start(self, status: int, headers: Iterable[Header]) -> None:
        """Send the head of the answer."""
        extra = {name for name, _ in self.extra_headers}
        kept = [header for header in headers if header[0] not in extra]
        self.is_started, self.record.status = True, status
        await self._send({"type": "http.response.start", "status": status, "headers": [*kept, *self.extra_headers]})

    async def write(self, data: bytes) -> None:
        """Send some of the body."""
        self.is_writing = True
        await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self.is_writing = False
        self.last_written = perf_counter()

    async def finish(self, data: bytes = b"") -> None:
        """Send the end of the body."""
        self.is_finished = True
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def answer(self, status: int, content: bytes, content_type: bytes = JSON) -> None:
        """Send a whole answer."""
        length = str(len(content)).encode()
        await self.start(status, [(b"content-type", content_type), (b"content-length", length)])
        await self.finish(content)

    async def answer_json(self, status: int, value: object) -> None:
        """Send a value as JSON."""
        await self.answer(status, written(value))


def _too_long(most: int) -> GatewayError:
    return GatewayError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {most} bytes: --max-body allows more"
    )
