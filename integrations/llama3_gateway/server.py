"""The gateway as a server of its own: uvicorn, its socket, and what is said when it starts."""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
import sys
from collections.abc import Callable

from llama3_gateway.errors import missing_extra
from llama3_gateway.logs import LOGGER, JsonLines
from llama3_gateway.settings import GatewaySettings

try:
    import uvicorn

    from llama3_gateway.application import Gateway
except ModuleNotFoundError as error:
    raise missing_extra(error) from error

__all__ = ["AddressError", "greeting", "run"]

_SECONDS_TO_FINISH = 5
"""What answers under way have when the server is stopped."""
_WAITING = 2048
"""How many clients may wait to be let in."""


class AddressError(OSError):
    """An address on which the gateway cannot listen."""


def run(settings: GatewaySettings, say: Callable[[str], None]) -> None:
    """Serve until the process is told to stop.

    Args:
        settings: how the gateway serves.
        say: is told where it serves, and who can reach it.

    Raises:
        AddressError: the address cannot be used.
    """
    listening = _listen(settings)
    _log_to_stderr()
    config = uvicorn.Config(
        Gateway(settings),
        access_log=False,
        date_header=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
        ws="none",
    )
    say(greeting(settings, listening.getsockname()[1]))
    with contextlib.suppress(KeyboardInterrupt):  # which has ended it in good order
        uvicorn.Server(config).run(sockets=[listening])


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    server = logging.getLogger("uvicorn")
    server.addHandler(handler)
    server.setLevel(logging.WARNING)


def _listen(settings: GatewaySettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=_WAITING)
    except OSError as error:
        is_port = error.errno in {errno.EADDRINUSE, errno.EACCES}
        cure = "--port takes another" if is_port else "--host takes an address of this machine"
        why = str(error.strerror or error).partition(" (while ")[0]
        raise AddressError(f"cannot listen on {settings.host}:{settings.port} ({why}): {cure}") from None


def greeting(settings: GatewaySettings, port: int) -> str:
    """Return where the gateway serves, and who can reach it."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    lines = [
        f"llama3-tools serve: point clients at http://{host}:{port}/v1",
        *(f"  upstream: {upstream.shown}" for upstream in settings.upstreams),
    ]
    if settings.is_for_this_machine:
        lines.append("  only programs on this machine can use it; --host 0.0.0.0 lets others in")
    elif settings.api_key:
        lines.append("  everyone who reaches this machine and has the key can use the model")
    else:
        lines.append("  WARNING: everyone who reaches this machine can use the model: set --api-key")
    return "\n".join(lines)
