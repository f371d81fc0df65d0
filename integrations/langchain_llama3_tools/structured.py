"""Structured output: the object that a message has, or one kind of error that says why it has none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.utils.json import parse_partial_json

from llama3_tools import Tool
from llama3_tools.chat import REFUSED_TOOL_CALLS, arguments_so_far

PREVIEW = "llama3_tools_preview"
"""Where chunks have what the model wrote, among the `additional_kwargs`, by how often it had been asked again."""


class ObjectReader:
    """Reads the arguments of a tool that had to be called, as an object of a schema.

    >>> reader = ObjectReader(Tool("Person"), None, lambda name, arguments: [], include_raw=False)
    >>> reader.read(AIMessage("No."))
    Traceback (most recent call last):
    langchain_core.exceptions.OutputParserException: The model gave no object that fits: it wrote 'No.'
    ...
    """

    def __init__(
        self,
        tool: Tool,
        schema: type | None,
        misfits: Callable[..., list[str]],
        *,
        include_raw: bool,
        starts_reasoning: bool = False,
    ) -> None:
        """Keep the tool, the pydantic class for its arguments, if any, and what lists the arguments that do not fit."""
        self._tool, self._schema, self._misfits, self._include_raw = tool, schema, misfits, include_raw
        self._starts_reasoning = starts_reasoning
        self.previews = schema is None and not include_raw
        """Whether a stream yields the object while it is written."""

    def read(self, message: AIMessage) -> Any:  # noqa: ANN401 (of the schema)
        """Return the object, or raise `OutputParserException`. With `include_raw`, the message comes with either."""
        try:
            parsed, error = self._object_in(message), None
        except OutputParserException as misfit:
            if not self._include_raw:
                raise
            parsed, error = None, misfit
        return {"raw": message, "parsed": parsed, "parsing_error": error} if self._include_raw else parsed

    def stream(self, chunks: Iterator[AIMessage]) -> Iterator[Any]:
        """Yield the object as far as it is written, and at the end the one that counts."""
        preview, arrived = _Preview(self._tool, starts_reasoning=self._starts_reasoning), list[AIMessage]()
        for chunk in chunks:
            arrived.append(chunk)
            if self.previews and (found := preview.add(chunk)):
                yield found
        yield from self._last(arrived, preview)

    async def astream(self, chunks: AsyncIterator[AIMessage]) -> AsyncIterator[Any]:
        """Yield the object as `stream` does."""
        preview, arrived = _Preview(self._tool, starts_reasoning=self._starts_reasoning), list[AIMessage]()
        async for chunk in chunks:
            arrived.append(chunk)
            if self.previews and (found := preview.add(chunk)):
                yield found
        for found in self._last(arrived, preview):
            yield found

    def _last(self, arrived: list[AIMessage], preview: _Preview) -> Iterator[Any]:
        first, *others = arrived
        whole = self.read(first + others if others else first)  # type: ignore[arg-type]  # chunks, all at once
        if whole != preview.last:
            yield whole

    def _object_in(self, message: AIMessage) -> Any:  # noqa: ANN401 (the same)
        calls = [call["args"] for call in message.tool_calls if call["name"] == self._tool.name]
        # After a retry, an agent's tool gets a call that does not fit.
        if problems := self._misfits(self._tool.name, calls[0]) if calls else [_why_none(message)]:
            raise _no_object("; ".join(problems), message)
        if self._schema is None:
            return calls[0]
        try:
            return self._schema(**calls[0])
        except Exception as error:  # validators raise what they like
            raise _no_object(str(error), message) from error


def _no_object(why: str, message: AIMessage) -> OutputParserException:
    return OutputParserException(f"The model gave no object that fits: {why}", llm_output=str(message.text))


def _why_none(message: AIMessage) -> str:
    if refused := message.response_metadata.get(REFUSED_TOOL_CALLS):
        return "; ".join(call["detail"] for call in refused)
    if message.tool_calls:
        return f"it called {message.tool_calls[0]['name']!r}"
    return f"it wrote {str(message.text)!r:.200}"


def written_in(chunk: BaseMessage) -> str:
    """Return what a model has written in a chunk: text, or a piece of the arguments of a call that its server found."""
    if chunk.text or not isinstance(chunk, AIMessageChunk):
        return str(chunk.text)
    return "".join(piece["args"] or "" for piece in chunk.tool_call_chunks)


class _Preview:
    """The arguments of a tool, as far as they are written. If the model is asked again, they begin anew.

    >>> preview = _Preview(Tool("Person", parameters={"type": "object", "properties": {"name": {}, "age": {}}}))
    >>> pieces = ['Sure: {"name": "Al', '", "a', 'ge": 3']
    >>> [preview.add(AIMessageChunk("", additional_kwargs={PREVIEW: {"0": piece}})) for piece in pieces]
    [{'name': 'Al'}, None, {'name': 'Al', 'age': 3}]
    """

    def __init__(self, tool: Tool, *, starts_reasoning: bool = False) -> None:
        """Begin with nothing."""
        self._tool, self._starts_reasoning = tool, starts_reasoning
        self._answer = self._written = ""
        self.last: dict[str, Any] | None = None
        """The last object that was returned."""

    def add(self, chunk: AIMessage) -> dict[str, Any] | None:
        """Read the next chunk, and return the object, if it has changed. A whole message has no preview."""
        pieces = chunk.additional_kwargs.get(PREVIEW) if isinstance(chunk, AIMessageChunk) else None
        if not pieces:
            return None
        [(answer, piece)] = pieces.items()
        self._written = self._written + piece if answer == self._answer else piece
        self._answer = answer
        found = arguments_so_far(self._written, self._tool, parse_partial_json, starts_reasoning=self._starts_reasoning)
        if not found or found == self.last:
            return None
        self.last = found
        return found
