"""Names of tools that an API does not allow, and the names sent instead: `a.b` and `a_b`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from llama3_tools.tools import Tool

_ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64


class ToolNames:
    """Maps the names of tools to names that an API allows, and back. Both are read as the tool's own.

    >>> names = ToolNames(["a.b", "now"])
    >>> names.allowed("a.b"), names.own("a_b"), names.own("a.b"), names.own("other")
    ('a_b', 'a.b', 'a.b', 'other')
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Choose a name for each. A name that an API allows stays as it is, whatever the others are."""
        self._allowed: dict[str, str] = {}
        self._own: dict[str, str] = {}
        for name in sorted(names, key=lambda name: not _ALLOWED.fullmatch(name)):
            allowed = self._free(_NOT_ALLOWED.sub("_", name))
            self._allowed[name] = allowed
            self._own[allowed] = self._own[name] = name

    def allowed(self, name: str) -> str:
        """Return the name that an API allows; one of no declared tool as it is."""
        return self._allowed.get(name, name)

    def own(self, name: str) -> str:
        """Return the tool's own name; one of no declared tool as it is."""
        return self._own.get(name, name)

    def readable(self, tools: Mapping[str, Tool]) -> list[Tool]:
        """Return the tools, which may be some of all, under each name by which a model may call them."""
        return [
            tools[own] if name == own else Tool(name, tools[own].description, tools[own].parameters)
            for name, own in self._own.items()
            if own in tools
        ]

    def _free(self, wanted: str) -> str:
        name, count = wanted[:_LONGEST], 1
        while name in self._own:
            count += 1
            name = f"{wanted[: _LONGEST - len(str(count)) - 1]}_{count}"
        return name
