"""What the gateway adds to a stream, and whether it holds under load.

    python benchmarks/gateway.py                              # the time for a chunk and for the first token, a minute
    python benchmarks/gateway.py --page benchmarks/README.md   # put the tables into the page
    python benchmarks/gateway.py --soak 180                   # seconds of clients that come, and leave at random

The gateway, its upstream and the client are three processes. Its time for a chunk is that of its process on the
processor, which depends less on what else the machine does. The exit status is 1 if a target is missed, or the soak
finds something lost, left open or growing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import random
import re
import socket
import statistics
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from llama3_gateway import GatewaySettings
from llama3_gateway.framing import EventReader
from pages import fill, table, time_shown

_CHUNKS = 20_000
_PACED = 4_000
_PAUSE = 0.0004
"""Seconds between two chunks of a stream that comes as a model writes it: each chunk is a packet of its own."""
_FIRST = 300
"""How many requests the median of the first token is taken of."""
_TOOLS = 20
_CALL = '{"name": "tool_7", "parameters": {"city": "Paris", "days": 3}}'
_MOST_PER_CHUNK = 70e-6
_MOST_FOR_FIRST = 2e-3
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGES = os.sysconf("SC_PAGE_SIZE")
_PORT = re.compile(r"point clients at \S+:(\d+)/v1").search

ADDED = ("", "direct", "passed through", "with 20 tools", "added", "at most")
SOAK = (
    *("soak", "streams", "left early", "lost", "left open"),
    *("requests logged", "other lines", "memory", "grown by"),
)


@dataclass(frozen=True, slots=True)
class Added:
    """What the gateway adds."""

    name: str
    direct: float | None
    """Seconds; `None` if there is nothing to compare."""
    passed: float
    read: float
    base: float
    """What the addition is measured from."""
    most: float

    @property
    def added(self) -> float:
        """Seconds."""
        return self.read - self.base

    def cells(self) -> Sequence[str]:
        """Return the times."""
        direct = "" if self.direct is None else time_shown(self.direct)
        return (self.name, direct, *map(time_shown, (self.passed, self.read, self.added, self.most)))


@dataclass(frozen=True, slots=True)
class Soak:
    """What a soak has found."""

    name: str
    streams: int
    left: int
    lost: int
    open: int
    """Connections of the gateway's, at the end."""
    lines: int
    """Those of its log about a request."""
    others: int
    """Those of its log about anything else."""
    memory: int
    """Bytes, after the first quarter."""
    grown: int
    """Bytes, from then to the end."""

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost, left open or growing: a tenth is what an allocator's reserve may be."""
        return not (self.lost or self.open or self.others) and self.grown < self.memory // 10

    def cells(self) -> Sequence[str]:
        """Return the counts."""
        counts = (self.streams, self.left, self.lost, self.open, self.lines, self.others)
        sizes = (f"{size / 2**20:.1f} MB" for size in (self.memory, self.grown))
        return (self.name, *(f"{count:,}" for count in counts), *sizes)


def main(command_line: Sequence[str] | None = None) -> int:
    """Print the tables, and return the exit status."""
    parser = argparse.ArgumentParser(description="What the gateway adds to a stream, and whether it holds under load.")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the table into a page that has a place for it")
    parser.add_argument("--soak", type=float, metavar="SECONDS", help="let clients come, and leave at random")
    options = parser.parse_args(command_line)
    with (
        TemporaryDirectory() as folder,
        upstream_process() as upstream,
        gateway_process(upstream, log := Path(folder, "log")) as (gateway, process),
    ):
        if options.soak:
            found = asyncio.run(soak(gateway, process, log, options.soak))
            lines, is_good = list(table(SOAK, [found.cells()])), found.is_good
        else:
            measured = asyncio.run(added(upstream, gateway, process))
            lines = list(table(ADDED, (row.cells() for row in measured)))
            is_good = all(row.added <= row.most for row in measured)
    print("\n".join(lines))
    if options.page:
        fill([options.page], {"soak" if options.soak else "added": lines})
    return 0 if is_good else 1


async def added(upstream: str, gateway: str, process: int) -> list[Added]:
    """Measure what the gateway adds, for a chunk and for the first token.

    Args:
        upstream: the address of a model.
        gateway: the address of a gateway in front of it.
        process: the gateway's.
    """
    per_chunk = []
    for name, count, pause in (
        ("a chunk, processor time, one at a time", _PACED, _PAUSE),
        ("a chunk, processor time, at full speed", _CHUNKS, 0.0),
    ):
        text = {"text": "Some words, and ", "count": count, "pause": pause}
        times = []
        for fields in ({}, {"tools": declared_tools()}):
            runs = [await _processor_time(gateway, process, {**text, **fields}) for _ in range(3)]
            times.append(min(runs) / count)
        passed, read = times
        per_chunk.append(Added(name, None, passed, read, passed, _MOST_PER_CHUNK))
    text = {"text": "Hello. ", "count": 3, "pause": 0.0}
    medians = []
    for address, fields in ((upstream, {}), (gateway, {}), (gateway, {"tools": declared_tools()})):
        firsts = [await _first_token(address, {**text, **fields}) for _ in range(_FIRST)]
        medians.append(statistics.median(firsts))
    direct, passed, read = medians
    first = Added("the first token, median", direct, passed, read, direct, _MOST_FOR_FIRST)
    return [*per_chunk, first]


async def soak(gateway: str, process: int, log: Path, seconds: float, clients: int = 40) -> Soak:
    """Let clients come, and leave at random, and look at what is lost, left open, or grows.

    Args:
        gateway: the address of a gateway.
        process: the gateway's.
        log: its log.
        seconds: how long.
        clients: how many there are at once.
    """
    ends = time.perf_counter() + seconds
    quarter = time.perf_counter() + seconds / 4
    counts = {"streams": 0, "left": 0, "lost": 0}
    memory = 0
    chance = random.Random(5)  # noqa: S311 - the same each time

    async def come_and_go() -> None:
        while time.perf_counter() < ends:
            count = chance.randrange(1, 60)
            leaves_after = chance.randrange(count + 1) if chance.random() < 1 / 3 else None
            body = {
                "text": "word ",
                "count": count,
                "pause": 0.002,
                "calls": chance.randrange(3),
                "tools": declared_tools(),
            }
            is_whole = await _is_whole(gateway, body, leaves_after)
            counts["streams"] += 1
            counts["left"] += leaves_after is not None
            counts["lost"] += not is_whole

    async def look() -> None:
        nonlocal memory
        await asyncio.sleep(max(0.0, quarter - time.perf_counter()))
        memory = memory_of(process)

    await asyncio.gather(look(), *(come_and_go() for _ in range(clients)))
    for _ in range(100):
        open_now, logged = _connections(process), _lines_of(log)
        if not open_now and logged["lines"] == counts["streams"]:
            break
        await asyncio.sleep(0.1)
    grown = memory_of(process) - memory
    return Soak(f"{clients} clients, {seconds:g} s", **counts, open=open_now, memory=memory, grown=grown, **logged)


def _lines_of(log: Path) -> dict[str, int]:
    lines = log.read_text("utf-8").splitlines()
    requests = sum('"event": "request"' in line for line in lines)
    return {"lines": requests, "others": len(lines) - requests}


async def _is_whole(address: str, body: dict[str, Any], leaves_after: int | None) -> bool:
    """Return whether all text and all calls came, as far as the client stayed."""
    content, calls, seen, reason = "", 0, 0, None
    async with stream_of(address, body) as events:
        async for event in events:
            seen += 1
            if leaves_after is not None and seen > leaves_after:
                return True
            if event == b"[DONE]":
                break
            for choice in json.loads(event)["choices"]:
                content += choice["delta"].get("content") or ""
                calls += len(choice["delta"].get("tool_calls") or ())
                reason = choice.get("finish_reason")
    due = body["calls"]
    return (
        content.strip() == (body["text"] * body["count"]).strip()
        and calls == due
        and reason == ("tool_calls" if due else "stop")
    )


async def _processor_time(address: str, process: int, body: dict[str, Any]) -> float:
    """Return the seconds of the processor that a process has spent on one stream."""
    before = _processor_seconds(process)
    async with stream_of(address, body) as events:
        seen = [event async for event in events]
    if len(seen) < body["count"] or seen[-1] != b"[DONE]":
        raise RuntimeError("the stream is not whole")
    await asyncio.sleep(0.05)
    return _processor_seconds(process) - before


async def _first_token(address: str, body: dict[str, Any]) -> float:
    began = time.perf_counter()
    async with stream_of(address, body) as events:
        async for event in events:
            if b"Hello" in event:
                return time.perf_counter() - began
    raise RuntimeError("the stream has no text")


@asynccontextmanager
async def stream_of(address: str, body: dict[str, Any]) -> AsyncIterator[AsyncIterator[bytes]]:
    """Ask for a stream over a plain socket, which takes the least time, and hand out its events."""
    host, port = address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}], **body}
    data = json.dumps(asked).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n"
    head += f"content-length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)

    async def events() -> AsyncIterator[bytes]:
        answer = await reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            return
        frames = EventReader()
        while size := int(await reader.readline() or b"0", 16):
            for event in frames.feed((await reader.readexactly(size + 2))[:-2]):
                yield event.data

    try:
        yield events()
    finally:
        writer.close()


def declared_tools() -> list[dict[str, Any]]:
    """Return twenty tools."""
    properties = {"city": {"type": "string"}, "days": {"type": "integer", "description": "how many days"}}
    parameters = {"type": "object", "properties": properties, "required": ["city"]}
    return [
        {"type": "function", "function": {"name": f"tool_{number}", "description": "A tool", "parameters": parameters}}
        for number in range(_TOOLS)
    ]


async def _model(request: Request) -> StreamingResponse:
    """Answer as an upstream: the request says how many chunks, numbered at `#`, how fast, and with how many calls."""
    body = await request.json()
    calls = [_CALL.replace("3", str(number)) for number in range(body.get("calls", 0))]
    pieces = [body["text"].replace("#", str(number)) for number in range(body["count"])]
    pieces += [piece for call in calls for piece in (call[:20], call[20:40], call[40:])]

    async def events() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield _chunk({"content": piece}, None)
            if body["pause"]:
                await asyncio.sleep(body["pause"])
        yield _chunk({}, "stop")
        yield b"data: [DONE]\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


def _chunk(delta: dict[str, str], finish_reason: str | None) -> bytes:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunk = {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _serve_model(sending: Connection) -> None:
    import uvicorn  # noqa: PLC0415 - in the process that serves

    app = Starlette(routes=[Route("/v1/chat/completions", _model, methods=["POST"])])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sending.send(listening.getsockname()[1])
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
        uvicorn.Server(config).run(sockets=[listening])


def _serve_gateway(sending: Connection, settings: GatewaySettings, log: Path) -> None:
    from llama3_gateway.server import run  # noqa: PLC0415 - in the process that serves

    def say(text: str) -> None:
        if said := _PORT(text):
            sending.send(int(said[1]))

    sys.stderr = log.open("w", buffering=1)  # as long as the process
    run(settings, say)


@contextmanager
def upstream_process() -> Iterator[str]:
    """Run a model that writes what it is told, and return its address."""
    with _process(_serve_model) as (address, _):
        yield address


@contextmanager
def gateway_process(upstream: str, log: Path = Path(os.devnull)) -> Iterator[tuple[str, int]]:
    """Run a gateway in front of a model, and return its address, and the id of its process."""
    settings = GatewaySettings.model_validate({"upstream": f"http://{upstream}/v1", "port": 0})
    with _process(_serve_gateway, settings, log) as found:
        yield found


@contextmanager
def _process(serve: Any, *arguments: object) -> Iterator[tuple[str, int]]:  # noqa: ANN401 - any function
    """Run a server in a process of its own, which sends the port on which it listens."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=serve, args=(sending, *arguments), daemon=True)
    process.start()
    sending.close()  # so that the end of the process is the end of what is received
    try:
        port = receiving.recv()
        assert process.pid is not None  # noqa: S101 - it has started
        yield f"127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.join(10)


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory_of(process: int) -> int:
    """Return the bytes that a process has in memory."""
    return int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1]) * _PAGES


def _connections(process: int) -> int:
    """Return how many connections with clients or with the upstream a process has that are not kept for later."""
    files = []
    for link in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it has just been closed
            files.append(str(link.readlink()))
    inodes = {name[8:-1] for name in files if name.startswith("socket:[")}
    table_of_all = [line.split() for line in Path(f"/proc/{process}/net/tcp").read_text("ascii").splitlines()[1:]]
    own = {fields[1].rpartition(":")[2] for fields in table_of_all if fields[3] == "0A" and fields[9] in inodes}
    return sum(
        fields[3] == "01" and fields[9] in inodes and fields[1].rpartition(":")[2] in own for fields in table_of_all
    )


if __name__ == "__main__":
    sys.exit(main())
