"""The prompt that shows a model its tools, in the words Llama 3.1 was trained on."""

from __future__ import annotations

import json
from collections.abc import Iterable

from llama3_tools.tools import ToolLike, declare_tools

__all__ = ["render_tool_prompt"]

# The instruction of Llama 3.1's own chat template (meta-llama/llama-models, llama3_1/prompt_format.md,
# "JSON based tool calling"): a model calls most reliably when it meets the words it was trained on.
_JSON_INSTRUCTION = (
    "Given the following functions, please respond with a JSON for a function call with its proper arguments "
    "that best answers the given prompt.\n\n"
    'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}. '
    "Do not use variables."
)


def render_tool_prompt(tools: Iterable[ToolLike]) -> str:
    r"""Render tools into Llama 3.1's prompt for JSON tool calls: the instruction, then a JSON object a tool.

    Meta puts it in front of the first user message. Without tools it is the instruction alone.

    >>> print(render_tool_prompt([{"name": "now", "description": "The time"}]))  # doctest: +ELLIPSIS
    Given the following functions, please respond with a JSON for a function call ...
    {
        "type": "function",
        "function": {
            "name": "now",
            "description": "The time",
            "parameters": {
                "type": "object",
                "properties": {}
            }
        }
    }

    Raises:
        TypeError: `tools` is no list of tools.
        ToolDefinitionError: a declaration that cannot be read.
    """
    rendered = (json.dumps(tool.to_openai(), indent=4, ensure_ascii=False) for tool in declare_tools(tools).values())
    return "\n\n".join([_JSON_INSTRUCTION, *rendered])
