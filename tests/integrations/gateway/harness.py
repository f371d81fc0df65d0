"""Two real servers on loopback for a test: the gateway, and an upstream that answers as it is told."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import httpx
import uvicorn
from starlette.types import Receive, Scope, Send

from llama3_gateway import Gateway, GatewaySettings
from llama3_gateway.framing import EventReader
from llama3_gateway.server import PunctualProtocol

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
CALL = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
QUESTION = [{"role": "user", "content": "How is the weather in Paris?"}]
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}

WAIT = object()
"""In an answer: wait until the client has gone."""
BREAK = object()
"""In an answer: break the connection."""


@dataclass(frozen=True)
class Asked:
    """What an upstream was asked."""

    method: str
    path: str
    query: bytes
    headers: dict[str, str]
    data: bytes

    @property
    def body(self) -> dict[str, Any]:
        value = json.loads(self.data)
        assert isinstance(value, dict)
        return value

    @property
    def is_stream(self) -> bool:
        stream = self.body.get("stream")
        return self.path == "/api/chat" if stream is None else bool(stream)


@dataclass(frozen=True)
class Answer:
    """What an upstream answers: its body in pieces, pauses in seconds, events to wait for, `WAIT`, or `BREAK`."""

    parts: Sequence[object] = ()
    status: int = 200
    content_type: str = "application/json"
    headers: Sequence[tuple[str, str]] = ()


Responder = Callable[[Asked], Answer]
Application = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]


@dataclass
class Upstream:
    """An ASGI application that answers as it is told, and notes what it was asked."""

    respond: Responder
    asked: list[Asked] = field(default_factory=list)
    open: int = 0
    """Answers under way."""
    left: list[float] = field(default_factory=list)
    """When clients went before the end of their answer."""
    sent: int = 0
    """Bytes of bodies."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        data, goes_on = b"", True
        while goes_on:
            message = await receive()
            data += message.get("body", b"")
            goes_on = message.get("more_body", False)
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        path = scope["raw_path"].decode()
        self.asked.append(Asked(scope["method"], path, scope["query_string"], headers, data))
        answer = self.respond(self.asked[-1])
        self.open += 1
        gone = asyncio.ensure_future(self._gone(receive))
        try:
            given = [("content-type", answer.content_type), *answer.headers]
            encoded = [(name.encode(), value.encode("latin-1")) for name, value in given]
            await send({"type": "http.response.start", "status": answer.status, "headers": encoded})
            for part in answer.parts:
                if part is BREAK:
                    raise ConnectionAbortedError
                if part is WAIT:
                    await gone
                elif isinstance(part, threading.Event):
                    await asyncio.to_thread(part.wait, 60)
                elif isinstance(part, float):
                    await asyncio.wait([gone], timeout=part)
                else:
                    assert isinstance(part, bytes)
                    self.sent += len(part)
                    await send({"type": "http.response.body", "body": part, "more_body": True})
                    await asyncio.sleep(0)
                if gone.done():
                    self.left.append(time.perf_counter())
                    return
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            self.open -= 1

    @staticmethod
    async def _gone(receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass


class Host:
    """A server on 127.0.0.1, on a free port, which serves one application after another: to start one takes long."""

    free: ClassVar[list[Host]] = []

    def __init__(self) -> None:
        self.application: Application | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        listening = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(
            self, http=PunctualProtocol, log_config=None, access_log=False, lifespan="off", ws="none"
        )
        server = uvicorn.Server(config)
        threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
        wait_until(lambda: server.started)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.loop = asyncio.get_running_loop()
        assert self.application is not None
        with contextlib.suppress(ConnectionAbortedError):  # what an upstream raises to break a connection
            await self.application(scope, receive, send)


@contextmanager
def running(application: Application) -> Iterator[str]:
    """Serve an application, and return its address."""
    host = Host.free.pop() if Host.free else Host()
    host.application = application
    try:
        yield host.address
    finally:
        if isinstance(application, Gateway) and host.loop:
            asyncio.run_coroutine_threadsafe(application.aclose(), host.loop).result(10)
        host.application = None
        Host.free.append(host)


@dataclass
class Served:
    """A gateway that runs, and its upstream."""

    address: str
    gateway: Gateway
    upstream: Upstream
    http: httpx.Client
    upstream_url: str

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    @property
    def asked(self) -> list[Asked]:
        return self.upstream.asked

    def post(self, path: str, body: object, headers: Mapping[str, str | bytes] | None = None) -> httpx.Response:
        given = {name: value.encode() if isinstance(value, str) else value for name, value in (headers or {}).items()}
        return self.http.post(f"{self.address}{path}", json=body, headers={k.encode(): v for k, v in given.items()})

    def chat(self, headers: Mapping[str, str | bytes] | None = None, **fields: object) -> httpx.Response:
        body = {"model": "llama3.1", "messages": QUESTION, "tools": [WEATHER], **fields}
        return self.post("/v1/chat/completions", body, headers)

    def metric(self, name: str, **labels: str) -> float:
        """The value after the requests so far, each of which is counted when it is over."""
        if name != "open_requests":
            wait_until(lambda: metric(self.gateway, "open_requests") == 0)
        return metric(self.gateway, name, **labels)


def metric(gateway: Gateway, name: str, **labels: str) -> float:
    value = gateway.metrics.registry.get_sample_value(f"llama3_gateway_{name}", labels)
    assert value is not None, name
    return value


@contextmanager
def serving(respond: Responder | Iterable[Answer], **settings: object) -> Iterator[Served]:
    """Run a gateway in front of an upstream that answers by a function, or with one answer after another."""
    responder = respond if callable(respond) else in_turn(*(lambda _, answer=answer: answer for answer in respond))
    upstream = Upstream(responder)
    with running(upstream) as url:
        gateway = Gateway(GatewaySettings.model_validate({"upstream": f"{url}/v1", **settings}))
        with running(gateway) as address, httpx.Client(timeout=20, trust_env=False, verify=False) as http:  # noqa: S501 - nothing here is encrypted
            yield Served(address, gateway, upstream, http, f"{url}/v1")
            wait_until(lambda: metric(gateway, "open_requests") == 0)
            wait_until(lambda: upstream.open == 0)


@contextmanager
def answering(data: bytes) -> Iterator[str]:
    """Serve the same bytes to whoever asks, close the connection, and return the server's address."""

    def serve(listening: socket.socket) -> None:
        while True:
            with contextlib.suppress(OSError), listening.accept()[0] as connection:
                connection.settimeout(0.05)
                connection.recv(65536)
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass

    listening = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listening,), daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


@contextmanager
def silent_upstream() -> Iterator[tuple[str, socket.socket]]:
    """The address of a server that answers nothing, and its socket."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", listening


def ask(address: str, **fields: object) -> httpx.Response:
    """Ask a gateway at an address of its own."""
    body = {"messages": QUESTION, "tools": [WEATHER], **fields}
    return httpx.post(f"{address}/v1/chat/completions", json=body, trust_env=False)


def connected(address: str, data: bytes = b"") -> socket.socket:
    """A connection to a gateway, on which these bytes were sent."""
    url = httpx.URL(address)
    client = socket.create_connection((url.host, url.port or 0), timeout=10)
    client.sendall(data)
    return client


def request_of(body: bytes, length: int | None = None, path: str = "/v1/chat/completions", more: str = "") -> bytes:
    """A request, whose body may have another length than it says."""
    length = len(body) if length is None else length
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{more}\r\n"
    return head.encode() + body


def whole_answer(served: Served, path: str, body: Mapping[str, object]) -> dict[str, Any]:
    """The whole answer to a request."""
    response = served.post(path, body)
    assert response.status_code == 200, response.text
    answer = response.json()
    assert isinstance(answer, dict)
    return answer


def named_events(served: Served, path: str, body: Mapping[str, object]) -> list[dict[str, Any]]:
    """The events that a request is answered with, each of which has the type of its data."""
    response = served.post(path, {**body, "stream": True})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    read = EventReader().feed(response.content)
    bodies: list[dict[str, Any]] = [json.loads(event.data) for event in read]
    assert [event.name.decode() for event in read] == [body["type"] for body in bodies]
    return bodies


def says(*pieces: str, finish_reason: str | None = "stop", **more: Any) -> Responder:
    """Return what answers as a model that writes these pieces, as a stream or at once, in either API's form."""

    def respond(asked: Asked) -> Answer:
        if asked.path == "/api/chat":
            return ollama_stream(*pieces) if asked.is_stream else ollama_whole(*pieces)
        return (
            stream(*pieces, finish_reason=finish_reason, **more)
            if asked.is_stream
            else whole(*pieces, finish_reason=finish_reason)
        )

    return respond


def in_turn(*responders: Responder) -> Responder:
    """Return what answers each request as the next of these does."""
    script = iter(responders)

    def respond(asked: Asked) -> Answer:
        return next(script)(asked)

    return respond


def whole(*pieces: str, finish_reason: str | None = "stop") -> Answer:
    message = {"role": "assistant", "content": "".join(pieces)}
    return completion([{"index": 0, "message": message, "finish_reason": finish_reason}])


def completion(choices: list[dict[str, Any]], **more: object) -> Answer:
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 5, "model": "llama3.1", "choices": choices}
    return Answer([json.dumps({**body, "usage": USAGE, **more}).encode()])


def stream(*pieces: str, finish_reason: str | None = "stop", done: bool = True) -> Answer:
    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"content": piece}) for piece in pieces]
    if finish_reason:
        chunks.append(chunk({}, finish_reason))
        chunks.append(event({**HEAD, "choices": [], "usage": USAGE}))
    return events(*chunks, *([b"data: [DONE]\n\n"] if done else []))


HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 5, "model": "llama3.1"}


def chunk(delta: dict[str, Any], finish_reason: str | None = None, index: int = 0, **more: object) -> bytes:
    choice = {"index": index, "delta": delta, "finish_reason": finish_reason, **more}
    return event({**HEAD, "choices": [choice]})


def event(value: object) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def events(*parts: object) -> Answer:
    return Answer(parts, content_type="text/event-stream; charset=utf-8")


COUNTS = {"total_duration": 9, "prompt_eval_count": 7, "eval_count": 3}
OLLAMA_HEAD = {"model": "llama3.1", "created_at": "2026-11-23T10:00:00Z"}


def ollama_whole(*pieces: str) -> Answer:
    message = {"role": "assistant", "content": "".join(pieces)}
    body = {**OLLAMA_HEAD, "message": message, "done": True, "done_reason": "stop", **COUNTS}
    return Answer([json.dumps(body).encode()])


def ollama_stream(*pieces: str) -> Answer:
    lines = [ollama_line(piece) for piece in pieces]
    last = {**OLLAMA_HEAD, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    lines.append(json.dumps({**last, **COUNTS}).encode() + b"\n")
    return Answer(lines, content_type="application/x-ndjson")


def ollama_line(piece: str) -> bytes:
    message = {"role": "assistant", "content": piece}
    return json.dumps({**OLLAMA_HEAD, "message": message, "done": False}).encode() + b"\n"


def read_events(response: httpx.Response) -> list[dict[str, Any]]:
    """The data of a stream's events, without the end, which has to be there."""
    assert response.status_code == 200, response.text
    read = [one.data for one in EventReader().feed(response.content)]
    assert read.pop() == b"[DONE]"
    return [json.loads(data) for data in read]


@dataclass
class Gathered:
    """What a client has gathered of one choice of a stream."""

    content: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str | None = None


def gathered(chunks: Iterable[dict[str, Any]]) -> dict[int, Gathered]:
    """What a client makes of a stream's chunks, by choice."""
    choices: dict[int, Gathered] = {}
    for one in chunks:
        for choice in one.get("choices", ()):
            into = choices.setdefault(choice["index"], Gathered())
            assert into.finish_reason is None
            into.finish_reason = choice.get("finish_reason")
            into.content += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls") or ():
                assert call["index"] == len(into.calls)
                into.calls.append(call["function"])
    return choices


def wait_until(is_so: Callable[[], bool], seconds: float = 10.0) -> float:
    """Wait until something is so, and return how long it took."""
    began = time.perf_counter()
    while not is_so():
        assert time.perf_counter() - began < seconds
        time.sleep(0.005)
    return time.perf_counter() - began
