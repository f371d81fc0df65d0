"""Spans of an output, in order, to find one of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from llama3_tools.values import Span


def first_overlap(spans: Sequence[Span], span: Span) -> int | None:
    """Return the index of the first span that overlaps a given one, or `None`.

    >>> first_overlap([(0, 2), (4, 6)], (2, 9)), first_overlap([(0, 2), (4, 6)], (2, 4))
    (1, None)
    """
    index = bisect_right(spans, span[0], key=lambda one: one[1])
    return index if index < len(spans) and spans[index][0] < span[1] else None


def index_at(spans: Sequence[Span], offset: int) -> int | None:
    """Return the index of the span that contains the character at an offset, or `None`.

    >>> index_at([(0, 2), (4, 6)], 4), index_at([(0, 2), (4, 6)], 2)
    (1, None)
    """
    index = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    return index if index >= 0 and offset < spans[index][1] else None
