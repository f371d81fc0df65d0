"""Llama's prompts: tools, calls and results as text."""

from llama3_tools.prompts.complaints import with_misfits
from llama3_tools.prompts.render import (
    PromptFormat,
    render_response_prompt,
    render_tool_call,
    render_tool_calls,
    render_tool_prompt,
    render_tool_result,
)
from llama3_tools.tools.choice import ToolChoice

__all__ = [
    "PromptFormat",
    "ToolChoice",
    "render_response_prompt",
    "render_tool_call",
    "render_tool_calls",
    "render_tool_prompt",
    "render_tool_result",
    "with_misfits",
]
