"""Llama 3's tool calls in LangChain.

>>> from langchain_llama3_tools import Llama3JsonToolOutputParser
>>> parser = Llama3JsonToolOutputParser()
>>> message = parser.invoke('Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}')
>>> message.content
'Let me check.'
>>> message.tool_calls[0]["name"], message.tool_calls[0]["args"]
('get_weather', {'city': 'Paris'})
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from llama3_tools import MissingExtraError

try:
    # New in langchain-core 1.0, as is much that the modules below take from it.
    from langchain_core.messages import ContentBlock as _ContentBlock  # noqa: F401 (asked for, not used)
except ImportError as error:
    if (error.name or "").partition(".")[0] != "langchain_core":
        raise  # the framework is there, and something that it needs is not
    raise MissingExtraError(
        "langchain_llama3_tools needs langchain-core 1.4 or newer: pip install 'llama3-tools[langchain]'"
    ) from error

from langchain_llama3_tools.parser import Llama3JsonToolOutputParser
from langchain_llama3_tools.tools import LangChainToolChoice, LangChainToolLike, render_llama3_tools

if TYPE_CHECKING:
    from langchain_llama3_tools.conversation import flatten_tool_messages
    from langchain_llama3_tools.middleware import Llama3ToolMiddleware
    from langchain_llama3_tools.model import Llama3ToolModel

__all__ = [
    "LangChainToolChoice",
    "LangChainToolLike",
    "Llama3JsonToolOutputParser",
    "Llama3ToolModel",
    "flatten_tool_messages",
    "render_llama3_tools",
]
with suppress(ImportError):  # `import *` takes all that is there
    if TYPE_CHECKING or find_spec("langchain"):
        __all__ += ["Llama3ToolMiddleware"]

_MODULES = {
    "Llama3ToolMiddleware": "middleware",
    "Llama3ToolModel": "model",
    "flatten_tool_messages": "conversation",
}
"""Where that is which the parser does without. The middleware needs langchain, the rest langchain-core alone."""


def __dir__() -> list[str]:
    """Return the names of the package, those that are imported when they are asked for among them."""
    return [*globals(), *__all__]


def __getattr__(name: str) -> object:
    """Import what was asked for."""
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
