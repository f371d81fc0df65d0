"""What a caller writes for the kit, checked: each error names the option, what it was, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from llama3_tools.errors import a_type, require_type


def checked_tuple(values: object, kind: type, what: str, cure: str) -> tuple[Any, ...]:
    """Return the values of a tuple or list as a tuple.

    >>> checked_tuple(["a"], str, "tags", 'write ("a",)')
    ('a',)

    Args:
        values: the values.
        kind: what each has to be.
        what: what they are called.
        cure: what to write.

    Raises:
        TypeError: it is something else, or one of the values is.
    """
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{what} must be a tuple, not {a_type(values)}: {cure}")
    for index, value in enumerate(values):
        require_type(f"{what}[{index}]", value, kind, cure)
    return tuple(values)


def checked_names(names: object, what: str) -> frozenset[str]:
    """Return names as a set.

    >>> sorted(checked_names(["b", "a"], "ignore"))
    ['a', 'b']
    >>> checked_names("days", "ignore")
    Traceback (most recent call last):
    TypeError: ignore must be a set of names, not a str: write frozenset({'days'})

    Raises:
        TypeError: it is something else, such as one name alone.
    """
    if not isinstance(names, (AbstractSet, tuple, list)):
        cure = f": write frozenset({{{names!r}}})" if isinstance(names, str) else ""
        raise TypeError(f"{what} must be a set of names, not {a_type(names)}{cure}")
    for name in names:
        require_type(f"each name in {what}", name, str)
    return frozenset(names)


def checked_mapping(values: object, what: str, kind: type = object, cure: str = "") -> Mapping[str, Any]:
    """Return values by name.

    >>> checked_mapping(["Paris"], "arguments")
    Traceback (most recent call last):
    TypeError: arguments must be a dict by name, not a list

    Args:
        values: the values.
        what: what they are called.
        kind: what each has to be.
        cure: what to write for a value of another type.

    Raises:
        TypeError: it is something else, a name is no `str`, or a value is of another type.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"{what} must be a dict by name, not {a_type(values)}")
    for name, value in values.items():
        require_type(f"each name in {what}", name, str)
        require_type(f"{what}[{name!r}]", value, kind, cure)
    return values
