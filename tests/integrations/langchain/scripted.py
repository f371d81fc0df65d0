"""A chat model that streams the chunks a test chooses, and what is needed to compare what comes out."""

from __future__ import annotations

import itertools
import operator
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.utils import message_chunk_to_message
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.version import VERSION
from packaging.version import Version

CALL = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
"""A call, as Llama 3.1 writes it."""

CUT_OFF = '{"name": "get_weather", "parameters": {"city": "Par'
"""A call that the model did not finish, and that LangChain's partial JSON parser would finish for it."""


class ScriptedChatModel(BaseChatModel):
    """Answers with its chunks: their sum, or one by one."""

    chunks: list[Any]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del messages, stop, run_manager, kwargs
        return ChatResult(generations=[ChatGeneration(message=summed(self.chunks))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        del messages, stop, run_manager, kwargs
        for chunk in self.chunks:
            yield ChatGenerationChunk(message=chunk.model_copy(deep=True))


def counted_ids() -> Callable[[], str]:
    """Return an id factory whose ids can be foretold: `call_0`, `call_1`, …"""
    numbers = itertools.count()
    return lambda: f"call_{next(numbers)}"


def summed(chunks: Iterable[BaseMessage]) -> AIMessage:
    """Add chunks up and give the message, as a client does that wants both."""
    message = message_chunk_to_message(reduce(operator.add, chunks))
    assert isinstance(message, AIMessage)
    return message


async def keep(stream: AsyncIterator[Any], into: list[Any]) -> None:
    """Keep what a stream yields, whatever happens then."""
    async for one in stream:
        into.append(one)  # noqa: PERF401 (a comprehension would lose them)


def streamed(parser: Runnable[Any, AIMessage], chunks: Sequence[str | BaseMessage]) -> list[AIMessageChunk]:
    """Stream chunks through a parser."""
    out = list(parser.transform(iter(chunks)))
    assert all(isinstance(chunk, AIMessageChunk) for chunk in out)
    return out  # type: ignore[return-value]


def fields(message: BaseMessage) -> dict[str, Any]:
    """Return all fields of a message, without what LangChain's sum of chunks has no room for, or adds.

    It numbers blocks, and knows no error of an invalid call. A block without text leaves nothing behind in a stream.
    """
    dumped = message.model_dump()
    for call in dumped.get("invalid_tool_calls", ()):
        del call["error"]
    if isinstance(message.content, list):
        dumped["content"] = [
            {key: value for key, value in block.items() if key != "index"} if isinstance(block, dict) else block
            for block in message.content
            if not (isinstance(block, dict) and block.get("text") == "")
        ]
    return dumped


def as_text_chunks(pieces: list[str]) -> list[AIMessageChunk]:
    """Return pieces as a server with string content sends them: an empty chunk, the text, and what comes last."""
    return [
        AIMessageChunk(content="", id="chatcmpl-1", response_metadata={"model_provider": "openai"}),
        *(AIMessageChunk(content=piece, id="chatcmpl-1") for piece in pieces),
        AIMessageChunk(
            content="", id="chatcmpl-1", response_metadata={"finish_reason": "stop", "model_name": "llama3.1"}
        ),
        AIMessageChunk(
            content="", id="chatcmpl-1", usage_metadata={"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
        ),
        AIMessageChunk(content="", id="lc_run-1", chunk_position="last"),
    ]


def as_block_chunks(pieces: list[str]) -> list[AIMessageChunk]:
    """Return pieces as a model with content version `v1` sends them: in blocks, after a block of reasoning."""
    version = {"output_version": "v1"}
    reasoning = {"type": "reasoning", "reasoning": "Weather? ", "index": 0}
    return [
        AIMessageChunk(content=[], id="chatcmpl-1", response_metadata=version),
        AIMessageChunk(content=[reasoning], id="chatcmpl-1", response_metadata=version),
        AIMessageChunk(content=[{**reasoning, "reasoning": "Yes."}], id="chatcmpl-1", response_metadata=version),
        *(
            AIMessageChunk(
                content=[{"type": "text", "text": piece, "index": 1}], id="chatcmpl-1", response_metadata=version
            )
            for piece in pieces
        ),
        AIMessageChunk(content=[], id="chatcmpl-1", response_metadata={**version, "finish_reason": "stop"}),
        AIMessageChunk(content=[], id="lc_run-1", chunk_position="last"),
    ]


def as_unversioned_block_chunks(pieces: list[str]) -> list[AIMessageChunk]:
    """Return pieces as a model with blocks of its own sends them: content that lists no calls."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    return [
        AIMessageChunk(content=[image], id="msg_1"),
        *(AIMessageChunk(content=[{"type": "text", "text": piece, "index": 1}], id="msg_1") for piece in pieces),
        AIMessageChunk(content=[], id="msg_1", chunk_position="last"),
    ]


SHAPES = {
    "string content": as_text_chunks,
    "v1 blocks": as_block_chunks,
    "blocks of its own": as_unversioned_block_chunks,
}
if Version(VERSION) < Version("1.7.2"):  # whose sums change the list of the first chunk, which is added up again
    del SHAPES["blocks of its own"]
"""The ways in which models give the content of a stream."""
