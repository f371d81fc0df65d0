"""Pairs what was expected with what was found, when the order does not matter."""

from __future__ import annotations

from collections.abc import Sequence


def pair(fits: Sequence[Sequence[bool]]) -> dict[int, int]:
    """Pair as many rows with columns as can be, each at most once. Taking the first that fits would pair too few.

    >>> pair([[True, True], [True, False]])
    {0: 1, 1: 0}

    Args:
        fits: for each row, whether it may be paired with each of the columns.

    Returns:
        The column of each row that has one.
    """
    row_of: dict[int, int] = {}
    column_of: dict[int, int] = {}
    for row in range(len(fits)):
        reached: dict[int, int] = {}
        column: int | None = _free_column(row, fits, row_of, reached)
        while column is not None:  # each row on the way moves to the column that it was reached through
            mover = reached[column]
            row_of[column] = mover
            column_of[mover], column = column, column_of.get(mover)
    return column_of


def _free_column(
    row: int, fits: Sequence[Sequence[bool]], row_of: dict[int, int], reached: dict[int, int]
) -> int | None:
    """Find a column that is free, for the row or for one that would make room; note which row reached for each."""
    rows = [row]
    for mover in rows:  # which grows
        for column, fit in enumerate(fits[mover]):
            if not fit or column in reached:
                continue
            reached[column] = mover
            if column not in row_of:
                return column
            rows.append(row_of[column])
    return None
