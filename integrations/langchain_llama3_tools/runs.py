# ruff: noqa: ANN401  # LangChain marks what a model overrides with an underscore
"""Each request to the model inside as a step of the turn, of which callbacks and tracers are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID, uuid4

from langchain_core.callbacks import (
    AsyncCallbackManager,
    BaseCallbackHandler,
    BaseCallbackManager,
    BaseRunManager,
    CallbackManager,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks
from langchain_core.runnables.config import RunnableConfig, ensure_config

from langchain_llama3_tools.both_ways import Steps, Way

__all__ = ["Answers", "TurnRun", "told"]

Answers: TypeAlias = list[Any]
"""What a model gave: generations, or their chunks."""


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


def told(
    steps: Steps[Answers], parent: TurnRun | None, llm: BaseChatModel, way: Way, kwargs: Mapping[str, Any]
) -> Steps[Answers]:
    """Take the steps of a request, and tell those who follow the wrapper's run: of a step in it, and how it ended.

    It is no second run of a chat model: those who count such runs, their tokens and their usage have all in the
    wrapper's.

    Args:
        steps: ask the model inside, and return the generations that it gave, or their chunks.
        parent: the wrapper's run.
        llm: the model inside.
        way: how it is asked.
        kwargs: what it is asked with.
    """
    begun = None
    try:
        if manager := _step_manager(parent, way.manager):
            asked = {name: value for name, value in kwargs.items() if value is not None}
            begun = yield manager.on_chain_start(None, asked, name=f"{llm.get_name()} request")
        if llm.rate_limiter is not None:
            yield getattr(llm.rate_limiter, way.acquire)(blocking=True)
        answers = yield from steps
    except BaseException as error:
        if begun is not None:
            yield begun.on_chain_error(error)
        raise
    if begun is not None:
        chunks = [one for one in answers if isinstance(one, ChatGenerationChunk)]
        summed = merge_chat_generation_chunks(chunks)
        messages = [_without_usage(one.message) for one in ([summed] if summed else answers)]
        yield begun.on_chain_end({"messages": messages})
    return answers


def _step_manager(parent: TurnRun | None, kind: type[CallbackManager | AsyncCallbackManager]) -> Any:
    """Return what tells those who follow the wrapper's run, and those of the context, of a step in it."""
    if parent is None:
        return None
    followers = kind([*parent.handlers], parent_run_id=parent.run_id, tags=parent.tags, metadata=parent.metadata)
    manager = kind.configure(followers)
    return manager if manager.handlers else None


def _without_usage(message: BaseMessage) -> BaseMessage:
    if not isinstance(message, AIMessage) or message.usage_metadata is None:
        return message
    return message.model_copy(update={"usage_metadata": None})
