"""Each request to the wrapped model as a step of the turn, of which callbacks and tracers are told.

It is not a second run of a chat model: those who count such runs, their tokens and their usage find all of it in the
wrapper's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks
from langchain_core.runnables.config import RunnableConfig, ensure_config
from typing_extensions import Self

Manager: TypeAlias = CallbackManager | AsyncCallbackManager


def with_step_manager(config: RunnableConfig | None, kind: type[Manager]) -> tuple[RunnableConfig, Manager]:
    """Return the config for a turn, and what tells of steps in its run.

    LangChain tells a streaming model neither the id of its run nor who follows it: both are settled before it begins.
    """
    given = ensure_config(config)
    manager = kind.configure(
        given.get("callbacks"), inheritable_tags=given.get("tags"), inheritable_metadata=given.get("metadata")
    )
    steps = manager.copy()
    steps.parent_run_id = given.get("run_id") or uuid4()
    return {**given, "callbacks": manager, "run_id": steps.parent_run_id}, steps


class Step:
    """One request, in `with` or `async with`: it waits for the rate limiter, and keeps the request's error.

    The errors of callbacks are raised.
    """

    def __init__(self, manager: Manager | None, llm: BaseChatModel, kwargs: Mapping[str, Any]) -> None:
        """Prepare to ask a model with these arguments. `manager` tells of steps, in the way in which it is asked."""
        self.kwargs = kwargs
        self.result: ChatResult | None = None
        """What it answered, if that came whole."""
        self.chunks: list[ChatGeneration] = []
        """What it answered, if that came in chunks."""
        self.error: Exception | None = None
        """Why it failed."""
        self._llm = llm
        self._manager: Any = manager
        self._run: Any = None

    def __enter__(self) -> Self:  # noqa: D105 (as the class says)
        if self._manager:
            self._run = self._manager.on_chain_start(**self._told())
        if self._llm.rate_limiter is not None:
            self._llm.rate_limiter.acquire(blocking=True)
        return self

    async def __aenter__(self) -> Self:  # noqa: D105 (the same)
        if self._manager:
            self._run = await self._manager.on_chain_start(**self._told())
        if self._llm.rate_limiter is not None:
            await self._llm.rate_limiter.aacquire(blocking=True)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:  # noqa: D105 (the same)
        if self._run:
            self._end(error)
        return self._keeps(error)

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> bool:  # noqa: D105 (the same)
        if self._run:
            await self._end(error)
        return self._keeps(error)

    def _told(self) -> dict[str, Any]:
        asked = {name: value for name, value in self.kwargs.items() if value is not None}
        return {"serialized": None, "inputs": asked, "name": f"{self._llm.get_name()} request"}

    def _end(self, error: BaseException | None) -> Any:  # noqa: ANN401 (to be awaited, perhaps)
        if error is not None:
            return self._run.on_chain_error(error)
        summed = merge_chat_generation_chunks([one for one in self.chunks if isinstance(one, ChatGenerationChunk)])
        generations = [summed] if summed else self.result.generations if self.result else self.chunks
        return self._run.on_chain_end({"messages": [_without_usage(one.message) for one in generations]})

    def _keeps(self, error: BaseException | None) -> bool:
        self.error = error if isinstance(error, Exception) else None
        return self.error is not None


def _without_usage(message: BaseMessage) -> BaseMessage:
    if not isinstance(message, AIMessage) or message.usage_metadata is None:
        return message
    return message.model_copy(update={"usage_metadata": None})
