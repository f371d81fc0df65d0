"""An object instead of a call that has to be made: models asked for a person write `Sure: {"name": "Al", "age": 3}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from llama3_tools.chat.answer_reader import AnswerReader
from llama3_tools.chat.messages import CallPiece
from llama3_tools.chat.server_calls import UnreadCall
from llama3_tools.literals.json_object import JsonObject, parse_object
from llama3_tools.tools import Tool
from llama3_tools.values import ToolCall

_OBJECT = re.compile(r'\{(?=\s*["}])')
_FENCED = re.compile(r"(.*)```\w*\s*\Z", re.DOTALL)
_OF_CALLS = {"parameters", "arguments"}


class FoundObject(NamedTuple):
    """An object that is meant as the call."""

    call: ToolCall
    problems: list[str]
    """What does not fit in it."""
    rest: str
    """The held text around it."""


class DueCall:
    """Finds the object in an answer that is the call that is due."""

    def __init__(
        self,
        tools: Sequence[Tool],
        reader: AnswerReader,
        misfits: Callable[[str, dict[str, Any]], list[str]],
        *,
        must_be_whole_answer: bool = False,
    ) -> None:
        """Begin with the tools.

        Args:
            tools: the tools whose arguments an object may be.
            reader: reads the arguments.
            misfits: says what does not fit in them.
            must_be_whole_answer: whether an object counts only if it fits one of the tools and is all of the answer, as
                other tools may be due. If not, there is one tool.
        """
        self._tools, self._reader, self._misfits = tools, reader, misfits
        self._must_be_whole_answer = must_be_whole_answer

    def find(self, held: str, before: str, written: str, *, may_misfit: bool) -> FoundObject | None:
        """Return the one object that fits as a whole, whatever else it looks like; else the one that may be meant.

        Args:
            held: the answer, from the first brace or fence on.
            before: the text before that.
            written: all that the model wrote.
            may_misfit: whether an object may be meant that does not fit.
        """
        found: list[FoundObject] = []
        for tool, one in self._objects(held, before):
            if (call := self._call_of(tool, one, written.rfind(one.json))) is not None:
                rest = _without(one)
                found.append(FoundObject(call, self._problems(call), rest if before else rest.lstrip()))
        fitting = [one for one in found if not one.problems]
        if len(fitting) == 1:
            return fitting[0]
        if fitting or len(found) != 1 or self._must_be_whole_answer or not may_misfit:
            return None
        [meant] = found
        # Alone, it is what a call would be whose arguments nobody makes to fit.
        is_taken = not (before or meant.rest or self._reader.options.coerce_arguments)
        return meant._replace(problems=[]) if is_taken else meant

    def whole(self, call: ToolCall, text: str) -> ToolCall:
        """Return the call that an object is as a whole, if it fits so, and not as the call that it looks like.

        Args:
            call: the call that it looks like.
            text: what the model wrote for it.
        """
        if self._must_be_whole_answer or self._reader.chosen not in {None, call.name}:  # which `find` looks at
            return call
        if call.name == self._tools[0].name and not self._problems(call):
            return call
        whole = [self._call_of(tool, one, call.span[0]) for tool, one in self._objects(text) if one.json == text]
        return next((one for one in whole if one is not None and not self._problems(one)), call)

    def _problems(self, call: ToolCall) -> list[str]:
        return self._misfits(call.name, call.arguments)

    def _call_of(self, tool: Tool, found: JsonObject, start: int) -> ToolCall | None:
        """Return the call that has an object as its arguments; `None` if it is beyond the limits."""
        unread = UnreadCall(None, 0, name=tool.name)
        unread.add(CallPiece(None, None, tool.name, found.json))
        read = self._reader.read(unread, set(), made=0, complete=True)
        if not isinstance(read, ToolCall):
            return None
        span = (start, start + len(found.json))
        return replace(read, format="json", span=span, deviations=("it is the arguments alone",))

    def _objects(self, held: str, before: str = "") -> list[tuple[Tool, JsonObject]]:
        """Return the objects after what the model thought, each with the tools whose arguments it may be.

        There are none if one cannot be read.
        """
        objects = list[JsonObject]()
        begin = _OBJECT.search(held, held.rfind("</think>") + 1)
        while begin:
            found = parse_object(held, begin.start())
            if found is None:
                return []
            objects.append(found)
            begin = _OBJECT.search(held, found.end)
        is_all = len(objects) == 1 and not (before or _without(objects[0]))
        return [
            (tool, one) for one in objects for tool in self._tools if self._may_be(tool, one.members, is_all=is_all)
        ]

    def _may_be(self, tool: Tool, arguments: Mapping[str, Any], *, is_all: bool) -> bool:
        """Return whether an object has an argument that is declared, if any is, and no others that only a call has.

        If it is empty, or others may be due, it has to be all of the answer; and in that case, declared as a whole.
        """
        declared = tool.arguments_schema.get("properties") or {}
        if (self._must_be_whole_answer or not arguments) and not (is_all and arguments.keys() <= declared.keys()):
            return False
        if not _OF_CALLS.isdisjoint(arguments.keys() - declared.keys()):
            return False
        return not (declared and arguments) or not declared.keys().isdisjoint(arguments)


def _without(found: JsonObject) -> str:
    """Return the text in which an object was found without it, and without a fence around it."""
    before, after = found.text[: found.start], found.text[found.end :].lstrip()
    if after.startswith("```") and (fenced := _FENCED.match(before)):
        before, after = fenced[1], after[3:].lstrip()
    return (before + after).rstrip()
