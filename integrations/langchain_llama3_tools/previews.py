"""Objects that are still being written: what the streams of structured output yield before the object that counts."""

from __future__ import annotations

from collections.abc import Collection
from json import JSONDecodeError
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.utils.json import parse_partial_json

PREVIEW = "llama3_tools_preview"
"""Where chunks have what the model wrote, among the `additional_kwargs`, by how often it had been asked again."""


def written_in(chunk: BaseMessage) -> str:
    """Return what a model has written in a chunk: text, or a piece of the arguments of a call that its server found."""
    if chunk.text or not isinstance(chunk, AIMessageChunk):
        return str(chunk.text)
    return "".join(piece["args"] or "" for piece in chunk.tool_call_chunks)


class Preview:
    """The object of a tool's arguments, as far as it is written.

    >>> preview = Preview("Person", {"name", "age"})
    >>> pieces = ['Sure: {"name": "Al', '", "a', 'ge": 3']
    >>> [preview.add(AIMessageChunk("", additional_kwargs={PREVIEW: {"0": piece}})) for piece in pieces]
    [{'name': 'Al'}, None, {'name': 'Al', 'age': 3}]
    """

    def __init__(self, tool: str, properties: Collection[str]) -> None:
        """Begin with nothing.

        Args:
            tool: the name of the tool.
            properties: the names of its arguments.
        """
        self._tool = tool
        self._properties = set(properties)
        self._answer = ""
        self._written = ""
        self.last: dict[str, Any] | None = None
        """The last object that was returned."""

    def add(self, chunk: AIMessage) -> dict[str, Any] | None:
        """Take the next chunk, and return the object, if there is more of it.

        If the model is asked again, it begins anew. A whole message is the last one, and has no preview.
        """
        if not isinstance(chunk, AIMessageChunk):
            return None
        for answer, piece in chunk.additional_kwargs.get(PREVIEW, {}).items():
            self._written = piece if answer != self._answer else self._written + piece
            self._answer = answer
            found = self._found()
            if found and found != self.last:
                self.last = found
                return found
        return None

    def _found(self) -> dict[str, Any] | None:
        begin = self._written.find("{", self._written.rfind("</think>") + 1)
        try:
            found = parse_partial_json(self._written[begin:]) if begin >= 0 else None
        except JSONDecodeError:  # of prose, or of words after the object, which is whole then
            return None
        if isinstance(found, dict) and isinstance(found.get("tool_call"), dict):  # the strict response format
            found = found["tool_call"]
        return self._arguments(found) if isinstance(found, dict) else None

    def _arguments(self, found: dict[str, Any]) -> dict[str, Any] | None:
        """Return the arguments of a call, or an object that may be them. `{"name": "Per` may yet become either."""
        name = str(found.get("name"))
        if name == self._tool and (of_call := found.get("parameters", found.get("arguments"))) is not None:
            return of_call if isinstance(of_call, dict) else None
        is_undecided = list(found) == ["name"] and self._tool.startswith(name)
        return found if found.keys() <= self._properties and not is_undecided else None
