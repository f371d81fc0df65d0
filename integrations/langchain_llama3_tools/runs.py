# ruff: noqa: ANN401, SLF001  # LangChain marks what a model overrides with an underscore
"""Each request to the model inside as a run of its own, of which callbacks and tracers are told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

from langchain_core.callbacks import (
    AsyncCallbackManager,
    BaseCallbackHandler,
    BaseCallbackManager,
    BaseRunManager,
    CallbackManager,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult, LLMResult
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks
from langchain_core.runnables.config import RunnableConfig, ensure_config

__all__ = ["RequestRun", "TurnRun", "arequest_run", "request_run"]

_Manager = TypeVar("_Manager", bound=BaseCallbackManager)
_NOT_STREAMED = "nostream"
"""The tag of runs whose messages LangGraph leaves out of a stream: the run around them has them, with calls apart."""


@dataclass(frozen=True, slots=True)
class TurnRun:
    """The wrapper's run, of which each request is a child."""

    run_id: UUID
    handlers: list[BaseCallbackHandler]
    """Those who follow it."""
    tags: list[str]
    metadata: dict[str, Any]

    @classmethod
    def of(cls, manager: BaseCallbackManager | BaseRunManager, run_id: UUID) -> TurnRun:
        """Return the run whose followers a manager tells."""
        inherited = manager.inheritable_handlers, manager.inheritable_tags, manager.inheritable_metadata
        return cls(run_id, *inherited)

    @classmethod
    def begin(
        cls, config: RunnableConfig | None, kind: type[CallbackManager | AsyncCallbackManager]
    ) -> tuple[RunnableConfig, TurnRun]:
        """Return the run that a config begins, and the config by which it does: LangChain hands no run to a stream."""
        given = ensure_config(config)
        manager = kind.configure(
            given.get("callbacks"), inheritable_tags=given.get("tags"), inheritable_metadata=given.get("metadata")
        )
        run_id = given.get("run_id") or uuid4()
        return {**given, "callbacks": manager, "run_id": run_id}, cls.of(manager, run_id)


class RequestRun:
    """A request that goes on, for those who are told of it.

    Whoever follows the wrapper's run is told of a child of it, without tokens and usage, which that run has itself. The
    callbacks of the model inside are told all that it would tell them alone; in its tokens, calls are apart.
    """

    def __init__(self, child: Any, own: Any) -> None:
        self.child = child
        """Tells those that the wrapper's own run tells, and that follow it; `None`: there are none."""
        self.own = own
        """Tells the callbacks that are set on the model inside; `None`: there are none."""
        self.result = ChatResult(generations=[])
        """The whole answer."""
        self._chunks: list[ChatGenerationChunk] = []

    def noted(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk:
        """Note a chunk as the model has sent it, and return it."""
        if self.runs:
            self._chunks.append(chunk)
        return chunk

    def tell(self, chunk: ChatGenerationChunk) -> None:
        """Tell the model's own callbacks of a chunk as it goes out."""
        if self.own is not None:
            self.own.on_llm_new_token(str(chunk.message.text), chunk=chunk)

    async def atell(self, chunk: ChatGenerationChunk) -> None:
        """Tell the model's own callbacks of a chunk as it goes out."""
        if self.own is not None:
            await self.own.on_llm_new_token(str(chunk.message.text), chunk=chunk)

    def ends(self) -> Iterator[tuple[Any, LLMResult]]:
        """Yield each run, and what it ends with."""
        summed = merge_chat_generation_chunks(self._chunks)
        generations: list[ChatGeneration] = [summed] if summed else self.result.generations
        if self.own is not None:
            yield self.own, LLMResult(generations=[[*generations]], llm_output=self.result.llm_output)
        if self.child is not None:
            yield self.child, LLMResult(generations=[[*map(_without_usage, generations)]])

    @property
    def runs(self) -> list[Any]:
        """All that are told."""
        return [run for run in (self.child, self.own) if run is not None]


@contextmanager
def request_run(
    llm: BaseChatModel, parent: TurnRun | None, messages: list[BaseMessage], **kwargs: Any
) -> Iterator[RequestRun]:
    """Tell of a request, wait for the model's rate limiter, and tell how it ended.

    Args:
        llm: the model inside.
        parent: the wrapper's run, of which the request is a child.
        messages: what is sent.
        **kwargs: what it is asked with, `stop` among it.
    """
    started = _start_arguments(llm, messages, kwargs)
    child, own = (
        manager and manager.on_chat_model_start(*started[0], **started[1])[0]
        for manager in _managers(llm, parent, CallbackManager)
    )
    if llm.rate_limiter is not None:
        llm.rate_limiter.acquire(blocking=True)
    run = RequestRun(child, own)
    try:
        yield run
    except BaseException as error:
        for told in run.runs:
            told.on_llm_error(error, response=LLMResult(generations=[]))
        raise
    for told, result in run.ends():
        told.on_llm_end(result)


@asynccontextmanager
async def arequest_run(
    llm: BaseChatModel, parent: TurnRun | None, messages: list[BaseMessage], **kwargs: Any
) -> AsyncIterator[RequestRun]:
    """Tell of a request as `request_run` does."""
    started = _start_arguments(llm, messages, kwargs)
    runs = [
        (await manager.on_chat_model_start(*started[0], **started[1]))[0] if manager else None
        for manager in _managers(llm, parent, AsyncCallbackManager)
    ]
    if llm.rate_limiter is not None:
        await llm.rate_limiter.aacquire(blocking=True)
    run = RequestRun(*runs)
    try:
        yield run
    except BaseException as error:
        for told in run.runs:
            await told.on_llm_error(error, response=LLMResult(generations=[]))
        raise
    for told, result in run.ends():
        await told.on_llm_end(result)


def _managers(llm: BaseChatModel, parent: TurnRun | None, kind: type[_Manager]) -> list[_Manager | None]:
    """Return what tells the followers of the wrapper's run, and the model's own callbacks."""
    given = llm.callbacks
    own = given.handlers if isinstance(given, BaseCallbackManager) else given or []
    run_id = parent.run_id if parent else None
    child = None
    if parent is not None and parent.handlers:
        tags, metadata = [*parent.tags, _NOT_STREAMED], {**parent.metadata, **llm._get_ls_params()}
        child = kind([*parent.handlers], parent_run_id=run_id, tags=tags, metadata=metadata)
    return [child, kind([*own], parent_run_id=run_id, tags=llm.tags, metadata=llm.metadata) if own else None]


def _start_arguments(
    llm: BaseChatModel, messages: list[BaseMessage], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    params = llm._get_invocation_params(**kwargs)
    options = {"stop": kwargs.get("stop")}
    return (dumpd(llm), [messages]), {"invocation_params": params, "options": options, "run_id": uuid4()}


def _without_usage(generation: ChatGeneration) -> ChatGeneration:
    message = generation.message
    if not isinstance(message, AIMessage) or message.usage_metadata is None:
        return generation
    return ChatGeneration(message=message.model_copy(update={"usage_metadata": None}))
