"""Streams that are cancelled while they are read, and what that leaves behind."""

from __future__ import annotations

import asyncio
import gc
from typing import Any


async def tasks() -> set[asyncio.Task[Any] | None]:
    """Return what else is running, once the loop has closed the generators that a framework let go of."""
    gc.collect()
    for _ in range(50):  # a turn or two for each generator in another
        await asyncio.sleep(0)
    return asyncio.all_tasks() - {asyncio.current_task()}
