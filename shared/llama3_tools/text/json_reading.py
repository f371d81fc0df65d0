"""JSON that a user gives, and what is wrong with it."""

from __future__ import annotations

import json


def read_json(text: str) -> object:
    """Return the value that JSON has.

    >>> read_json("{'a': 1}")
    Traceback (most recent call last):
    ValueError: not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)

    Raises:
        ValueError: it cannot be read; says why.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None
    except ValueError:
        raise ValueError("a number in it has more digits than Python reads") from None
    except RecursionError:
        raise ValueError("nested too deep to be read") from None
