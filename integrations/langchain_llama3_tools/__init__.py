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

from typing import TYPE_CHECKING

from llama3_tools.errors import of_extra

with of_extra(
    "langchain_llama3_tools needs langchain-core 1.4 or newer: pip install 'llama3-tools[langchain]'", "langchain_core"
):
    # New in langchain-core 1.0, as is much that the modules below take from it.
    from langchain_core.messages import ContentBlock as _ContentBlock  # noqa: F401 (asked for, not used)

from langchain_llama3_tools.conversation import flatten_tool_messages
from langchain_llama3_tools.model import Llama3ToolModel
from langchain_llama3_tools.parser import Llama3JsonToolOutputParser
from langchain_llama3_tools.tools import LangChainToolChoice, LangChainToolLike, render_llama3_tools

if TYPE_CHECKING:
    from langchain_llama3_tools.middleware import Llama3ToolMiddleware

__all__ = [
    "LangChainToolChoice",
    "LangChainToolLike",
    "Llama3JsonToolOutputParser",
    "Llama3ToolMiddleware",
    "Llama3ToolModel",
    "flatten_tool_messages",
    "render_llama3_tools",
]


def __getattr__(name: str) -> object:
    """Import the middleware when it is asked for: it needs langchain, the rest langchain-core alone."""
    if name == "Llama3ToolMiddleware":
        from langchain_llama3_tools.middleware import Llama3ToolMiddleware  # noqa: PLC0415 - as it says

        return Llama3ToolMiddleware
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
