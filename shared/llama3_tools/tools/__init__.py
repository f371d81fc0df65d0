"""Declared tools: what may be called, and with which arguments."""

from llama3_tools.tools.declared import Tool, ToolLike, declare_tools
from llama3_tools.tools.framework_tools import describe_tool, require_tool_list
from llama3_tools.tools.schema_check import SCHEMA_KEYS
from llama3_tools.tools.tool_list import read_tool_list

__all__ = [
    "SCHEMA_KEYS",
    "Tool",
    "ToolLike",
    "declare_tools",
    "describe_tool",
    "read_tool_list",
    "require_tool_list",
]
