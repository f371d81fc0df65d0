"""What a local `$ref` refers to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


def resolve_reference(root: object, reference: object, *, default: object = True) -> Any:  # noqa: ANN401 (a schema may be anything)
    """Return what a reference refers to, such as `#/$defs/Place`, or the default, a schema that allows anything.

    It is a JSON Pointer in a fragment (RFC 6901, section 6). No other references are followed: not to another
    document, nor to an `$anchor`.

    >>> resolve_reference({"$defs": {"a/b": {"type": "string"}}}, "#/$defs/a~1b")
    {'type': 'string'}
    >>> resolve_reference({}, "https://example.com/place.json")
    True

    Args:
        root: the whole schema.
        reference: the value of its `$ref`.
        default: what is returned if it leads nowhere.
    """
    from urllib.parse import unquote  # noqa: PLC0415 (few schemas have references, and it takes long to import)

    steps = unquote(reference).split("/") if isinstance(reference, str) else []
    if steps[:1] != ["#"]:
        return default
    found = root
    for step in steps[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and _INDEX.fullmatch(key) and int(key) < len(found):
            found = found[int(key)]
        else:
            return default
    return found
