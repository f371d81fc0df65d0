"""What a local Llama 3 writes, as content and tool calls.

The principles that docstrings and tests cite by number are in `docs/reading.md`.

>>> from llama3_tools import extract
>>> extraction = extract('Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}')
>>> extraction.content, extraction.tool_calls[0].arguments
('Let me check.', {'city': 'Paris'})
"""

from typing import TYPE_CHECKING

from llama3_tools.arguments import ArgumentValidator, Coercer, Coercion, coerce_arguments, validate_arguments
from llama3_tools.errors import (
    Llama3ToolsError,
    MissingExtraError,
    ResponseFormatError,
    ResponseFormatProblem,
    StreamStateError,
    ToolDefinitionError,
)
from llama3_tools.extractor import Extractor, extract
from llama3_tools.formats import FormatName, Formats
from llama3_tools.limits import Limits
from llama3_tools.options import OnUnknownTool, ReadOption, ReadOptions, new_call_id
from llama3_tools.prompts import (
    PromptFormat,
    render_response_prompt,
    render_tool_call,
    render_tool_calls,
    render_tool_prompt,
    render_tool_result,
)
from llama3_tools.reader.stream import ExtractionStream
from llama3_tools.strict import parse_response, response_json_schema
from llama3_tools.tools import Tool, ToolLike, declare_tools
from llama3_tools.tools.choice import ToolChoice
from llama3_tools.values import (
    ArgumentChange,
    ArgumentProblem,
    CallProgress,
    Event,
    Extraction,
    OpenAIFunction,
    OpenAIMessage,
    OpenAIToolCall,
    ProblemReason,
    ReasoningDelta,
    Rejection,
    RejectionReason,
    Span,
    TextDelta,
    ToolCall,
    ToolCallReady,
)

__all__ = [
    "ArgumentChange",
    "ArgumentProblem",
    "ArgumentValidator",
    "CallProgress",
    "Coercer",
    "Coercion",
    "Event",
    "Extraction",
    "ExtractionStream",
    "Extractor",
    "FormatName",
    "Formats",
    "Limits",
    "Llama3ToolsError",
    "MissingExtraError",
    "OnUnknownTool",
    "OpenAIFunction",
    "OpenAIMessage",
    "OpenAIToolCall",
    "ProblemReason",
    "PromptFormat",
    "ReadOption",
    "ReadOptions",
    "ReasoningDelta",
    "Rejection",
    "RejectionReason",
    "ResponseFormatError",
    "ResponseFormatProblem",
    "Span",
    "StreamStateError",
    "TextDelta",
    "Tool",
    "ToolCall",
    "ToolCallReady",
    "ToolChoice",
    "ToolDefinitionError",
    "ToolLike",
    "__version__",
    "coerce_arguments",
    "declare_tools",
    "extract",
    "new_call_id",
    "parse_response",
    "render_response_prompt",
    "render_tool_call",
    "render_tool_calls",
    "render_tool_prompt",
    "render_tool_result",
    "response_json_schema",
    "validate_arguments",
]

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """Return the version of the installed package. It is looked up when it is asked for, as that takes long."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version  # noqa: PLC0415 - takes as long as all the rest

        return version("llama3-tools")
