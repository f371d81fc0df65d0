"""The arguments of a tool that has to be called, while the model writes them: what a stream of objects shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llama3_tools.tools import Tool


def arguments_so_far(
    written: str, tool: Tool, parse: Callable[[str], Any], *, starts_reasoning: bool = False
) -> dict[str, Any] | None:
    """Return the arguments of a tool as far as a model has written them; `None` if that may yet be something else.

    They may be those of a call, in the strict response format, too, or an object alone.

    Args:
        written: what the model has written so far.
        tool: the tool.
        parse: a framework's parser of JSON that is not all there, which raises `ValueError` for anything else.
        starts_reasoning: whether the answer begins in a thought.
    """
    _, ended, text = written.rpartition("</think>")
    begin = text.find("{")
    if begin < 0 or "<think>" in text or (starts_reasoning and not ended):
        return None
    try:
        found = parse(text[begin:])
    except (ValueError, RecursionError):  # of prose, or of words after the object, which is whole then
        return None
    if isinstance(found, dict) and isinstance(found.get("tool_call"), dict):  # the strict response format
        found = found["tool_call"]
    if not isinstance(found, dict):
        return None
    name = found.get("name") or ""
    if name == tool.name and (of_call := found.get("parameters", found.get("arguments"))) is not None:
        return of_call if isinstance(of_call, dict) else None
    is_undecided = list(found) == ["name"] and tool.name.startswith(str(name))
    return found if found.keys() <= (tool.parameters.get("properties") or {}).keys() and not is_undecided else None
