"""How much of what a model writes is read as calls: bounds for output that is too much for any turn (principle 8)."""

from __future__ import annotations

from typing import NamedTuple

from llama3_tools.literals.json_depth import MAX_DEPTH
from llama3_tools.values import RejectionReason

LONGEST_NAME = 128
"""How many characters the name of a tool may have outside of JSON: as many as MCP's tools may have.

Each pattern of a name, and how much text is kept to find one, comes from it.
"""

_LEAST_CANDIDATE = 256


class Limits(NamedTuple):
    """Bounds of one model turn. A call beyond one of them is text, and a rejection says so.

    >>> from llama3_tools import extract
    >>> extract('{"name": "f", "parameters": {"a": [[1]]}}', limits=Limits(max_depth=2)).rejections[0].reason.value
    'too_deep'
    """

    max_depth: int = MAX_DEPTH - 1
    """How many levels of objects and arrays the arguments of a call may have, themselves the first; 127 at most."""
    max_call_length: int = 4 * 1024 * 1024
    """How many characters a call may have; 256 at least. No stream holds back more, white space
    and protocol tokens at the end of text aside."""
    max_calls: int = 1000
    """How many calls a turn may have."""
    max_rejections: int = 1000
    """How many rejections are listed. One more says that there were others."""


DEFAULT_LIMITS = Limits()
"""The bounds if no others are given."""


def require_limits(limits: object) -> Limits:
    """Check bounds.

    Raises:
        TypeError: not `Limits` of whole numbers.
        ValueError: a bound that is too low for any call, or a depth beyond what is read at all.
    """
    if not isinstance(limits, Limits) or not all(type(limit) is int for limit in limits):
        raise TypeError(f"limits are Limits of whole numbers, such as Limits(max_calls=10); not {limits!r}")
    for name, limit in limits._asdict().items():
        least = _LEAST_CANDIDATE if name == "max_call_length" else 1
        if limit < least:
            raise ValueError(f"limits: {name} is at least {least}, not {limit}")
    if limits.max_depth >= MAX_DEPTH:
        raise ValueError(f"limits: max_depth is at most {MAX_DEPTH - 1}, not {limits.max_depth}")
    return limits


def too_many(limits: Limits) -> tuple[RejectionReason, str]:
    """Say that a turn has had all the calls it may have."""
    return RejectionReason.TOO_MANY, f"beyond the first {limits.max_calls} calls"


def too_deep(max_depth: int) -> tuple[RejectionReason, str]:
    """Say that arguments are nested too deep."""
    return RejectionReason.TOO_DEEP, f"arguments nested deeper than {max_depth} levels"


def too_long(limits: Limits) -> tuple[RejectionReason, str]:
    """Say that a call is too long."""
    return RejectionReason.TOO_LONG, f"longer than {limits.max_call_length} characters"
