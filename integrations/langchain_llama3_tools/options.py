"""Options that are one word of a few."""

from __future__ import annotations

__all__ = ["require_choice"]


def require_choice(name: str, given: object, choices: tuple[str, ...]) -> None:
    """Raise a `ValueError` that names the option and what it may be, for anything else.

    >>> require_choice("tools_in", "first", ("user", "system"))
    Traceback (most recent call last):
    ValueError: tools_in is "user" or "system", not 'first'
    """
    if given not in choices:
        *most, last = (f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} is {', '.join(most)} or {last}, not {given!r}")
