"""An HTTP server on loopback that asks one function for every answer and sends it piece by piece."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TypeAlias, final


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as it arrived."""

    method: str
    """`GET` or `POST`."""
    path: str
    """Such as `/v1/chat/completions`, without a query."""
    body: Mapping[str, object] = field(default_factory=dict)
    """The JSON object in its body; empty where there was none."""
    api_key: str = ""
    """The key that was sent; empty where there was none."""

    @property
    def stream(self) -> bool:
        """Whether the answer is wanted as a stream."""
        return self.body.get("stream") is True


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, as it is sent."""

    parts: tuple[bytes, ...]
    """Its body. Each part is a piece of HTTP's chunked encoding, and goes out at once."""
    content_type: str = "application/json"
    """The media type."""
    status: int = 200
    """The HTTP status."""
    pause: float = 0.0
    """Seconds between two parts."""
    complete: bool = True
    """Whether the body ends as HTTP wants it; if not, the connection breaks after the last part."""


Responder: TypeAlias = Callable[[Request], Answer]
"""Decides what is answered. It is called from several threads at once."""


@final
class LoopbackServer:
    """Serves on 127.0.0.1 while its `with` block runs.

    >>> import urllib.request
    >>> with LoopbackServer(lambda request: Answer((b'{"path": "', request.path.encode(), b'"}'))) as server:
    ...     urllib.request.urlopen(f"{server.base_url}/models").read()
    b'{"path": "/v1/models"}'
    """

    def __init__(self, respond: Responder, port: int = 0) -> None:
        """Prepare a server.

        Args:
            respond: gives the answer to each request.
            port: where it listens; 0 for a free port.
        """
        self.requests: list[Request] = []
        """What was asked so far, in order of arrival."""
        self._respond = respond
        self._port = port
        self._closing = threading.Event()
        self._http: _Server | None = None

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as its `base_url`.

        Raises:
            RuntimeError: the server does not run.
        """
        if self._http is None:
            raise RuntimeError("the server does not run: use it in a `with` block")
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def answer(self, request: Request) -> Answer:
        """Note a request and give the answer to it; an error of the responder is an answer of its own."""
        self.requests.append(request)
        try:
            return self._respond(request)
        except Exception as error:  # noqa: BLE001 (whatever a responder raises, the client shall be told)
            message = f"{type(error).__name__}: {error}"
            return Answer((json.dumps({"error": {"message": message}}).encode(),), status=500)

    def wait(self, seconds: float) -> bool:
        """Let time pass, and tell whether the server is still wanted."""
        return not self._closing.wait(seconds)

    def __enter__(self) -> LoopbackServer:
        """Start serving."""
        self._closing.clear()
        self._http = _Server(self, self._port)
        threading.Thread(target=self._http.serve, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop serving; answers under way end."""
        if self._http is not None:
            self._closing.set()
            self._http.stop()
            self._http.server_close()
            self._http = None


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close waits for answers under way: nothing outlives the `with` block
    request_queue_size = 64  # agents ask many things at once, and beyond five the system would turn connections away

    def __init__(self, owner: LoopbackServer, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.owner = owner
        self._stopped = threading.Event()

    def serve(self) -> None:
        """Take connections until one comes from `stop`."""
        while self.owner.wait(0):
            self.handle_request()
        self._stopped.set()

    def stop(self) -> None:
        """End `serve` at once; `serve_forever` would look only now and then whether it shall end."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.server_port)):
            self._stopped.wait()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 30
    server: _Server

    def do_GET(self) -> None:
        self._send(self.server.owner.answer(Request("GET", self._path, api_key=self._api_key)))

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        if isinstance(body, dict):
            self._send(self.server.owner.answer(Request("POST", self._path, body, self._api_key)))
        else:
            self._send(Answer((b'{"error": {"message": "The body is no JSON object."}}',), status=400))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is http.server's)
        """Say nothing: the terminal belongs to the program that started the server."""

    @property
    def _path(self) -> str:
        return self.path.partition("?")[0]

    @property
    def _api_key(self) -> str:
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def _send(self, answer: Answer) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):  # the client may go away
            self._send_parts(answer)
        self.close_connection = True

    def _send_parts(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")  # a kept connection would keep its thread waiting
        self.end_headers()
        for index, part in enumerate(answer.parts):
            if index and answer.pause and not self.server.owner.wait(answer.pause):
                return
            if part:  # an empty piece would end the body
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        if answer.complete:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
