# ruff: noqa: ANN401, SLF001  # LangChain marks what a model overrides with an underscore
"""Each request to the model inside as a step of the turn, of which callbacks and tracers are told."""

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


@dataclass(frozen=True, slots=True)
class TurnRun:
    """The wrapper's run, in which each request is a step."""

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

    Whoever follows the wrapper's run is told of a step in it, with what is sent and what comes back. It is no second
    run of a chat model: those who count such runs, their tokens and their usage have all in the wrapper's. The
    callbacks of the model inside are told all that it would tell them alone; in its tokens, calls are apart.
    """

    def __init__(self, step: Any, own: Any) -> None:
        self.step = step
        """Tells those who follow the wrapper's run; `None`: there are none."""
        self.own = own
        """Tells the callbacks that are set on the model inside; `None`: there are none."""
        self.result = ChatResult(generations=[])
        """The whole answer."""
        self._chunks: list[ChatGenerationChunk] = []

    def noted(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk:
        """Note a chunk as the model has sent it, and return it."""
        if self.step is not None or self.own is not None:
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

    def end(self) -> tuple[dict[str, Any], LLMResult]:
        """Return what the step and the model's own run end with."""
        summed = merge_chat_generation_chunks(self._chunks)
        generations: list[ChatGeneration] = [summed] if summed else self.result.generations
        messages = [_without_usage(one.message) for one in generations]
        return {"messages": messages}, LLMResult(generations=[[*generations]], llm_output=self.result.llm_output)


@contextmanager
def request_run(
    llm: BaseChatModel, parent: TurnRun | None, messages: list[BaseMessage], **kwargs: Any
) -> Iterator[RequestRun]:
    """Tell of a request, wait for the model's rate limiter, and tell how it ended.

    Args:
        llm: the model inside.
        parent: the wrapper's run, in which the request is a step.
        messages: what is sent.
        **kwargs: what it is asked with, `stop` among it.
    """
    step, own = _step_manager(parent, CallbackManager), _own_manager(llm, parent, CallbackManager)
    run = RequestRun(
        step and step.on_chain_start(None, _asked(messages, kwargs), name=_name(llm)),
        own and own.on_chat_model_start(dumpd(llm), [messages], **_settings(llm, kwargs))[0],
    )
    try:
        if llm.rate_limiter is not None:
            llm.rate_limiter.acquire(blocking=True)
        yield run
    except BaseException as error:
        if run.step is not None:
            run.step.on_chain_error(error)
        if run.own is not None:
            run.own.on_llm_error(error, response=LLMResult(generations=[]))
        raise
    outputs, result = run.end()
    if run.step is not None:
        run.step.on_chain_end(outputs)
    if run.own is not None:
        run.own.on_llm_end(result)


@asynccontextmanager
async def arequest_run(
    llm: BaseChatModel, parent: TurnRun | None, messages: list[BaseMessage], **kwargs: Any
) -> AsyncIterator[RequestRun]:
    """Tell of a request as `request_run` does."""
    step, own = _step_manager(parent, AsyncCallbackManager), _own_manager(llm, parent, AsyncCallbackManager)
    run = RequestRun(
        step and await step.on_chain_start(None, _asked(messages, kwargs), name=_name(llm)),
        own and (await own.on_chat_model_start(dumpd(llm), [messages], **_settings(llm, kwargs)))[0],
    )
    try:
        if llm.rate_limiter is not None:
            await llm.rate_limiter.aacquire(blocking=True)
        yield run
    except BaseException as error:
        if run.step is not None:
            await run.step.on_chain_error(error)
        if run.own is not None:
            await run.own.on_llm_error(error, response=LLMResult(generations=[]))
        raise
    outputs, result = run.end()
    if run.step is not None:
        await run.step.on_chain_end(outputs)
    if run.own is not None:
        await run.own.on_llm_end(result)


def _step_manager(parent: TurnRun | None, kind: type[CallbackManager | AsyncCallbackManager]) -> Any:
    """Return what tells those who follow the wrapper's run, and those of the context, of a step in it."""
    if parent is None:
        return None
    followers = kind([*parent.handlers], parent_run_id=parent.run_id, tags=parent.tags, metadata=parent.metadata)
    manager = kind.configure(followers)
    return manager if manager.handlers else None


def _own_manager(llm: BaseChatModel, parent: TurnRun | None, kind: type[_Manager]) -> _Manager | None:
    """Return what tells the callbacks of the model inside, but those that follow the wrapper's run already."""
    given, told = llm.callbacks, parent.handlers if parent else []
    handlers = given.handlers if isinstance(given, BaseCallbackManager) else given or []
    own = [handler for handler in handlers if handler not in told]
    run_id = parent.run_id if parent else None
    return kind(own, parent_run_id=run_id, tags=llm.tags, metadata=llm.metadata) if own else None


def _name(llm: BaseChatModel) -> str:
    return f"{llm.get_name()} request"


def _asked(messages: list[BaseMessage], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {"messages": messages, **{name: value for name, value in kwargs.items() if value is not None}}


def _settings(llm: BaseChatModel, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    params = llm._get_invocation_params(**kwargs)
    return {"invocation_params": params, "options": {"stop": kwargs.get("stop")}, "run_id": uuid4()}


def _without_usage(message: BaseMessage) -> BaseMessage:
    if not isinstance(message, AIMessage) or message.usage_metadata is None:
        return message
    return message.model_copy(update={"usage_metadata": None})
