"""What a user of a framework gives as tools: errors that every adapter raises alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def require_tool_list(tools: object, tool_class: type) -> None:
    """Require a list of tools, or anything else that yields them.

    >>> require_tool_list({"name": "now"}, type(None))
    Traceback (most recent call last):
    TypeError: tools must be a list of tools, got {'name': 'now'}: put it in a list

    Args:
        tools: what was given.
        tool_class: the framework's own tools. One of these is none, even if it can be iterated over.

    Raises:
        TypeError: it is none.
    """
    is_tool = callable(tools) or isinstance(tools, (Mapping, tool_class))
    if is_tool or isinstance(tools, (str, bytes)) or not isinstance(tools, Iterable):
        raise TypeError(f"tools must be a list of tools, got {describe_tool(tools)}{': put it in a list' * is_tool}")


def describe_tool(tool: object) -> str:
    """Return a tool, or what was given for one, in a few words.

    >>> describe_tool("now"), describe_tool(int), describe_tool(describe_tool)
    ("'now'", 'the class int', 'the function describe_tool')
    """
    if isinstance(tool, (str, bytes, int, float, Mapping)) or tool is None:
        return f"{tool!r:.80}"
    if isinstance(tool, type):
        return f"the class {tool.__name__}"
    return f"the {type(tool).__name__} {getattr(tool, '__name__', '')}".rstrip()
