"""The wire formats, in the order in which they are tried where several begin with the same character.

A new format is a file in this folder and a line in `_FORMATS`. If it can be asked for, its name stands in `FormatName`
and in `llama3_acceptance/suite.schema.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias, get_args

from llama3_tools.formats.base import Choice, Openings, WireFormat, always, beside_calls, where_read
from llama3_tools.formats.code import code
from llama3_tools.formats.fence import FENCE
from llama3_tools.formats.function_tag import function_tag
from llama3_tools.formats.json_calls import json_array, json_object
from llama3_tools.formats.protocol_tokens import PROTOCOL_TOKEN
from llama3_tools.formats.pythonic import pythonic_line, pythonic_list
from llama3_tools.formats.quotation import opened_thought, think
from llama3_tools.formats.repeated import COMMENT, HTML_CODE, HTML_PRE, TOOL_RESPONSE
from llama3_tools.formats.wrappers import FUNCTION, FUNCTIONCALL, PYTHON_START, TOOL, TOOL_CALL, TOOLS

__all__ = ["Choice", "FormatName", "Formats", "Reads", "reads_of", "require_formats"]

FormatName: TypeAlias = Literal[
    "json", "tool_call", "tool", "tools", "function", "functioncall", "pythonic", "code", "all", "none"
]
"""A form of writing calls, as it can be asked for (rule 11); or all of them, or none."""

Formats: TypeAlias = Iterable[FormatName] | FormatName | None
"""The forms that are read: their names, or one. `None`: what cannot be mistaken for prose, and where tools are declared
the rest too, for those. `"none"`: no call is read at all, and nothing but reasoning is taken out of the text."""

_FORMATS: tuple[Callable[[Choice], WireFormat | None], ...] = (
    json_object,
    json_array,
    pythonic_list,
    where_read(TOOL_CALL),
    where_read(TOOL),
    where_read(TOOLS),
    where_read(FUNCTIONCALL),
    where_read(FUNCTION),
    function_tag,
    always(FENCE),
    code,
    beside_calls(PYTHON_START),
    beside_calls(PROTOCOL_TOKEN),
    always(COMMENT),
    always(HTML_CODE),
    always(HTML_PRE),
    always(TOOL_RESPONSE),
    think,
    pythonic_line,
)


class Reads(NamedTuple):
    """What begins a candidate."""

    bare: Openings
    """In the text of the output."""
    inside: Openings
    """Inside a wrapper."""
    first: WireFormat | None
    """What the output begins with, without a marker."""

    plain_calls: bool
    """Whether a JSON object that stands bare may be a call."""


def require_formats(formats: Formats) -> tuple[FormatName, ...] | None:
    """Check the names of formats, and give each of those meant.

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
        raise ValueError(f"formats are out of {', '.join(known)}; not {what}")
    meant = known if "all" in names else names
    return tuple(name for name in meant if name not in ("all", "none")) or ("none",)


@lru_cache(maxsize=64)
def reads_of(choice: Choice) -> Reads:
    """Give what is read."""
    first = opened_thought(choice) if choice.starts_reasoning else None
    plain_calls = first is None and choice.reads("json")
    return Reads(_openings(choice), _openings(choice._replace(is_inside=True)), first, plain_calls)


def _openings(choice: Choice) -> Openings:
    return Openings(filter(None, (choose(choice) for choose in _FORMATS)))
