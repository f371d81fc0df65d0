# ruff: noqa: ANN401, SLF001  # LangChain marks what a model overrides with an underscore
"""Each request to the model inside as a step of the turn, of which callbacks and tracers are told."""

from __future__ import annotations

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

from langchain_llama3_tools.both_ways import Out, Steps, Way

__all__ = ["RequestRun", "TurnRun"]

_T = TypeVar("_T")
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
    def of_manager(cls, manager: BaseRunManager | None) -> TurnRun | None:
        """Return the run that a manager is of."""
        return None if manager is None else cls.of(manager, manager.run_id)

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

    def __init__(
        self, llm: BaseChatModel, parent: TurnRun | None, way: Way, messages: list[BaseMessage], kwargs: dict[str, Any]
    ) -> None:
        """Prepare to tell.

        Args:
            llm: the model inside.
            parent: the wrapper's run, in which the request is a step.
            way: how it is asked.
            messages: what is sent.
            kwargs: what it is asked with, `stop` among it.
        """
        self._llm, self._way, self._messages, self._kwargs = llm, way, messages, kwargs
        self._step: Any = _step_manager(parent, way.manager)
        self._own: Any = _own_manager(llm, parent, way.manager)
        self._is_told = self._step is not None or self._own is not None
        self._result = ChatResult(generations=[])
        self._chunks: list[ChatGenerationChunk] = []

    def around(self, steps: Steps[_T]) -> Steps[_T]:
        """Tell of the request, wait for the model's rate limiter, take its steps, and tell how it ended."""
        step, own, llm = self._step, self._own, self._llm
        self._step = self._own = None  # until they are told that it begins
        try:
            if step is not None:
                asked = {name: value for name, value in self._kwargs.items() if value is not None}
                inputs = {"messages": self._messages, **asked}
                self._step = yield step.on_chain_start(None, inputs, name=f"{llm.get_name()} request")
            if own is not None:
                params = llm._get_invocation_params(**self._kwargs)
                settings = {"invocation_params": params, "options": {"stop": self._kwargs.get("stop")}}
                [self._own] = yield own.on_chat_model_start(dumpd(llm), [self._messages], run_id=uuid4(), **settings)
            if llm.rate_limiter is not None:
                yield getattr(llm.rate_limiter, self._way.acquire)(blocking=True)
            answer = yield from steps
        except BaseException as error:
            if self._step is not None:
                yield self._step.on_chain_error(error)
            if self._own is not None:
                yield self._own.on_llm_error(error, response=LLMResult(generations=[]))
            raise
        if self._is_told:
            summed = merge_chat_generation_chunks(self._chunks)
            generations: list[ChatGeneration] = [summed] if summed else self._result.generations
        if self._step is not None:
            yield self._step.on_chain_end({"messages": [_without_usage(one.message) for one in generations]})
        if self._own is not None:
            yield self._own.on_llm_end(LLMResult(generations=[[*generations]], llm_output=self._result.llm_output))
        return answer

    def note(self, answer: ChatResult | ChatGenerationChunk) -> None:
        """Note an answer, or a chunk of it, as the model has sent it."""
        if isinstance(answer, ChatResult):
            self._result = answer
        elif self._is_told:
            self._chunks.append(answer)

    def tell(self, chunk: ChatGenerationChunk) -> Steps[None]:
        """Tell the model's own callbacks of a chunk as it goes out, and let it go."""
        if self._own is not None:
            yield self._own.on_llm_new_token(str(chunk.message.text), chunk=chunk)
        yield Out(chunk)


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


def _without_usage(message: BaseMessage) -> BaseMessage:
    if not isinstance(message, AIMessage) or message.usage_metadata is None:
        return message
    return message.model_copy(update={"usage_metadata": None})
