"""The gateway: an OpenAI-compatible server that gives tools to every client of a server that has none.

`llama3-tools serve --upstream http://localhost:11434/v1` runs it; `docs/gateway.md` says what it does. In a program:

>>> from llama3_gateway import Gateway, read_settings
>>> application = Gateway(read_settings({"upstream": "http://localhost:11434/v1", "retries": 2}))
>>> application.settings.default.chat.max_retries
2

`Gateway` is an ASGI application, which any ASGI server runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama3_gateway.errors import missing_extra
from llama3_gateway.settings import GatewaySettings, ModelSettings, Upstream, load_settings, read_settings

if TYPE_CHECKING:
    from llama3_gateway.application import Gateway

__all__ = ["Gateway", "GatewaySettings", "ModelSettings", "Upstream", "load_settings", "read_settings"]


def __getattr__(name: str) -> object:
    """Import what needs the extra when it is asked for: the command looks at the settings alone."""
    if name != "Gateway":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from llama3_gateway.application import Gateway  # noqa: PLC0415 - see above
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    return Gateway
