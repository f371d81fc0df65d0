"""Each request to the wrapped model as a step of the turn, of which callbacks and tracers are told.

It is not a second run of a chat model: those who count such runs, their tokens and their usage find all of it in the
wrapper's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks
from langchain_core.runnables.config import RunnableConfig, ensure_config

Manager: TypeAlias = CallbackManager | AsyncCallbackManager
_Manager = TypeVar("_Manager", CallbackManager, AsyncCallbackManager)


@dataclass
class Step:
    """How a request went."""

    generations: list[ChatGeneration] = field(default_factory=list)
    """What the model answered, whole or in chunks."""
    error: Exception | None = None
    """Why it failed."""

    def outputs(self) -> dict[str, Any]:
        """Return the messages without their usage, which counts with the turn."""
        summed = merge_chat_generation_chunks([one for one in self.generations if isinstance(one, ChatGenerationChunk)])
        generations: Sequence[ChatGeneration] = [summed] if summed else self.generations
        return {"messages": [_without_usage(one.message) for one in generations]}


def followed(config: RunnableConfig | None, kind: type[_Manager]) -> tuple[RunnableConfig, _Manager]:
    """Return the config for a turn, and what tells of steps in its run.

    LangChain tells a streaming model neither the id of its run nor who follows it: both are settled before it begins.
    """
    given = ensure_config(config)
    manager: _Manager = kind.configure(
        given.get("callbacks"), inheritable_tags=given.get("tags"), inheritable_metadata=given.get("metadata")
    )
    run_id = given.get("run_id") or uuid4()
    steps = manager.copy()
    steps.parent_run_id = run_id
    return {**given, "callbacks": manager, "run_id": run_id}, steps


@contextmanager
def step(manager: Manager | None, llm: BaseChatModel, kwargs: Mapping[str, Any]) -> Iterator[Step]:
    """Tell of a request, and of what became of it. The errors of callbacks are raised, as are those of the request.

    Args:
        manager: what tells of steps; `None`: nobody is told.
        llm: the model.
        kwargs: what it is asked with.
    """
    request = Step()
    if not isinstance(manager, CallbackManager) or not manager.handlers:
        yield request
        return
    run = manager.on_chain_start(None, _asked(kwargs), name=_name(llm))
    try:
        yield request
    except BaseException as error:
        run.on_chain_error(error)
        raise
    if request.error is None:
        run.on_chain_end(request.outputs())
    else:
        run.on_chain_error(request.error)


@asynccontextmanager
async def astep(manager: Manager | None, llm: BaseChatModel, kwargs: Mapping[str, Any]) -> AsyncIterator[Step]:
    """Tell of a request, as `step` does."""
    request = Step()
    if not isinstance(manager, AsyncCallbackManager) or not manager.handlers:
        yield request
        return
    run = await manager.on_chain_start(None, _asked(kwargs), name=_name(llm))
    try:
        yield request
    except BaseException as error:
        await run.on_chain_error(error)
        raise
    if request.error is None:
        await run.on_chain_end(request.outputs())
    else:
        await run.on_chain_error(request.error)


def _asked(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if value is not None}


def _name(llm: BaseChatModel) -> str:
    return f"{llm.get_name()} request"


def _without_usage(message: BaseMessage) -> BaseMessage:
    if not isinstance(message, AIMessage) or message.usage_metadata is None:
        return message
    return message.model_copy(update={"usage_metadata": None})
