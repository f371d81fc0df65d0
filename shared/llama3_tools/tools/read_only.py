"""JSON values that cannot be changed, for what many share."""

from __future__ import annotations

from typing import Any, NoReturn


class _ReadOnly:
    """What copies of it are: JSON that can be changed, at all depths."""

    __slots__ = ()

    def __copy__(self) -> object:
        return changeable(self)

    def __deepcopy__(self, _: object) -> object:
        return changeable(self)

    def __reduce__(self) -> tuple[object, ...]:
        return read_only, (changeable(self),)


class _Dict(_ReadOnly, dict[str, Any]):
    """A dict to read in."""

    __slots__ = ()


class _List(_ReadOnly, list[Any]):
    """A list to read in."""

    __slots__ = ()


def read_only(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Copy a JSON value into one that raises a `TypeError` where it is changed, and equals the value in all else.

    >>> read_only({"required": ["city"]})["required"].append("days")
    Traceback (most recent call last):
    TypeError: this is shared, and cannot be changed: change a copy.deepcopy() of it
    """
    if isinstance(value, dict):
        return _Dict({key: read_only(member) for key, member in value.items()})
    if isinstance(value, (list, tuple)):
        return _List(map(read_only, value)) if isinstance(value, list) else tuple(map(read_only, value))
    return value


def changeable(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Copy a JSON value into one that can be changed.

    >>> changeable(read_only({"required": ["city"]}))["required"] + ["days"]
    ['city', 'days']
    """
    if isinstance(value, dict):
        return {key: changeable(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(changeable, value)) if isinstance(value, list) else tuple(map(changeable, value))
    return value


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("this is shared, and cannot be changed: change a copy.deepcopy() of it")


_BOTH = ("__delitem__", "__setitem__", "clear", "pop")
for _kind, _methods in {
    _Dict: (*_BOTH, "__ior__", "popitem", "setdefault", "update"),
    _List: (*_BOTH, "__iadd__", "__imul__", "append", "extend", "insert", "remove", "reverse", "sort"),
}.items():
    for _method in _methods:
        setattr(_kind, _method, _refuse)
