"""An LLM around another one: requests without tools are the other's, but for reasoning, and errors say what to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Sequence
from contextlib import aclosing
from typing import Any, Generic, TypeVar

from llama_index.core.bridge.pydantic import Field, SerializeAsAny, field_validator
from llama_index.core.llms import (
    LLM,
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM

from llama3_tools.errors import require_options
from llama_index_llama3_tools.errors import LLMRequestError
from llama_index_llama3_tools.hints import NO_RESPONSE, explained
from llama_index_llama3_tools.messages import as_chat_response, promote_message
from llama_index_llama3_tools.reading import TextReader
from llama_index_llama3_tools.reasoning import reasoning_of, without_thinking_delta
from llama_index_llama3_tools.streaming import NewText, ResponseStream, astream_responses, stream_responses

__all__ = ["LLMAround"]

# What `predict` and the like look up on the LLM that they are called on.
_INHERITED = (
    "callback_manager",
    "system_prompt",
    "messages_to_prompt",
    "completion_to_prompt",
    "output_parser",
    "pydantic_program_mode",
    "query_wrapper_prompt",
)

_Response = TypeVar("_Response", ChatResponse, CompletionResponse)


class LLMAround(FunctionCallingLLM, ABC):
    """Answers plain requests as the LLM inside does, reasoning apart. That one also tells the callbacks, once.

    Args:
        llm: the LLM that answers.
        **kwargs: fields; those that all LLMs have are taken from `llm` where they are not given.

    Raises:
        TypeError: `llm` is no LLM of LlamaIndex, or a field is none.
    """

    llm: SerializeAsAny[LLM] = Field(description="The LLM that answers.")

    def __init__(self, llm: LLM, **kwargs: Any) -> None:  # noqa: ANN401 (the fields of all LLMs, and of a subclass)
        fields = type(self).model_fields
        unknown = [name for name in kwargs if name not in fields]
        require_options(type(self).__name__, unknown, (name for name in fields if name not in LLMAround.model_fields))
        inherited = {name: getattr(llm, name) for name in _INHERITED if hasattr(llm, name)}
        super().__init__(llm=llm, **{**inherited, **kwargs})

    @field_validator("llm", mode="before")
    @classmethod
    def _load(cls, llm: object) -> LLM:
        """Take an LLM, or the dict of one that LlamaIndex can load."""
        if isinstance(llm, dict):
            from llama_index.core.llms.loading import load_llm  # noqa: PLC0415 (it imports every LLM that is installed)

            return load_llm(llm)
        if not isinstance(llm, LLM):
            raise TypeError(f"{cls.__name__} wraps an LLM of LlamaIndex, got {type(llm).__name__}")
        return llm

    @abstractmethod
    def _flatten(self, messages: Iterable[ChatMessage]) -> list[ChatMessage]:
        """Return a conversation as the LLM inside is sent it."""

    @abstractmethod
    def _plain_reader(self) -> TextReader:
        """Return what reads the answers; they are passed on as they are where it splits no reasoning off."""

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:  # noqa: ANN401 (the framework's signature)
        """Let the LLM answer a conversation without tools. Calls and results in the history are sent as text."""
        with explained(self.llm):
            return _apart(self.llm.chat(self._flatten(messages), **kwargs), self._plain_reader())

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:  # noqa: ANN401 (the same)
        """Let the LLM answer a conversation without tools; see `chat`."""
        with explained(self.llm):
            return _apart(await self.llm.achat(self._flatten(messages), **kwargs), self._plain_reader())

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:  # noqa: ANN401 (the same)
        """Let the LLM stream its answer to a conversation without tools; see `chat`."""
        with explained(self.llm):
            responses = self.llm.stream_chat(self._flatten(messages), **kwargs)
            return _passed_on(responses, self.llm, self._plain_reader())

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:  # noqa: ANN401 (the same)
        """Let the LLM stream its answer to a conversation without tools; see `chat`."""
        with explained(self.llm):
            responses = await self.llm.astream_chat(self._flatten(messages), **kwargs)
            return _apassed_on(responses, self.llm, self._plain_reader())

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ANN401, FBT001, FBT002 (the same)
        """Let the LLM complete a text."""
        with explained(self.llm):
            return _apart(self.llm.complete(prompt, formatted=formatted, **kwargs), self._plain_reader())

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ANN401, FBT001, FBT002 (the same)
        """Let the LLM complete a text."""
        with explained(self.llm):
            return _apart(await self.llm.acomplete(prompt, formatted=formatted, **kwargs), self._plain_reader())

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:  # noqa: ANN401, FBT001, FBT002 (the same)
        """Let the LLM stream the completion of a text."""
        with explained(self.llm):
            responses = self.llm.stream_complete(prompt, formatted=formatted, **kwargs)
            return _passed_on(responses, self.llm, self._plain_reader())

    async def astream_complete(
        self,
        prompt: str,
        formatted: bool = False,  # noqa: FBT001, FBT002 (the same)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> CompletionResponseAsyncGen:
        """Let the LLM stream the completion of a text."""
        with explained(self.llm):
            responses = await self.llm.astream_complete(prompt, formatted=formatted, **kwargs)
            return _apassed_on(responses, self.llm, self._plain_reader())


def _passed_on(responses: Iterable[_Response], llm: LLM, reader: TextReader) -> Generator[_Response, None, None]:
    answer, response = _PlainStream[_Response](reader), None
    with explained(llm, answer):
        for response in stream_responses(responses, answer):
            yield response
    if response is None:
        raise LLMRequestError(NO_RESPONSE)


async def _apassed_on(
    responses: AsyncIterable[_Response], llm: LLM, reader: TextReader
) -> AsyncGenerator[_Response, None]:
    answer, response = _PlainStream[_Response](reader), None
    with explained(llm, answer):
        async with aclosing(astream_responses(responses, answer)) as shown:
            async for response in shown:
                yield response
    if response is None:
        raise LLMRequestError(NO_RESPONSE)


class _PlainStream(Generic[_Response]):
    """A streamed answer without tools: as it comes, or with reasoning apart."""

    def __init__(self, reader: TextReader) -> None:
        self._apart = ResponseStream(reader) if reader.splits_reasoning else None
        self._text = NewText()
        self._last: _Response | None = None

    @property
    def output(self) -> str:
        return self._text.output

    def feed(self, response: _Response, /) -> _Response:
        self._last = response
        self._text.of(as_chat_response(response))
        return response if self._apart is None else _like(response, self._apart.feed(response))

    def flush(self, *, broke_off: bool = False) -> list[_Response]:
        if self._apart is None or self._last is None:
            return []
        return [_like(self._last, ending) for ending in self._apart.flush(broke_off=broke_off)]


def _apart(response: _Response, reader: TextReader) -> _Response:
    """Return an answer with reasoning apart."""
    if not reader.splits_reasoning:
        return response
    chat = as_chat_response(response)
    return _like(response, chat.model_copy(update={"message": promote_message(chat.message, reader.extract(chat))}))


def _like(response: _Response, chat: ChatResponse) -> _Response:
    """Return a chat response as the kind of response that it was made of; a completion has no blocks for reasoning."""
    if isinstance(response, CompletionResponse):
        kwargs = {**without_thinking_delta(response.additional_kwargs), **chat.additional_kwargs}
        reasoning = reasoning_of(chat.message)
        kwargs |= {"thinking": reasoning} if reasoning else {}
        changes = {"text": chat.message.content or "", "delta": chat.delta, "logprobs": chat.logprobs}
        return response.model_copy(update={**changes, "additional_kwargs": kwargs})
    return chat
