"""What an option may be: one word of a few, or true or false."""

from __future__ import annotations

from pydantic import ValidationInfo

from llama3_tools.errors import require_bool

__all__ = ["checked_bool", "require_choice"]


def checked_bool(value: object, info: ValidationInfo) -> object:
    """Return the value of a field that is true or false; raise a `TypeError` that names it for any other."""
    require_bool(**{str(info.field_name): value})
    return value


def require_choice(name: str, given: object, choices: tuple[str, ...]) -> None:
    """Raise a `ValueError` that names the option and what it may be, for anything else.

    >>> require_choice("tools_in", "first", ("user", "system"))
    Traceback (most recent call last):
    ValueError: tools_in is "user" or "system", not 'first'
    """
    if given not in choices:
        *most, last = (f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} is {', '.join(most)} or {last}, not {given!r}")
