"""Tools that request after request brings again: what is made of them is made once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from llama3_tools.arguments import Coercer
from llama3_tools.calls.reader import coercers_of
from llama3_tools.extractor import Extractor
from llama3_tools.options import new_call_id
from llama3_tools.prompts import PromptFormat, ToolChoice, render_tool_prompt
from llama3_tools.tools.declared import Tool, ToolLike, declare_tools

__all__ = ["KEPT", "Toolset", "as_given", "kept_toolset", "written_tools"]

KEPT = 64
"""How many of each are kept: those that were asked for last."""


class Toolset:
    """Declared tools, with their extractors, coercers and prompts. It never changes, and may be shared freely.

    >>> tools = Toolset([{"name": "now"}])
    >>> tools.extractor(lenient=True) is tools.extractor(lenient=True)
    True
    """

    def __init__(self, tools: Iterable[ToolLike]) -> None:
        """Declare the tools.

        Raises:
            TypeError: `tools` is no list of tools.
            ToolDefinitionError: a declaration that cannot be read.
        """
        self._declared = declare_tools(tools)

    @property
    def declared(self) -> dict[str, Tool]:
        """The tools by name."""
        return dict(self._declared)

    @cached_property
    def coercers(self) -> Mapping[str, Coercer]:
        """What makes arguments fit the schemas of the tools, by their names."""
        return coercers_of(self._declared)

    def extractor(self, *, id_factory: Callable[[], str] = new_call_id, **options: Any) -> Extractor:  # noqa: ANN401
        """Return the `Extractor` for these tools that has these options, which can be hashed.

        One with an `id_factory` of the caller's is made anew: it would keep alive what that belongs to.
        """
        if id_factory is new_call_id:
            return _extractor(self, **options)
        return Extractor(tools=self._declared.values(), id_factory=id_factory, **options)

    def prompt(self, prompt_format: PromptFormat = "json", tool_choice: ToolChoice = "auto") -> str:
        """Return what `render_tool_prompt` makes of these tools."""
        return _prompt(self, prompt_format, tool_choice)


def as_given(tools: Sequence[Any]) -> Iterable[ToolLike]:
    """Return tools that need no conversion."""
    return tools


def written_tools(tools: Sequence[Mapping[str, Any]] | None) -> str | None:
    """Return tools as the JSON by which they are known again; `None` if they are not in JSON, or not yet."""
    try:
        return json.dumps(tools)
    except (TypeError, ValueError, RecursionError):
        return None


def kept_toolset(
    tools: Sequence[Mapping[str, Any]], read: Callable[[Sequence[Any]], Iterable[ToolLike]] = as_given
) -> Toolset:
    """Return the toolset of tool dicts: the one that was made before where the same were given.

    >>> kept_toolset([{"name": "now"}]) is kept_toolset([{"name": "now"}])
    True

    Args:
        tools: the tool dicts, which may change later on.
        read: makes declarations of them.

    Raises:
        TypeError: `tools` is no list of tools.
        ToolDefinitionError: a declaration that cannot be read.
    """
    written = written_tools(tools)
    return Toolset(read(tools)) if written is None else _toolset(written, read)


@lru_cache(KEPT)
def _toolset(written: str, read: Callable[[Sequence[Any]], Iterable[ToolLike]]) -> Toolset:
    return Toolset(read(json.loads(written)))


@lru_cache(KEPT, typed=True)
def _extractor(tools: Toolset, **options: Any) -> Extractor:  # noqa: ANN401 (as Extractor has them)
    return Extractor(tools=tools.declared.values(), **options)


@lru_cache(KEPT)
def _prompt(tools: Toolset, prompt_format: PromptFormat, tool_choice: ToolChoice) -> str:
    return render_tool_prompt(tools.declared.values(), prompt_format=prompt_format, tool_choice=tool_choice)
