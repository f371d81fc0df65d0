"""The gateway: an OpenAI-compatible server in front of one that loses tool calls. It reads them out of the text.

`llama3-tools serve http://localhost:11434/v1` runs it; `docs/gateway.md` says what it does. In a program:

>>> from llama3_gateway import Gateway, GatewaySettings
>>> application = Gateway(GatewaySettings(upstream="http://localhost:11434/v1", retries=2))
>>> application.settings.default.chat.max_retries
2

`Gateway` is an ASGI application, which any ASGI server runs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from llama3_gateway.errors import missing_extra

if TYPE_CHECKING:
    from llama3_gateway.application import Gateway
    from llama3_gateway.settings import GatewaySettings, ModelEntry, ModelSettings, Upstream

__all__ = ["Gateway", "GatewaySettings", "ModelEntry", "ModelSettings", "Upstream"]


def __getattr__(name: str) -> object:
    """Import what needs the extra when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{'application' if name == 'Gateway' else 'settings'}"), name)
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
