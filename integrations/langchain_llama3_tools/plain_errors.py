"""Errors of options as this library words them, without the frame that pydantic puts around them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

__all__ = ["plain_errors"]


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise the error that a validator raised instead of pydantic's `ValidationError` around it.

    >>> from pydantic import validate_call, AfterValidator
    >>> from typing import Annotated
    >>> def refuse(value: int) -> int:
    ...     raise ValueError(f"there is no {value}")
    >>> @validate_call
    ... def take(value: Annotated[int, AfterValidator(refuse)]) -> None: ...
    >>> with plain_errors():
    ...     take(5)
    Traceback (most recent call last):
    ValueError: there is no 5
    """
    try:
        yield
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            cause = problem.get("ctx", {}).get("error")
            if isinstance(cause, Exception):
                raise cause from None
        raise
