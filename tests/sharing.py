"""Many threads and many tasks that do one thing at once, and outputs that are easily mistaken for each other."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

THREADS, TASKS = 8, 400

OUTPUTS = [
    output.replace("NUMBER", str(number))
    for number in range(4)
    for output in (
        'One {"name": "f", "parameters": {"q": "NUMBER"}} two <tool_call>{"name": "g", "arguments": {}}</tool_call>',
        "<think>NUMBER</think> [f(q=NUMBER), g(a='x')]",
        "{'name': 'f', 'parameters': {'q': NUMBER, 'a': [1,]}} <function=g={\"a\": \"NUMBER\"}",
        '```json\n{"name": "f", "parameters": {"q": NUMBER, "a": [oops NUMBER',
        "<|python_tag|>print(NUMBER)<|eom_id|>",
        "Prose, NUMBER of {them}.",
    )
]

_T = TypeVar("_T")


def pieces(output: str) -> list[str]:
    """Cut an output as a stream brings it."""
    return [output[start : start + 5] for start in range(0, len(output), 5)]


def in_threads(run: Callable[[int], _T]) -> list[_T]:
    """Run a function in all threads, each with its number. They begin together, and take turns within each call."""
    together = threading.Barrier(THREADS)

    def begin(number: int) -> _T:
        together.wait(timeout=30)
        return run(number)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(begin, range(THREADS)))
    finally:
        sys.setswitchinterval(interval)


async def in_tasks(run: Callable[[int], Awaitable[_T]], tasks: int = TASKS) -> list[_T]:
    """Run a function in all tasks, each with its number."""
    return await asyncio.gather(*map(run, range(tasks)))
