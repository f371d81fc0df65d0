"""Rules that can be switched off, to see what each is good for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["RULES", "is_off", "switched_off"]

RULES = {
    "other keys": "the name and the arguments of a declared tool may stand under other keys",
    "heads": "an object after the name of a declared tool is its arguments",
    "parts": "an object is no call if it is a part of data or code",
    "regions": "thoughts, results of tools and turns of others are quotation",
    "fences": "a fence that begins with no call is quotation",
    "lines": "a line may quote what stands on it",
    "broken lines": "no pythonic call stands on the lines after a broken object",
    "surplus": "one closing bracket too many goes with the call",
    "leftovers": "odd forms that name a declared tool are reported",
}
"""The rules, and what each says."""

_off: set[str] = set()


def is_off(rule: str) -> bool:
    """Return whether a rule is switched off."""
    return rule in _off


@contextmanager
def switched_off(*rules: str) -> Iterator[None]:
    """Switch rules off for all that is read meanwhile.

    >>> from llama3_tools import extract
    >>> with switched_off("lines"):
    ...     len(extract('> {"name": "f", "parameters": {}}').tool_calls)
    1

    Args:
        *rules: the rules, out of `RULES`.

    Raises:
        ValueError: there is no such rule.
    """
    unknown = sorted(set(rules).difference(RULES))
    if unknown:
        raise ValueError(f"no rule is named {unknown[0]!r}; there are {', '.join(RULES)}")
    before = set(_off)
    _off.update(rules)
    try:
        yield
    finally:
        _off.intersection_update(before)
