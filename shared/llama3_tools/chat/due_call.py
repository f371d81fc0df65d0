"""An object where one tool has to be called: models asked for a person write `Sure: {"name": "Al", "age": 3}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from llama3_tools.literals.json_object import JsonObject, parse_object
from llama3_tools.tools import Tool

_OBJECT = re.compile(r'\{(?=\s*["}])')
_FENCED = re.compile(r"(.*)```\w*\s*\Z", re.DOTALL)
_OF_CALLS = {"parameters", "arguments"}


class DueCall:
    """Finds the objects in an answer that may be the arguments of the tool that is due.

    >>> due = DueCall(Tool("save"), lambda name, arguments: [])
    >>> [one.members for one in due.objects('{"text": "Hi"}', "Sure:")]
    [{'text': 'Hi'}]
    """

    def __init__(
        self, tool: Tool, misfits: Callable[[str, dict[str, Any]], list[str]], *, is_alone: bool = False
    ) -> None:
        """Take the tool.

        Args:
            tool: the tool.
            misfits: says what does not fit in arguments of it.
            is_alone: whether an object is its arguments only if it fits and is all of the answer, as others may be due.
        """
        self.is_alone = is_alone
        """Whether an object has to be all of the answer."""
        self.name = tool.name
        self._schema = tool.arguments_schema
        self._misfits = misfits

    def objects(self, held: str, before: str = "") -> list[JsonObject]:
        """Return the objects after what the model thought that may be the arguments; none if one cannot be read.

        Args:
            held: the answer, from the first brace or fence on.
            before: the text before that.
        """
        objects = list[JsonObject]()
        begin = _OBJECT.search(held, held.rfind("</think>") + 1)
        while begin:
            found = parse_object(held, begin.start())
            if found is None:
                return []
            objects.append(found)
            begin = _OBJECT.search(held, found.end)
        is_all = len(objects) == 1 and not (before or without(objects[0]))
        return [one for one in objects if self._may_be(one.members, is_all=is_all)]

    def misfits(self, arguments: dict[str, Any]) -> list[str]:
        """Say what does not fit in the arguments, a sentence each."""
        return self._misfits(self.name, arguments)

    def _may_be(self, arguments: Mapping[str, Any], *, is_all: bool) -> bool:
        """Return whether an object has an argument that is declared, if any is, and no others that only a call has.

        If it is empty, or others may be due, it has to be all of the answer; and in that case, declared as a whole.
        """
        declared = self._schema.get("properties") or {}
        if (self.is_alone or not arguments) and not (is_all and arguments.keys() <= declared.keys()):
            return False
        if not _OF_CALLS.isdisjoint(arguments.keys() - declared.keys()):
            return False
        return not (declared and arguments) or not declared.keys().isdisjoint(arguments)


def without(found: JsonObject) -> str:
    """Return the text in which an object was found without it, and without a fence around it."""
    before, after = found.text[: found.start], found.text[found.end :].lstrip()
    if after.startswith("```") and (fenced := _FENCED.match(before)):
        before, after = fenced[1], after[3:].lstrip()
    return (before + after).rstrip()
