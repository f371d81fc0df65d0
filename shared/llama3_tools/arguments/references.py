"""What a local `$ref` refers to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

__all__ = ["resolve_reference"]


def resolve_reference(root: object, reference: object) -> Any:  # noqa: ANN401 (a schema may be anything)
    """Give the schema behind a reference such as `#/$defs/Place`, or `True`, which allows anything.

    No other references are followed: not to another document, nor to an `$anchor`.

    >>> resolve_reference({"$defs": {"Place": {"type": "string"}}}, "#/$defs/Place")
    {'type': 'string'}
    >>> resolve_reference({}, "https://example.com/place.json")
    True
    """
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return True
    found = root
    for step in reference.split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isascii() and key.isdigit() and int(key[:9]) < len(found):
            found = found[int(key[:9])]
        else:
            return True
    return found
