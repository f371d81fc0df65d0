"""JSON that the command is given, and what is wrong with it."""

from __future__ import annotations

import json

__all__ = ["read_json"]


def read_json(text: str) -> object:
    """Read JSON.

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
