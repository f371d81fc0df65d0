"""What is written once for both ways to ask: a generator of steps, each of which blocks, or is awaited.

A step is what a call has given: in the blocking way its value, in the other one what there is to await. It is sent back
as a value, or thrown as an error. What goes out to whoever streams is yielded as `Out`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import suppress
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from langchain_core.callbacks import (
    AsyncCallbackManager,
    AsyncCallbackManagerForLLMRun,
    CallbackManager,
    CallbackManagerForLLMRun,
)
from langchain_core.outputs import ChatGenerationChunk

__all__ = ["ASYNC", "SYNC", "Closed", "Out", "Steps", "Way", "adone", "astreamed", "done", "streamed"]

_T = TypeVar("_T")
Steps: TypeAlias = Generator[Any, Any, _T]
"""Steps, and what they return."""


class Way(NamedTuple):
    """What differs between the ways."""

    a: Literal["", "a"]
    """How the names of methods begin: `aclose`, `_astream`."""
    next: Callable[..., Any]
    manager: type[CallbackManager | AsyncCallbackManager]
    run: type[CallbackManagerForLLMRun | AsyncCallbackManagerForLLMRun]


SYNC = Way("", next, CallbackManager, CallbackManagerForLLMRun)
ASYNC = Way("a", anext, AsyncCallbackManager, AsyncCallbackManagerForLLMRun)


class Out(NamedTuple):
    """What goes out."""

    chunk: ChatGenerationChunk


class Closed(BaseException):
    """Whoever streams has closed the stream. `GeneratorExit` itself would close the steps that are not taken yet."""


def done(steps: Steps[_T]) -> _T:
    """Take steps that block, and return what they return."""
    value = None
    try:
        while True:
            value = steps.send(value)
    except StopIteration as end:
        result: _T = end.value
        return result


async def adone(steps: Steps[_T]) -> _T:
    """Take steps that are awaited, and return what they return."""
    go_on: Callable[[Any], Any] = steps.send
    value: Any = None
    try:
        while True:
            step: Awaitable[Any] = go_on(value)
            try:
                go_on, value = steps.send, await step
            except BaseException as error:  # noqa: BLE001 (it is thrown where the step stands)
                go_on, value = steps.throw, error
    except StopIteration as end:
        result: _T = end.value
        return result


def streamed(steps: Steps[None]) -> Iterator[ChatGenerationChunk]:
    """Take steps that block, and yield what goes out."""
    go_on: Callable[[Any], Any] = steps.send
    value: Any = None
    with suppress(StopIteration, Closed):
        while True:
            step = go_on(value)
            go_on, value = steps.send, step
            if isinstance(step, Out):
                value = None
                try:
                    yield step.chunk
                except GeneratorExit:
                    go_on, value = steps.throw, Closed()


async def astreamed(steps: Steps[None]) -> AsyncIterator[ChatGenerationChunk]:
    """Take steps that are awaited, and yield what goes out."""
    go_on: Callable[[Any], Any] = steps.send
    value: Any = None
    with suppress(StopIteration, Closed):
        while True:
            step = go_on(value)
            try:
                if isinstance(step, Out):
                    yield step.chunk
                    go_on, value = steps.send, None
                else:
                    go_on, value = steps.send, await step
            except GeneratorExit:
                go_on, value = steps.throw, Closed()
            except BaseException as error:  # noqa: BLE001 (the same)
                go_on, value = steps.throw, error
