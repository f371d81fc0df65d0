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

from typing import TYPE_CHECKING

from llama3_tools.errors import of_extra

with of_extra(
    "llama_index_llama3_tools needs llama-index-core 0.14.12 or newer: pip install 'llama3-tools[llama-index]'",
    "llama_index",
):
    # New in 0.14.5; in some versions after it, ReAct agents refuse reasoning.
    from llama_index.core.base.llms.types import ToolCallBlock as _ToolCallBlock  # noqa: F401 (asked for, not used)

from llama_index_llama3_tools.errors import MalformedToolCallError
from llama_index_llama3_tools.llm import Llama3ToolLLM
from llama_index_llama3_tools.output import Llama3ToolOutput
from llama_index_llama3_tools.parser import Llama3JsonToolOutputParser
from llama_index_llama3_tools.tools import LlamaIndexToolLike

if TYPE_CHECKING:
    from llama_index_llama3_tools.react import Llama3ReActOutputParser

__all__ = [
    "Llama3JsonToolOutputParser",
    "Llama3ReActOutputParser",
    "Llama3ToolLLM",
    "Llama3ToolOutput",
    "LlamaIndexToolLike",
    "MalformedToolCallError",
]


def __getattr__(name: str) -> object:
    """Import the one that brings LlamaIndex's agents with it when it is asked for."""
    if name == "Llama3ReActOutputParser":
        from llama_index_llama3_tools import react  # noqa: PLC0415

        return react.Llama3ReActOutputParser
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
