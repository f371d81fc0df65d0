"""Streams of responses with text and calls apart: a machine without I/O, and its two ways in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeVar

from llama_index.core.llms import ChatMessage, ChatResponse

from llama3_tools import Event, Extraction, ExtractionStream, ReasoningDelta, TextDelta, ToolCallReady
from llama3_tools.chat.finish_reason import finish_reason_in, is_complete
from llama3_tools.text.growing_text import GrowingText
from llama_index_llama3_tools.messages import (
    AnyResponse,
    CallParts,
    as_chat_response,
    assistant_message,
    has_native_calls,
    promote_message,
)
from llama_index_llama3_tools.reading import TextReader
from llama_index_llama3_tools.reasoning import has_reasoning, with_thinking_delta, without_thinking_delta

__all__ = ["HeldStream", "NewText", "ResponseStream", "astream_responses", "stream_responses"]

_Given_contra = TypeVar("_Given_contra", contravariant=True)
_Shown_co = TypeVar("_Shown_co", covariant=True)


class ResponseStream:
    """One streamed turn: it is fed the responses of an LLM and gives each back with text, reasoning and calls apart.

    Every response comes back as one response, with its raw answer, its log probabilities and its additional arguments.
    `delta` is text that is content, perhaps empty; `message` holds the text so far, the reasoning split off so far, and
    the calls that are complete. What is new of that reasoning is in the additional argument `thinking_delta`.

    Args:
        reader: chooses what finds the calls.
        only_first: whether all calls but the first are dropped.
    """

    def __init__(self, reader: TextReader, *, only_first: bool = False) -> None:
        self._reader = reader
        self._stream: ExtractionStream | None = None
        self._only_first = only_first
        self._source = NewText()
        self._read = _Read()
        self._calls = CallParts()
        self._last: ChatResponse | None = None
        self._given: ChatMessage | None = None
        self._native = False
        self._finish_reason: str | None = None
        self.has_reasoning = False
        """Whether the server has split reasoning off itself."""

    @property
    def output(self) -> str:
        """The model output so far, as it came."""
        return self._source.output

    @property
    def extraction(self) -> Extraction | None:
        """What was extracted, once flushed; `None` where the server found the calls itself."""
        return None if self._native or self._stream is None else self._stream.extraction

    def feed(self, response: AnyResponse) -> ChatResponse:
        """Take the next response of the LLM, and give it back with text, reasoning and calls apart.

        Raises:
            TypeError: it is neither a `ChatResponse` nor a `CompletionResponse`.
        """
        self._last = as_chat_response(response)
        self._finish_reason = finish_reason_in(self._last.raw) or self._finish_reason
        self.has_reasoning = self.has_reasoning or has_reasoning(self._last)
        before, new = self._read, self._source.of(self._last)
        is_anew = not self._native and has_native_calls(self._last.message)
        if is_anew:
            self._end_calls(self.output[: -len(new) or None])
        if self._native and not self._reader.splits_reasoning:
            held = self._read.text[len(before.text) :]
            return self._last.model_copy(update={"delta": held + new})
        fresh = self._take(self._begin().feed(new)) if new else _Read()
        if is_anew:
            fresh = _Read(*map(_beyond, self._read, before))
        text, reasoning = self._read
        self._given = assistant_message(text, self._calls, reasoning=reasoning, like=self._last.message)
        return self._changed(self._last, self._given, fresh)

    def flush(self, *, broke_off: bool = False) -> list[ChatResponse]:
        """End the turn: one more response where something was held back, or where the whole reads otherwise.

        It repeats the raw answer and the additional arguments of the last response, for that is where LlamaIndex looks
        for the usage. Its message holds what the extraction of the whole output gives.

        Args:
            broke_off: whether the stream broke: what was held back is text then, and no call (rule 7).
        """
        if self._native and not self._reader.splits_reasoning:
            return []
        stream = self._begin()
        ended = stream.abort() if broke_off else stream.flush(complete=is_complete(self._finish_reason))
        fresh = self._take(ended)
        if self._last is None or self._given is None:
            return []
        extraction = stream.extraction
        if self._only_first:
            extraction = replace(extraction, tool_calls=extraction.tool_calls[:1])
        message = promote_message(self._last.message, extraction)
        if not any(fresh) and message == self._given:
            return []
        # What belongs to a delta belongs to one response alone.
        kwargs = without_thinking_delta(self._last.additional_kwargs)
        last = self._last.model_copy(update={"logprobs": None, "additional_kwargs": kwargs})
        return [self._changed(last, message, fresh)]

    def _begin(self) -> ExtractionStream:
        """Begin to read with the first text: what the server sends before it tells how."""
        if self._stream is None:
            extractor = self._reader.choose(has_reasoning=self.has_reasoning, has_calls=self._native)
            self._stream = extractor.stream()
        return self._stream

    def _end_calls(self, output: str) -> None:
        """Look for calls no more, as the server finds them; but for reasoning, in all that has come."""
        if self._reader.splits_reasoning:
            self._native, self._stream, self._read, self._calls = True, None, _Read(), CallParts()
            self._take(self._begin().feed(output))
        else:
            self._take(self._begin().abort())
            self._native = True

    def _take(self, events: Iterable[Event]) -> _Read:
        """Note what has become certain, and give what is new of it.

        What has been read so far is copied for it, as the response's message holds all of it.
        """
        texts: list[str] = []
        thoughts: list[str] = []
        for event in events:
            if isinstance(event, TextDelta):
                texts.append(event.text)
            elif isinstance(event, ReasoningDelta):
                thoughts.append(event.text)
            elif isinstance(event, ToolCallReady) and not (self._only_first and self._calls.blocks):
                self._calls.add(event.tool_call)
        fresh = _Read("".join(texts), "".join(thoughts))
        self._read = _Read(self._read.text + fresh.text, self._read.reasoning + fresh.reasoning)
        return fresh

    def _changed(self, response: ChatResponse, message: ChatMessage, fresh: _Read) -> ChatResponse:
        """Return a response with another message, and with what is new in it."""
        changes = {"delta": fresh.text, "message": message}
        if fresh.reasoning:
            is_first = fresh.reasoning == self._read.reasoning
            blank = "\n\n" if self.has_reasoning and is_first else ""
            changes["additional_kwargs"] = with_thinking_delta(response.additional_kwargs, blank + fresh.reasoning)
        return response.model_copy(update=changes)


class HeldStream:
    """A streamed turn that is shown once all of it is known to be right.

    The responses are held back as they came, without the text that each of them repeats: those that are shown hold the
    text so far, and all of them at once would take memory that grows with its square.

    Args:
        reader: chooses what finds the calls.
    """

    def __init__(self, reader: TextReader) -> None:
        self._reader = reader
        self._source = NewText()
        self._held: list[ChatResponse] = []
        self._native = False
        self.turn = ResponseStream(reader)
        """All of the turn, read."""

    def feed(self, response: AnyResponse) -> None:
        """Take the next response; see `ResponseStream.feed`."""
        self.turn.feed(response)
        chat = as_chat_response(response)
        message = chat.message
        self._native = self._native or has_native_calls(message)
        if not self._native:
            message = assistant_message("", (), like=message)
        self._held.append(chat.model_copy(update={"message": message, "delta": self._source.of(chat)}))

    def flush(self, *, broke_off: bool = False) -> list[None]:
        """End the turn; see `ResponseStream.flush`."""
        self.turn.flush(broke_off=broke_off)
        return []

    def shown(self) -> Generator[ChatResponse, None, None]:
        """Return what a `ResponseStream` makes of the turn."""
        return stream_responses(self._held, ResponseStream(self._reader))


class _Read(NamedTuple):
    """What has been read, as far as it is certain."""

    text: str = ""
    reasoning: str = ""


def _beyond(text: str, shown: str) -> str:
    """Return what a text has beyond what has been shown; nothing where it has turned out to be another one."""
    return text[len(shown) :] if text.startswith(shown) else ""


class NewText:
    """What each response adds to the text, whichever way its LLM streams.

    A delta says it. Without one, the content does: LlamaIndex asks for the whole text so far, and what goes beyond the
    text seen is new. Some LLMs give the next piece instead: a content that does not go on from the text seen, in a
    stream without deltas, is taken for one.
    """

    def __init__(self) -> None:
        self._seen = ""
        self._pieces = GrowingText()
        self._length = 0
        self._has_deltas = False

    @property
    def output(self) -> str:
        """The text so far."""
        if self._pieces:
            self._seen += self._pieces.joined()
            self._pieces = GrowingText()
        return self._seen

    def of(self, response: ChatResponse) -> str:
        """Return what a response adds."""
        self._has_deltas = self._has_deltas or response.delta is not None
        return self._add(response.delta) if response.delta else self._of_content(response.message.content or "")

    def _of_content(self, content: str) -> str:
        if self._has_deltas and len(content) <= self._length:
            return ""
        if len(content) >= self._length and content.startswith(self.output):
            new = content[self._length :]
            self._seen, self._length = content, len(content)
            return new
        return "" if self._has_deltas else self._add(content)

    def _add(self, new: str) -> str:
        self._pieces.add(new)
        self._length += len(new)
        return new


class Turn(Protocol[_Given_contra, _Shown_co]):
    """What a stream of responses is sent through."""

    def feed(self, response: _Given_contra, /) -> _Shown_co:
        """Take the next response, and give what is shown of it."""

    def flush(self, *, broke_off: bool = False) -> Iterable[_Shown_co]:
        """End the stream, or take it that it broke, and give what is shown after it."""


def stream_responses(
    responses: Iterable[_Given_contra], turn: Turn[_Given_contra, _Shown_co]
) -> Generator[_Shown_co, None, None]:
    """Send a stream of responses through a turn. Where the stream breaks, what was held back is text, and no call."""
    try:
        for response in responses:
            yield turn.feed(response)
    except Exception:
        yield from turn.flush(broke_off=True)
        raise
    yield from turn.flush()


async def astream_responses(
    responses: AsyncIterable[_Given_contra], turn: Turn[_Given_contra, _Shown_co]
) -> AsyncGenerator[_Shown_co, None]:
    """Send an asynchronous stream of responses through a turn; closing it closes the stream at once.

    Where the stream breaks, what was held back is text, and no call.
    """
    async with _closing(responses):
        try:
            async for response in responses:
                yield turn.feed(response)
        except Exception:
            for shown in turn.flush(broke_off=True):
                yield shown
            raise
        for shown in turn.flush():
            yield shown


@asynccontextmanager
async def _closing(responses: AsyncIterable[object]) -> AsyncIterator[None]:
    """Close a stream at the end, where it can be closed."""
    try:
        yield
    finally:
        if isinstance(responses, AsyncGenerator):
            await responses.aclose()
