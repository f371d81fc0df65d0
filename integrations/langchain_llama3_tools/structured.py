"""Structured output: the object that a message has, or one kind of error that says why it has none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage

from langchain_llama3_tools.previews import Preview
from llama3_tools import Tool
from llama3_tools.chat import REFUSED_TOOL_CALLS


class ObjectReader:
    """Reads the object of a schema in the messages of a model that had to call its tool.

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
        misfits: Callable[[str, dict[str, Any]], list[str]],
        *,
        include_raw: bool,
    ) -> None:
        """Keep what to read.

        Args:
            tool: the tool that the model was shown.
            schema: the pydantic class to make of the arguments; `None`: they are the object.
            misfits: says what does not fit in a call's arguments.
            include_raw: whether the message is returned, too, and an error beside it rather than raised.
        """
        self._tool, self._schema, self._misfits, self._include_raw = tool, schema, misfits, include_raw
        self.previews = schema is None and not include_raw
        """Whether a stream yields the object while it is written."""

    def read(self, message: AIMessage) -> Any:  # noqa: ANN401 (of the schema)
        """Return the object, or, with `include_raw`, what LangChain returns with it.

        Raises:
            OutputParserException: there is none that fits.
        """
        try:
            parsed, error = self._object_in(message), None
        except OutputParserException as misfit:
            if not self._include_raw:
                raise
            parsed, error = None, misfit
        return {"raw": message, "parsed": parsed, "parsing_error": error} if self._include_raw else parsed

    def stream(self, chunks: Iterator[AIMessage]) -> Iterator[Any]:
        """Yield the object as far as it is written, and at the end the one that counts."""
        preview, arrived = self._preview(), list[AIMessage]()
        for chunk in chunks:
            arrived.append(chunk)
            if self.previews and (found := preview.add(chunk)):
                yield found
        yield from self._last(arrived, preview)

    async def astream(self, chunks: AsyncIterator[AIMessage]) -> AsyncIterator[Any]:
        """Yield the object as `stream` does."""
        preview, arrived = self._preview(), list[AIMessage]()
        async for chunk in chunks:
            arrived.append(chunk)
            if self.previews and (found := preview.add(chunk)):
                yield found
        for found in self._last(arrived, preview):
            yield found

    def _preview(self) -> Preview:
        return Preview(self._tool.name, self._tool.arguments_schema.get("properties") or ())

    def _last(self, arrived: list[AIMessage], preview: Preview) -> Iterator[Any]:
        first, *others = arrived
        whole = self.read(first + others if others else first)  # type: ignore[operator, arg-type]  # chunks, all at once
        if whole != preview.last:
            yield whole

    def _object_in(self, message: AIMessage) -> Any:  # noqa: ANN401 (the same)
        calls = [call["args"] for call in message.tool_calls if call["name"] == self._tool.name]
        if not calls:
            raise self._no_object(_why_none(message), message)
        if problems := self._misfits(self._tool.name, calls[0]):  # after a retry, a call runs even so
            raise self._no_object("; ".join(problems), message)
        if self._schema is None:
            return calls[0]
        try:
            return self._schema(**calls[0])
        except Exception as error:  # validators raise what they like
            raise self._no_object(str(error), message) from error

    @staticmethod
    def _no_object(why: str, message: AIMessage) -> OutputParserException:
        return OutputParserException(f"The model gave no object that fits: {why}", llm_output=str(message.text))


def _why_none(message: AIMessage) -> str:
    if refused := message.response_metadata.get(REFUSED_TOOL_CALLS):
        return "; ".join(call["detail"] for call in refused)
    if message.tool_calls:
        return f"it called {message.tool_calls[0]['name']!r}"
    return f"it wrote {str(message.text)!r:.200}"
