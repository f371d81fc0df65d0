"""Declared tools: what may be called, and with which arguments."""

from llama3_tools.tools.declared import Tool, ToolLike, declare_tools

__all__ = ["Tool", "ToolLike", "declare_tools"]
