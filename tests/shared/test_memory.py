"""A stream keeps its result and the text that it holds back, and never the whole stream once more (principle 8)."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from measuring import chunks_of, streamed
from workloads import CALL, PROSE, Workload

SIZE = 50_000
STRING = '{"name": "f", "parameters": {"text": "'
THINKING = {"split_reasoning": True}
STREAMS = [
    (Workload("prose", PROSE), len(CALL), True),
    (Workload("prose that is not kept", PROSE), len(CALL), False),
    (Workload("white space", " ", after=f"x{CALL}"), None, True),
    (Workload("one long string", "x", before=STRING, after=f'"}}}}\n{CALL}', calls_beside=2), None, True),
    (Workload("many calls", f"{CALL}; ", calls=1), len(CALL), True),
    (Workload("delimiters after a call", ";,", before=CALL, calls_beside=2), None, True),
    (Workload("tokens after text", "<|eot_id|>", before="x", after=CALL), None, True),
    (Workload("a thought", "Is it x? ", before="<think>", after=f"</think>{CALL}", options=THINKING), len(CALL), True),
]
"""Each with the most characters that it has to hold back (`None` is all of them), and whether its content is kept."""


@pytest.mark.parametrize(("workload", "held", "is_kept"), STREAMS, ids=[workload.name for workload, *_ in STREAMS])
def test_a_stream_takes_no_more_than_twice_its_text_beside_its_result(
    workload: Workload, held: int | None, *, is_kept: bool
) -> None:
    text, extractor = workload.make(SIZE), workload.extractor()
    gc.collect()
    tracemalloc.start()
    try:
        extraction = streamed(extractor, chunks_of(text), keep_content=is_kept)
        gc.collect()
        result, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(extraction.tool_calls) == workload.calls_in(SIZE)
    assert peak - result - (held or len(text)) < 2 * len(text)
