"""Streams of responses with text and calls apart: a machine without I/O, and its two ways in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace

from llama_index.core.llms import ChatMessage, ChatResponse

from llama3_tools import Event, Extraction, Extractor, TextDelta, ToolCallReady
from llama_index_llama3_tools.messages import (
    AnyResponse,
    CallParts,
    as_chat_response,
    assistant_message,
    has_native_calls,
    promote_message,
)

__all__ = ["NewText", "ResponseStream", "astream_responses", "closing", "stream_responses"]


class ResponseStream:
    """One streamed turn: it is fed the responses of an LLM and gives each back with text and calls apart.

    Every response comes back as one response, with its raw answer, its log probabilities and its additional arguments.
    `delta` is text that is content, perhaps empty; `message` holds the text so far and the calls that are complete.

    Args:
        extractor: finds the calls.
        only_first: whether all calls but the first are dropped.
    """

    def __init__(self, extractor: Extractor, *, only_first: bool = False) -> None:
        self._stream = extractor.stream()
        self._only_first = only_first
        self._source = NewText()
        self._text = ""
        self._calls = CallParts()
        self._last: ChatResponse | None = None
        self._given: ChatMessage | None = None
        self._native = False

    @property
    def output(self) -> str:
        """The model output so far, as it came."""
        return self._source.output

    @property
    def extraction(self) -> Extraction | None:
        """What was extracted, once flushed; `None` where the server found the calls itself."""
        return None if self._native else self._stream.extraction

    def feed(self, response: AnyResponse) -> ChatResponse:
        """Take the next response of the LLM, and give it back with text and calls apart.

        Raises:
            TypeError: it is neither a `ChatResponse` nor a `CompletionResponse`.
        """
        self._last = as_chat_response(response)
        message, new = self._last.message, self._source.of(self._last)
        if not self._native and has_native_calls(message):
            self._native = True
            new = self._take(self._stream.flush()) + new
        if self._native:
            return self._last.model_copy(update={"delta": new})
        delta = self._take(self._stream.feed(new))
        self._given = assistant_message(self._text, self._calls, like=message)
        return self._last.model_copy(update={"delta": delta, "message": self._given})

    def flush(self) -> list[ChatResponse]:
        """End the turn: one more response where something was held back, or where the whole reads otherwise.

        It repeats the raw answer and the additional arguments of the last response, for that is where LlamaIndex looks
        for the usage. Its message holds what the extraction of the whole output gives.
        """
        if self._native:
            return []
        delta = self._take(self._stream.flush())
        if self._last is None or self._given is None:
            return []
        extraction = self._stream.extraction
        if self._only_first:
            extraction = replace(extraction, tool_calls=extraction.tool_calls[:1])
        message = promote_message(self._last.message, extraction)
        if not delta and message == self._given:
            return []
        # A delta belongs to one response alone, and so does a piece of the reasoning.
        kwargs = {key: value for key, value in self._last.additional_kwargs.items() if key != "thinking_delta"}
        changes = {"delta": delta, "message": message, "logprobs": None, "additional_kwargs": kwargs}
        return [self._last.model_copy(update=changes)]

    def _take(self, events: Iterable[Event]) -> str:
        """Note what has become certain, and give the text of it."""
        delta = ""
        for event in events:
            if isinstance(event, TextDelta):
                delta += event.text
            elif isinstance(event, ToolCallReady) and not (self._only_first and self._calls.blocks):
                self._calls.add(event.tool_call)
        self._text += delta
        return delta


class NewText:
    """What each response adds to the text, whichever way its LLM streams.

    A delta says it. Without one, the content does: LlamaIndex asks for the whole text so far, and what goes beyond the
    text seen is new. Some LLMs give the next piece instead: a content that does not go on from the text seen, in a
    stream without deltas, is taken for one.
    """

    def __init__(self) -> None:
        self.output = ""
        """The text so far."""
        self._has_deltas = False

    def of(self, response: ChatResponse) -> str:
        """Give what a response adds."""
        new = response.delta or self._beyond_seen(response)
        self._has_deltas = self._has_deltas or response.delta is not None
        self.output += new
        return new

    def _beyond_seen(self, response: ChatResponse) -> str:
        content = response.message.content or ""
        if content.startswith(self.output):
            return content[len(self.output) :]
        return "" if self._has_deltas or response.delta is not None else content


def stream_responses(responses: Iterable[AnyResponse], turn: ResponseStream) -> Generator[ChatResponse, None, None]:
    """Send a stream of responses through a turn. Where the stream breaks, what was held back is not lost."""
    try:
        for response in responses:
            yield turn.feed(response)
    except Exception:
        yield from turn.flush()
        raise
    yield from turn.flush()


async def astream_responses(
    responses: AsyncIterable[AnyResponse], turn: ResponseStream
) -> AsyncGenerator[ChatResponse, None]:
    """Send an asynchronous stream of responses through a turn; closing it closes the stream at once.

    Where the stream breaks, what was held back is not lost.
    """
    async with closing(responses):
        try:
            async for response in responses:
                yield turn.feed(response)
        except Exception:
            for response in turn.flush():
                yield response
            raise
        for response in turn.flush():
            yield response


@asynccontextmanager
async def closing(responses: AsyncIterable[AnyResponse]) -> AsyncIterator[None]:
    """Close a stream at the end, where it can be closed."""
    try:
        yield
    finally:
        if isinstance(responses, AsyncGenerator):
            await responses.aclose()
