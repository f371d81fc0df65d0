"""The wire formats, in the order in which they are tried where several begin with the same character.

A new format is a file in this folder and a line in this list.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias, get_args

from llama3_tools.formats.base import Openings
from llama3_tools.formats.fence import FENCE
from llama3_tools.formats.function_tag import FUNCTION_TAG
from llama3_tools.formats.json_calls import JSON_ARRAY, JSON_OBJECT
from llama3_tools.formats.protocol_tokens import PROTOCOL_TOKEN
from llama3_tools.formats.pythonic import pythonic_line, pythonic_list
from llama3_tools.formats.quotation import THINK
from llama3_tools.formats.wrappers import PYTHON_START, TOOL, TOOL_CALL

__all__ = ["FormatName", "Formats", "Reads", "openings_of", "require_formats"]

FormatName: TypeAlias = Literal["json", "tool_call", "tool", "function", "pythonic"]
"""A form of writing calls, as it can be asked for (rule 11)."""

Formats: TypeAlias = Iterable[FormatName] | Literal["all"] | None
"""The forms that are read: their names, or `"all"`. `None`: what cannot be mistaken for prose, and where tools are
declared the rest too, for those."""

_ALL = get_args(FormatName)
_TAGS = {"tool_call": TOOL_CALL, "tool": TOOL, "function": FUNCTION_TAG}


class Reads(NamedTuple):
    """What begins a candidate."""

    bare: Openings
    """In the text of the output."""
    inside: Openings
    """Inside a wrapper."""


def require_formats(formats: Formats) -> tuple[str, ...] | None:
    """Check the names of formats.

    >>> require_formats("all")
    ('json', 'tool_call', 'tool', 'function', 'pythonic')

    Raises:
        TypeError: not a list of names.
        ValueError: no name at all, or one that no format has.
    """
    if formats is None:
        return None
    names = _ALL if formats == "all" else (formats,) if isinstance(formats, str) else tuple(formats)
    unknown = [name for name in names if name not in _ALL]
    if unknown or not names:
        what = f"{unknown[0]!r}" if unknown else "an empty list"
        raise ValueError(f'formats are "all", or a list of {", ".join(_ALL)}; not {what}')
    return names


@lru_cache(maxsize=64)
def openings_of(formats: tuple[str, ...] | None, declared: tuple[str, ...] | None) -> Reads:
    """Give what is read for the formats that were asked for, and the names of the declared tools."""
    asked = formats or ()
    names = _ALL if formats is None and declared is not None else formats or _ALL[:-1]
    reads_json = "json" in names
    tags = [tag for name, tag in _TAGS.items() if name in names]
    if "pythonic" in names:
        brackets = [pythonic_list(any_name="pythonic" in asked, json=json) for json in (reads_json, True)]
        lines = [pythonic_line(declared)] if declared else []
    else:
        brackets, lines = [JSON_ARRAY, JSON_ARRAY], []
    rest = [*tags, FENCE, PYTHON_START, PROTOCOL_TOKEN, THINK, *filter(None, lines)]
    bare = [JSON_OBJECT, brackets[0]] if reads_json else brackets[:1] if "pythonic" in names else []
    return Reads(Openings([*bare, *rest]), Openings([JSON_OBJECT, brackets[1], *rest]))
