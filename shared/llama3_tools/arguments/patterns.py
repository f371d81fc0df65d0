"""The patterns of schemas, as far as Python can read them: the standard has those of JavaScript."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=256)
def readable(pattern: str) -> re.Pattern[str] | None:
    r"""Return a pattern to search with, or `None` for one that Python does not read: nobody knows what it matches.

    >>> readable(r"^\p{L}+$") is None
    True
    """
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return None
