"""What a stream needs beside its result: the text that it holds back, never the whole stream once more."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from figures import Row
from measuring import chunks_of, streamed
from workloads import CALL, PROSE, Workload

__all__ = ["STREAMS", "Memory", "memory_of_streams"]

_STRING = '{"name": "f", "parameters": {"text": "'
_CODE = {"formats": ["json", "code"]}
_THINKING = {"split_reasoning": True}
STREAMS = (
    (Workload("prose", PROSE), len(CALL), True),
    (Workload("prose that is not kept", PROSE), len(CALL), False),
    (Workload("white space", " ", after=f"x{CALL}"), None, True),
    (Workload("one long string", "x", before=_STRING, after=f'"}}}}\n{CALL}', calls_beside=2), None, True),
    (Workload("many calls", f"{CALL}; ", calls=1), len(CALL), True),
    (Workload("delimiters after a call", ";,", before=CALL, calls_beside=2), None, True),
    (Workload("tokens after text", "<|eot_id|>", before="x", after=CALL), None, True),
    (
        Workload(
            "code after a tag",
            "x = 1\n",
            before="<|python_tag|>",
            after=f"<|eom_id|>\n{CALL}",
            calls_beside=2,
            options=_CODE,
        ),
        None,
        True,
    ),
    (Workload("a thought", "Is it x? ", before="<think>", after=f"</think>{CALL}", options=_THINKING), len(CALL), True),
)
"""Each with the most characters that it has to hold back (`None` is all of them), and whether its content is kept."""


@dataclass(frozen=True, slots=True)
class Memory(Row):
    """What a stream took."""

    headings: ClassVar[Sequence[str]] = (
        "memory of a stream",
        "text",
        "held back",
        "result",
        "beside both",
        "of the text",
    )
    size: int
    """The length of the text, in bytes."""
    held: int
    """The most of it that has to be held back at once, in bytes."""
    result: int
    """What is kept once the stream has ended, in bytes."""
    peak: int
    """The most that was in use at once, the result among it, in bytes."""

    @property
    def beside(self) -> int:
        """What was in use beside the result and what was held back."""
        return self.peak - self.result - self.held

    @property
    def figures(self) -> Mapping[str, float]:
        """What was in use beside the result and what was held back."""
        return {"beside": self.beside}

    def cells(self) -> Sequence[str]:
        """Return the sizes, and what share of the text was in use beside what is needed."""
        sizes = (f"{size / 1e6:.2f} MB" for size in (self.size, self.held, self.result, self.beside))
        return (self.name, *sizes, f"{self.beside / self.size:.0%}")


def memory_of_streams(size: int) -> Iterator[Memory]:
    """Measure streams of so many characters."""
    for workload, held, is_kept in STREAMS:
        text = workload.make(size)
        result, peak, calls = _measure(workload, text, is_kept=is_kept)
        if calls != workload.calls_in(size):
            raise AssertionError(f"{workload.name}: expected {workload.calls_in(size)} calls, found {calls}")
        yield Memory(workload.name, len(text), held or len(text), result, peak)


def _measure(workload: Workload, text: str, *, is_kept: bool) -> tuple[int, int, int]:
    extractor = workload.extractor()
    gc.collect()
    tracemalloc.start()
    try:
        extraction = streamed(extractor, chunks_of(text), keep_content=is_kept)
        gc.collect()
        result, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return result, peak, len(extraction.tool_calls)
