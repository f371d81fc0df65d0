"""What an option may be: one word of a few, or true or false."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ValidationInfo

from llama3_tools.errors import require_bool, require_options

__all__ = ["checked_bool", "require_choice", "require_fields"]


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


def require_fields(model: type[BaseModel], given: Iterable[str], base: type[BaseModel]) -> None:
    """Raise a `TypeError` for the first of the options that a model has no field for; it names its own.

    Args:
        model: the model's class.
        given: the names of the options.
        base: the framework's class, whose fields are taken, too.
    """
    fields = model.model_fields
    taken = {*fields, *(field.alias for field in fields.values())}
    unknown = (name for name in given if name not in taken)
    require_options(model.__name__, unknown, (name for name in fields if name not in base.model_fields))
