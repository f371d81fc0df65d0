"""Pairs what was expected with what was found, where the order does not matter."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["pair"]


def pair(fits: Sequence[Sequence[bool]]) -> dict[int, int]:
    """Pair as many rows with columns as can be, each at most once. Taking the first that fits would pair too few.

    >>> pair([[True, True], [True, False]])
    {1: 0, 0: 1}

    Args:
        fits: for each row, whether it may be paired with each of the columns.

    Returns:
        The column of each row that has one.
    """
    row_of: dict[int, int] = {}
    for row in range(len(fits)):
        _place(row, fits, row_of, set())
    return {row: column for column, row in row_of.items()}


def _place(row: int, fits: Sequence[Sequence[bool]], row_of: dict[int, int], tried: set[int]) -> bool:
    """Give the row a column, moving those that have one to another of theirs where needed."""
    for column, fit in enumerate(fits[row]):
        if not fit or column in tried:
            continue
        tried.add(column)
        if column not in row_of or _place(row_of[column], fits, row_of, tried):
            row_of[column] = row
            return True
    return False
