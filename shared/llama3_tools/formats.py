"""Which forms of calls are read, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

FormatName: TypeAlias = Literal["json", "function", "pythonic", "code", "all", "none"]
"""A form of writing calls, as it can be asked for: objects of JSON; `<function=NAME>` tags; pythonic calls, and objects
after the name of their tool; code after `<|python_tag|>`; or all of them, or none."""

Formats: TypeAlias = Iterable[FormatName] | FormatName | None
"""The forms that are read: their names, or one. `None`: JSON and `<function=NAME>` and, for declared tools, the rest.
`"none"`: no call is read at all, and nothing but reasoning is taken out of the text."""


def require_formats(formats: Formats) -> tuple[FormatName, ...] | None:
    """Check the names of formats, and return each of those meant.

    >>> require_formats("json"), "code" in require_formats("all"), require_formats(["none"])
    (('json',), True, ('none',))

    Raises:
        TypeError: not a list of names.
        ValueError: no name at all, or one that no format has.
    """
    if formats is None:
        return None
    given: object = formats
    known = get_args(FormatName)
    if isinstance(given, (bytes, bytearray)) or not isinstance(given, Iterable):
        raise TypeError(f"formats is a name, or a list of names, out of {', '.join(known)}; not {formats!r}")
    names = (formats,) if isinstance(formats, str) else tuple(formats)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        what = f"{unknown[0]!r}" if unknown else "an empty list"
        raise ValueError(f"formats can be {', '.join(known)}, not {what}")
    meant = known if "all" in names else names
    return tuple(name for name in meant if name not in ("all", "none")) or ("none",)
