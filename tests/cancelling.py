"""Streams that are cancelled while they are read, and what that leaves behind."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterable, Callable
from typing import Any, TypeVar

import pytest

_Item = TypeVar("_Item")
_SECONDS = 30


async def tasks() -> set[asyncio.Task[Any] | None]:
    """Return what else is running, once the loop has closed the generators that a framework let go of."""
    gc.collect()
    for _ in range(50):  # a turn or two for each generator in another
        await asyncio.sleep(0)
    return asyncio.all_tasks() - {asyncio.current_task()}


async def cancel_reading(stream: AsyncIterable[_Item], is_reached: Callable[[_Item], object]) -> None:
    """Read a stream in a task, cancel that once an item is reached, and require that it ends so."""
    seen = asyncio.Event()

    async def read() -> None:
        async for item in stream:
            if is_reached(item):
                seen.set()

    task = asyncio.create_task(read())
    await asyncio.wait_for(seen.wait(), _SECONDS)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
