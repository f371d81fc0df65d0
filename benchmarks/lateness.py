"""Whether a chunk of a stream takes longer where much has come before it.

In a short stream, a copy of all that has arrived hides below the other work of a chunk. In a long one, it stands out.
"""

from __future__ import annotations

import time
from itertools import islice

from llama3_tools import Extractor
from measuring import CHUNK, chunks_of, no_collector
from workloads import Workload

MOST_SLOWDOWN = 1.5
"""How many times as long a chunk may take late in a stream as early: a copy of a megabyte takes four times, or more."""

_EARLY = 16 * 1024
_BEFORE = 4096
"""The length of the chunks that come before: of all, they take the least time to get there."""
_WINDOWS, _CHUNKS = 4, 500
_ATTEMPTS = 4


def slowdown(workload: Workload, late: int) -> float:
    """Return the time of a chunk after so many characters, by that of the same chunk after few."""
    extractor, early, then = workload.extractor(), float("inf"), float("inf")
    for _ in range(_ATTEMPTS):
        early = min(early, _seconds(workload, extractor, _EARLY))
        then = min(then, _seconds(workload, extractor, late))
        if then <= MOST_SLOWDOWN * early:
            break
    return then / early


def _seconds(workload: Workload, extractor: Extractor, before: int) -> float:
    """Return the time of some chunks after so many characters: the fastest of a few such, one after the other."""
    stream = extractor.stream()
    for chunk in chunks_of(workload.begin(before), _BEFORE):
        stream.feed(chunk)
    length = _WINDOWS * _CHUNKS * CHUNK
    chunks = chunks_of(workload.unit * (length // len(workload.unit) + 1))
    times = []
    with no_collector():
        for _ in range(_WINDOWS):
            window = list(islice(chunks, _CHUNKS))
            started = time.process_time()
            for chunk in window:
                stream.feed(chunk)
            times.append(time.process_time() - started)
    return min(times)
