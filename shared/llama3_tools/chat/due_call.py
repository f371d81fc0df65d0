"""An object alone where one tool has to be called: models asked for a person write `{"name": "Al", "age": 3}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from llama3_tools.tools import Tool

__all__ = ["DueCall"]

_FENCED = re.compile(r"\s*```\w*\n(.*)\n\s*```\s*", re.DOTALL)


class DueCall:
    """Holds an answer back while it may be the arguments of the tool that is due, and nothing else.

    >>> due = DueCall(Tool("save"), lambda name, arguments: [])
    >>> due.hold('{"text": "Hi'), due.release(), due.hold('"}')
    ('', '{"text": "Hi', '"}')
    """

    def __init__(self, tool: Tool, misfits: Callable[[str, dict[str, Any]], list[str]]) -> None:
        """Begin an answer.

        Args:
            tool: the tool.
            misfits: says what does not fit in arguments of it.
        """
        self.name = tool.name
        self._schema = tool.arguments_schema
        self._misfits = misfits
        self._held = ""
        self._is_over = False

    def hold(self, text: str) -> str:
        """Take the next text, and return what of the text may go out."""
        if self._is_over:
            return text
        self._held += text
        return "" if self._held.lstrip()[:1] in {"", "{", "`"} else self.release()

    def release(self) -> str:
        """Return what is held: the answer is something else."""
        self._is_over = True
        held, self._held = self._held, ""
        return held

    def may_be(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether an object may be the arguments: it has one of those that the tool declares, if it does so."""
        declared = self._schema.get("properties")
        return not declared or not declared.keys().isdisjoint(arguments)

    def misfits(self, arguments: dict[str, Any]) -> list[str]:
        """Say what does not fit in the arguments, a sentence each."""
        return self._misfits(self.name, arguments)

    @staticmethod
    def arguments_in(content: str) -> str:
        """Return what may be the arguments in an answer: all of it, without a fence around it."""
        fenced = _FENCED.fullmatch(content)
        return (fenced[1] if fenced else content).strip()
