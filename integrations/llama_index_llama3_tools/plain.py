"""An LLM around another one: requests without tools are the other's, and its errors say what to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Sequence
from typing import Any, TypeVar

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
from llama_index.core.llms.loading import load_llm

from llama_index_llama3_tools.errors import LLMRequestError
from llama_index_llama3_tools.hints import NO_RESPONSE, explained
from llama_index_llama3_tools.messages import as_chat_response
from llama_index_llama3_tools.streaming import NewText, closing

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
    """Answers plain requests as the LLM inside does. That one also tells the callbacks, once.

    Args:
        llm: the LLM that answers.
        **kwargs: fields; those that all LLMs have are taken from `llm` where they are not given.

    Raises:
        TypeError: `llm` is no LLM of LlamaIndex, or a field is none.
    """

    llm: SerializeAsAny[LLM] = Field(description="The LLM that answers.")

    def __init__(self, llm: LLM, **kwargs: Any) -> None:  # noqa: ANN401 (the fields of all LLMs, and of a subclass)
        unknown = sorted(set(kwargs) - set(type(self).model_fields))
        if unknown:
            own = ", ".join(name for name in type(self).model_fields if name not in LLMAround.model_fields)
            raise TypeError(f"{type(self).__name__} has no option {unknown[0]!r}: its own are {own}")
        inherited = {name: getattr(llm, name) for name in _INHERITED if hasattr(llm, name)}
        super().__init__(llm=llm, **{**inherited, **kwargs})

    @field_validator("llm", mode="before")
    @classmethod
    def _load(cls, llm: object) -> LLM:
        """Take an LLM, or the dict of one that LlamaIndex can load."""
        if isinstance(llm, dict):
            return load_llm(llm)
        if not isinstance(llm, LLM):
            raise TypeError(f"{cls.__name__} wraps an LLM of LlamaIndex, got {type(llm).__name__}")
        return llm

    @abstractmethod
    def _flatten(self, messages: Iterable[ChatMessage]) -> list[ChatMessage]:
        """Give a conversation as the LLM inside is sent it."""

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:  # noqa: ANN401 (the framework's signature)
        """Let the LLM answer a conversation without tools. Calls and results in the history are sent as text."""
        with explained(self.llm):
            return self.llm.chat(self._flatten(messages), **kwargs)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:  # noqa: ANN401 (the same)
        """Let the LLM answer a conversation without tools; see `chat`."""
        with explained(self.llm):
            return await self.llm.achat(self._flatten(messages), **kwargs)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:  # noqa: ANN401 (the same)
        """Let the LLM stream its answer to a conversation without tools; see `chat`."""
        with explained(self.llm):
            return _passed_on(self.llm.stream_chat(self._flatten(messages), **kwargs), self.llm)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:  # noqa: ANN401 (the same)
        """Let the LLM stream its answer to a conversation without tools; see `chat`."""
        with explained(self.llm):
            return _apassed_on(await self.llm.astream_chat(self._flatten(messages), **kwargs), self.llm)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ANN401, FBT001, FBT002 (the same)
        """Let the LLM complete a text."""
        with explained(self.llm):
            return self.llm.complete(prompt, formatted=formatted, **kwargs)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ANN401, FBT001, FBT002 (the same)
        """Let the LLM complete a text."""
        with explained(self.llm):
            return await self.llm.acomplete(prompt, formatted=formatted, **kwargs)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:  # noqa: ANN401, FBT001, FBT002 (the same)
        """Let the LLM stream the completion of a text."""
        with explained(self.llm):
            return _passed_on(self.llm.stream_complete(prompt, formatted=formatted, **kwargs), self.llm)

    async def astream_complete(
        self,
        prompt: str,
        formatted: bool = False,  # noqa: FBT001, FBT002 (the same)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> CompletionResponseAsyncGen:
        """Let the LLM stream the completion of a text."""
        with explained(self.llm):
            responses = await self.llm.astream_complete(prompt, formatted=formatted, **kwargs)
            return _apassed_on(responses, self.llm)


def _passed_on(responses: Iterable[_Response], llm: LLM) -> Generator[_Response, None, None]:
    text, response = NewText(), None
    with explained(llm, text):
        for response in responses:
            text.of(as_chat_response(response))
            yield response
    if response is None:
        raise LLMRequestError(NO_RESPONSE)


async def _apassed_on(responses: AsyncIterable[_Response], llm: LLM) -> AsyncGenerator[_Response, None]:
    text, response = NewText(), None
    async with closing(responses):
        with explained(llm, text):
            async for response in responses:
                text.of(as_chat_response(response))
                yield response
    if response is None:
        raise LLMRequestError(NO_RESPONSE)
