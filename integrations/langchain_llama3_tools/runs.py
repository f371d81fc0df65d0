"""Each request to the model inside as a step of the turn, of which callbacks and tracers are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar
from uuid import UUID, uuid4

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackManager, BaseRunManager, CallbackManager
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks
from langchain_core.runnables.config import RunnableConfig, ensure_config

from langchain_llama3_tools.both_ways import Steps, Way

__all__ = ["Answer", "Manager", "begun", "steps_in", "told"]

Answer = TypeVar("Answer", bound=ChatResult | list[ChatGenerationChunk])
"""What a model gave."""
Manager: TypeAlias = CallbackManager | AsyncCallbackManager


def begun(config: RunnableConfig | None, way: Way) -> tuple[RunnableConfig, Manager]:
    """Return the config by which a stream begins, and what tells of steps in its run: LangChain hands it none."""
    given = ensure_config(config)
    run_id = given.get("run_id") or uuid4()
    manager = way.manager.configure(
        given.get("callbacks"), inheritable_tags=given.get("tags"), inheritable_metadata=given.get("metadata")
    )
    return {**given, "callbacks": manager, "run_id": run_id}, steps_in(run_id, manager, way)


def steps_in(run_id: UUID, manager: BaseCallbackManager | BaseRunManager, way: Way) -> Manager:
    """Return what tells those who follow a run of steps in it."""
    tags, metadata = manager.inheritable_tags, manager.inheritable_metadata
    return way.manager([*manager.inheritable_handlers], parent_run_id=run_id, tags=tags, metadata=metadata)


def told(
    steps: Steps[Answer], manager: Manager | None, llm: BaseChatModel, way: Way, kwargs: Mapping[str, Any]
) -> Steps[Answer]:
    """Take the steps of a request, and tell those who follow the wrapper's run: of a step in it, and how it ended.

    It is no second run of a chat model: those who count such runs, their tokens and their usage have all in the
    wrapper's.

    Args:
        steps: ask the model inside, and return what it gave.
        manager: what tells of steps in the wrapper's run.
        llm: the model inside.
        way: how it is asked.
        kwargs: what it is asked with.
    """
    step = None
    try:
        # Those of the context listen, too.
        if manager and (manager := way.manager.configure(manager)).handlers:
            asked = {name: value for name, value in kwargs.items() if value is not None}
            step = yield manager.on_chain_start(None, asked, name=f"{llm.get_name()} request")
        if llm.rate_limiter is not None:
            yield getattr(llm.rate_limiter, f"{way.a}acquire")(blocking=True)
        answer = yield from steps
    except BaseException as error:
        if step is not None:
            yield step.on_chain_error(error)
        raise
    if step is not None:
        summed = None if isinstance(answer, ChatResult) else merge_chat_generation_chunks(answer)
        generations = answer.generations if isinstance(answer, ChatResult) else filter(None, [summed])
        yield step.on_chain_end({"messages": [_without_usage(one.message) for one in generations]})
    return answer


def _without_usage(message: BaseMessage) -> BaseMessage:
    if not isinstance(message, AIMessage) or message.usage_metadata is None:
        return message
    return message.model_copy(update={"usage_metadata": None})
