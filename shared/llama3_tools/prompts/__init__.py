"""Llama's prompts: tools, calls and results as text."""

from llama3_tools.prompts.render import (
    PromptFormat,
    render_response_prompt,
    render_tool_call,
    render_tool_calls,
    render_tool_prompt,
    render_tool_result,
)

__all__ = [
    "PromptFormat",
    "render_response_prompt",
    "render_tool_call",
    "render_tool_calls",
    "render_tool_prompt",
    "render_tool_result",
]
