"""Errors of options as this library words them, without the frame that pydantic puts around them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

__all__ = ["plain_errors"]


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise the error that a validator raised instead of pydantic's `ValidationError` around it.

    >>> from langchain_llama3_tools import Llama3JsonToolOutputParser
    >>> with plain_errors():
    ...     Llama3JsonToolOutputParser.model_validate({"on_invalid": "drop"})
    Traceback (most recent call last):
    ValueError: on_invalid must be "collect" or "raise", not 'drop'
    """
    try:
        yield
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            cause = problem.get("ctx", {}).get("error")
            if isinstance(cause, Exception):
                raise cause from None
        raise
