"""A model's reasoning that was split off its text, put where LangChain's own reasoning models have it.

That is `additional_kwargs["reasoning_content"]`, beside the content; with `output_version="v1"`, blocks of the content.
"""

from __future__ import annotations

from typing import Any

from langchain_llama3_tools.content import Block, Part, block_text, is_block

__all__ = ["REASONING_CONTENT", "Thoughts"]

REASONING_CONTENT = "reasoning_content"
"""Where in `additional_kwargs` it is, and a server's own as well."""

_BETWEEN = "\n\n"


class Thoughts:
    r"""The reasoning of one message, as it grows: what the server sends as such, and what is split off the text.

    Thoughts that something else stands between are a blank line apart, or in blocks of their own.

    >>> thoughts = Thoughts()
    >>> thoughts.sent({"reasoning_content": "Paris."})
    {'reasoning_content': 'Paris.'}
    >>> thoughts.beside({"reasoning_content": "Paris."}, "Sunny")
    {'reasoning_content': 'Paris.\n\nSunny'}
    >>> thoughts.beside({}, "?")
    {'reasoning_content': '?'}
    """

    def __init__(self) -> None:
        """Start at the beginning of a message."""
        self._blocks = 0
        self._is_any = False
        self._is_open = False
        self._was_sent = True

    def sent(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Take what a server sends beside the content, and give it with a blank line before it where one is needed."""
        if not kwargs.get(REASONING_CONTENT):
            return kwargs
        if not self._was_sent:
            kwargs = {**kwargs, REASONING_CONTENT: f"{_BETWEEN}{kwargs[REASONING_CONTENT]}"}
        self._is_any, self._is_open, self._was_sent = True, False, True
        return kwargs

    def interrupt(self, part: Part) -> None:
        """Take something else than reasoning."""
        if not (is_block(part) and block_text(part) == ""):
            self._is_open = False

    def beside(self, kwargs: dict[str, Any], piece: str) -> dict[str, Any]:
        """Add the next piece of what is split off to what stands beside the content."""
        before = kwargs.get(REASONING_CONTENT) or ""
        if not self._is_open:
            piece = f"{_BETWEEN if self._is_any else ''}{piece.lstrip()}"
        self._is_any, self._is_open, self._was_sent = True, True, False
        return {**kwargs, REASONING_CONTENT: f"{before}{piece}"}

    def block(self, piece: str) -> Block:
        """Return the next piece of what is split off as a block of a chunk's content. LangChain's sum joins them."""
        if not self._is_open:
            self._blocks += 1
            piece = piece.lstrip()
        self._is_open = True
        return {"type": "reasoning", "reasoning": piece, "index": f"lc_llama3_reasoning_{self._blocks}"}
