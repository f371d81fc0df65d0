"""The gateway as a server: uvicorn, its socket, and what is said when it starts."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus

from llama3_gateway.errors import GatewayError, missing_extra

try:
    import anyio
    import h11
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from llama3_gateway.application import Gateway
    from llama3_gateway.logs import LOGGER, JsonLines
    from llama3_gateway.settings import GatewaySettings, Upstream
    from llama3_gateway.upstream import UPSTREAM_TIMEOUT, UpstreamClient
    from llama3_tools.cli.status import CannotRunError
except ModuleNotFoundError as error:
    raise missing_extra(error) from error

_SECONDS_TO_FINISH = 5
"""What answers under way have when the server is stopped."""
_SECONDS_TO_CHECK = 5
"""What an upstream has to answer when the gateway starts. One that needs more may still be loading its model."""
_SECONDS_FOR_HEAD = 30
"""In which the head of a request has to come, from the connection or from the head's first byte on."""
_WAITING = 2048
"""How many clients may wait to be let in."""
_ALL_ADDRESSES = frozenset({"0.0.0.0", "::"})  # noqa: S104 - only compared


class PunctualProtocol(H11Protocol):
    """Closes a connection on which no request comes, or the head of one too slowly: uvicorn waits without end."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, and wait for the rest of a head."""
        if self._waiting is None and self.conn.their_state is h11.IDLE:
            self._wait()
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(_SECONDS_FOR_HEAD, self.timeout_keep_alive_handler)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def run(settings: GatewaySettings, say: Callable[[str], None]) -> None:
    """Serve until the process is told to stop.

    Raises:
        CannotRunError: the address cannot be used.
    """
    listening = _listen(settings)
    port = listening.getsockname()[1]
    _log_to_stderr()
    config = uvicorn.Config(
        Gateway(settings),
        access_log=False,
        date_header=False,
        http=PunctualProtocol,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
        ws="none",
    )
    say(greeting(settings, port))
    threading.Thread(target=_check, args=(settings, say), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):  # which has ended it in good order
        uvicorn.Server(config).run(sockets=[listening])


def _log_to_stderr() -> None:
    """Have all that this process logs as lines of JSON: uvicorn and asyncio, too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(capture=True)
    LOGGER.setLevel(logging.INFO)


def _listen(settings: GatewaySettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server((settings.host, settings.port), family=family, backlog=_WAITING)
    except OSError as error:
        is_port = error.errno in {errno.EADDRINUSE, errno.EACCES}
        cure = "--port takes another" if is_port else "--host takes an address of this machine"
        why = str(error.strerror or error).partition(" (while ")[0]
        raise CannotRunError(f"cannot listen on {settings.host}:{settings.port} ({why}): {cure}") from None
    # Connections inherit it. Without, a chunk waits up to 40 ms until the client has confirmed the one before.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _check(settings: GatewaySettings, say: Callable[[str], None]) -> None:
    for upstream in settings.upstreams:
        warning = anyio.run(warning_of, upstream)
        if warning:
            say(f"WARNING: {warning}")


async def warning_of(upstream: Upstream, seconds: float = _SECONDS_TO_CHECK) -> str | None:
    """Return what is wrong with an upstream's address; `None` if it answers, or takes its time."""
    client = UpstreamClient(seconds, "llama3-tools-serve")
    try:
        async with client.ask(upstream, "GET", "/v1/models", headers=[], body=b"") as answer:
            status = answer.status
    except GatewayError as error:
        return None if error.code == UPSTREAM_TIMEOUT else error.message
    finally:
        await client.aclose()
    if status == HTTPStatus.LOOP_DETECTED:
        return f"the upstream {upstream.shown} is the gateway itself: start it with the address of the model"
    return (
        f"there is no {upstream.shown}/models: does the address end in /v1?" if status == HTTPStatus.NOT_FOUND else None
    )


def greeting(settings: GatewaySettings, port: int) -> str:
    """Return where the gateway serves, and who can reach it."""
    is_for_all = settings.host in _ALL_ADDRESSES
    host = "localhost" if is_for_all else settings.host
    shown = f"[{host}]" if ":" in host else host
    lines = [f"llama3-tools serve: point clients at http://{shown}:{port}/v1"]
    if is_for_all:
        lines.append(
            f"  from a container: http://host.docker.internal:{port}/v1; from another machine: by this one's name"
        )
    lines += [f"  upstream: {upstream.shown}" for upstream in settings.upstreams]
    if settings.is_for_this_machine:
        lines.append("  only programs on this machine can use it; --host 0.0.0.0 lets others in")
    elif settings.api_key:
        lines.append("  everyone who reaches this machine and has the key can use the model")
    else:
        lines.append("  WARNING: everyone who reaches this machine can use the model: set --api-key")
    return "\n".join(lines)
