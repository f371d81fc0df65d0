"""Llama 3's tool calls in LlamaIndex.

>>> from llama_index_llama3_tools import Llama3JsonToolOutputParser
>>> parser = Llama3JsonToolOutputParser()
>>> output = parser.parse('Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}')
>>> output.text
'Let me check.'
>>> output.tool_calls[0].tool_name, output.tool_calls[0].tool_kwargs
('get_weather', {'city': 'Paris'})
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from llama3_tools.errors import of_extra

with of_extra(
    "llama_index_llama3_tools needs llama-index-core 0.14.12 or newer: pip install 'llama3-tools[llama-index]'",
    "llama_index",
):
    # New in 0.14.5; in some versions after it, ReAct agents refuse reasoning.
    from llama_index.core.base.llms.types import ToolCallBlock as _ToolCallBlock  # noqa: F401 (asked for, not used)

from llama_index_llama3_tools.errors import MalformedToolCallError
from llama_index_llama3_tools.output import Llama3ToolOutput
from llama_index_llama3_tools.parser import Llama3JsonToolOutputParser
from llama_index_llama3_tools.tools import LlamaIndexToolLike

if TYPE_CHECKING:
    from llama_index_llama3_tools.llm import Llama3ToolLLM
    from llama_index_llama3_tools.react import Llama3ReActOutputParser

__all__ = [
    "Llama3JsonToolOutputParser",
    "Llama3ReActOutputParser",
    "Llama3ToolLLM",
    "Llama3ToolOutput",
    "LlamaIndexToolLike",
    "MalformedToolCallError",
]

_MODULES = {"Llama3ToolLLM": "llm", "Llama3ReActOutputParser": "react"}
"""Where that is which the parser does without."""


def __getattr__(name: str) -> object:
    """Import what was asked for."""
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
