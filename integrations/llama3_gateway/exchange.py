"""One HTTP request and the answer to it, which may come in pieces."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Coroutine, Iterable
from http import HTTPStatus
from time import perf_counter
from typing import Any, TypeAlias
from urllib.parse import quote

import anyio
import anyio.lowlevel
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from llama3_gateway.errors import GatewayError
from llama3_gateway.metrics import RequestRecord

Header: TypeAlias = tuple[bytes, bytes]

JSON = b"application/json"
EVENT_STREAM = b"text/event-stream; charset=utf-8"
NDJSON = b"application/x-ndjson"
KEY_HEADERS = frozenset({b"authorization", b"x-api-key"})
"""Headers with a client's key: those of OpenAI's clients, and of Anthropic's."""
_GZIP = zlib.MAX_WBITS | 16
_SECONDS_TO_DISCARD = 1.0
_WRITES_IN_A_ROW = 4
"""How often is written before other tasks have their turn: only then is it known that the client has left.
asyncio warns of the fifth write after that."""
_OWN_MEDIA = frozenset({b"accept", b"accept-encoding", b"content-type"})


class Exchange:
    """One request, and what has been answered so far."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        """The path by which the request is answered."""
        self.raw_path: str = (scope.get("raw_path") or quote(scope["path"]).encode()).decode("latin-1")
        """The path as it was sent."""
        self.query: bytes = scope.get("query_string", b"")
        self.headers: list[Header] = list(scope["headers"])
        self.record: RequestRecord = scope["state"]["record"]
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
        self.scope = scope
        self._is_read = not {b"content-length", b"transfer-encoding"} & dict(self.headers).keys()
        """Whether the whole body was received."""
        self._writes = 0
        self._receive = receive
        self._send = send

    def asking_for(self, media: bytes) -> list[Header]:
        """Return the client's headers for a request of the gateway's own, whose answer comes as it is."""
        own = [(b"content-type", JSON), (b"accept-encoding", b"identity"), (b"accept", media)]
        return [*(header for header in self.headers if header[0] not in _OWN_MEDIA), *own]

    async def body(self, most: int) -> bytes:
        """Return the whole body, decompressed.

        Raises:
            GatewayError: it has more, or is compressed by anything but gzip.
            ClientDisconnect: the client has gone before its end.
        """
        request = Request(self.scope, self._receive)
        length, encoding = (request.headers.get(name, "") for name in ("content-length", "content-encoding"))
        if length.isdecimal() and int(length) > most:
            raise _too_long(most)
        if encoding.lower() not in {"", "identity", "gzip"}:
            message = f"the body is compressed by {encoding}: send it uncompressed, or by gzip"
            raise GatewayError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message, reason="a compression that is not known")
        unpack = zlib.decompressobj(_GZIP) if encoding.lower() == "gzip" else None
        self.headers = [header for header in self.headers if header[0] != b"content-encoding"]
        message = "the body is not gzip, although its Content-Encoding says so"
        no_gzip = GatewayError(HTTPStatus.BAD_REQUEST, message, reason="no gzip")
        body = bytearray()
        try:
            async for piece in request.stream():
                body += unpack.decompress(piece, most + 1 - len(body)) if unpack else piece
                if len(body) > most:
                    raise _too_long(most)
        except zlib.error:
            raise no_gzip from None
        self._is_read = True
        if unpack and not unpack.eof:
            raise no_gzip
        return bytes(body)

    async def discard(self) -> bool:
        """Read the rest of the body, which the client may insist on sending; return whether the client is still there.

        What takes longer than a second closes the connection, with the answer.
        """
        with anyio.move_on_after(_SECONDS_TO_DISCARD):
            while not self._is_read:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    return False
                self._is_read = not message.get("more_body", False)
        return True

    async def disconnected(self) -> None:
        """Wait until the client has gone, or has its answer."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def start(self, status: int, headers: Iterable[Header]) -> None:
        """Send the head of the answer."""
        self.is_started = True
        await self._send({"type": "http.response.start", "status": status, "headers": list(headers)})

    async def write(self, data: bytes) -> None:
        """Send some of the body."""
        self.is_writing = True
        await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self._writes += 1
        if not self._writes % _WRITES_IN_A_ROW:
            await anyio.lowlevel.checkpoint()
        self.is_writing = False
        self.last_written = perf_counter()

    async def finish(self, data: bytes = b"") -> None:
        """Send the end of the body: two writes."""
        await anyio.lowlevel.checkpoint()
        self.is_finished = True
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def respond(self, response: Response) -> None:
        """Send a whole answer."""
        self.is_started = self.is_finished = True
        if not self._is_read:
            response.headers["connection"] = "close"
        await response(self.scope, self._receive, self._send)

    async def answer(self, content: bytes, **headers: str) -> None:
        """Send a whole answer, as JSON unless the headers say otherwise."""
        await self.respond(Response(content, headers={"content-type": JSON.decode(), **headers}))


def _too_long(most: int) -> GatewayError:
    message = f"the body has more than {most} bytes: --max-body allows more"
    return GatewayError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, reason=message)
