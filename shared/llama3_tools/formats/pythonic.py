"""Pythonic calls, `[get_weather(city='Paris'), now()]`: of declared tools, or asked for by name (rule 11)."""

from __future__ import annotations

import re

from llama3_tools.formats.base import LOOK_BEHIND, NAME_CHAR, SPACE, WORD_NAME, Kind, WireFormat, beginnings
from llama3_tools.limits import LONGEST_NAME
from llama3_tools.literals.json_object import JsonObject, parse_object
from llama3_tools.literals.python_tokens import PythonTokens
from llama3_tools.literals.refusal import Refusal
from llama3_tools.text.json_writing import write_string
from llama3_tools.tools.declared import Tool
from llama3_tools.values import RejectionReason, shortened

__all__ = [
    "METHOD",
    "NAMED_LIST",
    "PYTHONIC_CALL",
    "PYTHONIC_LIST",
    "PYTHONIC_NAME",
    "PYTHONIC_NAME_BEGINS",
    "arguments_in_json",
    "goes_on_as_code",
    "is_part_of_code",
    "listed_name",
    "name_before",
    "quoted_name_before",
]

METHOD = ".call"
"""What Meta's built-in tools end with: `brave_search.call(query="…")`. Its template writes strings as they are, and its
decoder takes them so: meta-llama/llama-models, chat_format.py of llama3."""

PYTHONIC_NAME = rf"{WORD_NAME}(?:{re.escape(METHOD)})?"
"""The name in a pythonic call, with `METHOD` or without."""
PYTHONIC_NAME_BEGINS = rf"{PYTHONIC_NAME}(?:{beginnings(METHOD)})?"
"""As much of one as has come."""

PYTHONIC_LIST = WireFormat(
    "pythonic_list",
    Kind.LIST,
    rf"\[(?={SPACE}{PYTHONIC_NAME}{SPACE}\()",
    rf"\[{SPACE}(?:{PYTHONIC_NAME_BEGINS}{SPACE})?",
    "[",
    r"[ \t\n\r]|[^\W\d]",
    asked_for_as="pythonic",
    may_be_code=True,
)
# ['get_weather', {…}], [('get_weather', {…})] and [get_weather, city='Paris']: 15 of 6,188 outputs of BFCL, all of
# Llama 3 8B, say so what they would call.
NAMED_LIST = WireFormat(
    "named_list",
    Kind.NAMED_LIST,
    rf"\[(?=[\[(]{{0,2}}[\"']?(?P<listed_name>{PYTHONIC_NAME})[\"']?[ ]{{0,8}},[ ]{{0,8}}(?:\{{|{PYTHONIC_NAME}=))",
    rf"\[[\[(]{{0,2}}[\"']?(?:{PYTHONIC_NAME_BEGINS}[\"']?[ ]{{0,8}}(?:,[ ]{{0,8}}(?:{PYTHONIC_NAME_BEGINS})?)?)?",
    "[",
    r"[\[(\"']|[^\W\d]",
    asked_for_as="pythonic",
    is_inside=False,
)
PYTHONIC_CALL = WireFormat(
    "pythonic", Kind.CALL, r"\((?<=[\w.:/-]\()", r"(?!)", "(", "", asked_for_as="pythonic", is_inside=False
)

# What makes a list a part of code, or a link: what stands before it, and directly after it.
_CODE_BEFORE = re.compile(
    r"(?:[\w)\]\"'`#]|[=(]\s*|\b(?:return|yield|in)\s|\blambda\b[ \w,]*:\s*|[\w)\]\"'][ \t]*[+*/%|&@]\s*|[ \t]<\s*"
    r"|[\"']\s*:\s*|\w\([^()\n]{0,64},\s*|=\s*[\w.]{1,32} (?:or|and)\s|(?:^|\n)[ \t]*assert\s"
    r"|\w\((?:[^()\"'\n]|\"[^\"\n]*\"|'[^'\n]*')*(?:\"[^\"\n]*|'[^'\n]*))\Z"  # a string of a call
)
_CODE_AFTER = re.compile(rf"[(:]|\.\w|\[(?!{SPACE}{PYTHONIC_NAME}{SPACE}\()|[ \t]{{1,8}}else\b")
_MAY_BE_CODE_AFTER = re.compile(
    rf"(?:[ \t]{{1,8}}(?:e(?:l(?:s(?:e)?)?)?)?|\.|\[{SPACE}(?:{PYTHONIC_NAME_BEGINS}{SPACE})?)?\Z"
)


_LONGEST_AT_END = LONGEST_NAME + len(METHOD) + 5
_NAME_AT_END = re.compile(rf"(?<!{NAME_CHAR})({PYTHONIC_NAME_BEGINS})[ \t]{{0,4}}\r?\Z").search
_LISTED_NAME = re.compile(rf"\[{SPACE}({PYTHONIC_NAME})(?!{NAME_CHAR})").match
_QUOTED_NAME = re.compile(rf"[\[(,]\s{{0,8}}[\"'(]{{1,2}}\s{{0,8}}({PYTHONIC_NAME})\Z")


def name_before(text: str, at: int) -> re.Match[str] | None:
    """Find the name that ends directly before an index, or before a few blanks and a carriage return there.

    >>> name_before("So: get_weather(", 15)[1]
    'get_weather'
    """
    first = max(at - _LONGEST_AT_END, 0)
    end = at if text[at - 1] not in " \t\r" else first + len(text[first:at].rstrip(" \t\r"))
    return _NAME_AT_END(text, max(text.rfind(" ", first, end), first), at)


def quoted_name_before(text: str, at: int) -> re.Match[str] | None:
    """Find the name that ends directly before an index, and stands in a list of strings.

    >>> quoted_name_before("['now()', 'get_weather(", 22)[1]
    'get_weather'
    """
    return _QUOTED_NAME.search(text, max(at - LOOK_BEHIND, 0), at)


def listed_name(text: str, at: int) -> re.Match[str] | None:
    """Find the name with which the list at an index begins.

    >>> listed_name("[ now()]", 0)[1]
    'now'
    """
    return _LISTED_NAME(text, at)


def is_part_of_code(before: str) -> bool:
    """Return whether a pythonic list is a part of code, by what stands before it on its line.

    >>> is_part_of_code("x = "), is_part_of_code("I call ")
    (True, False)
    """
    return _CODE_BEFORE.search(before) is not None


def goes_on_as_code(text: str, pos: int, *, ended: bool) -> bool | None:
    """Return whether a pythonic list is a part of code or of a link, by what follows; `None`: it takes more text.

    >>> goes_on_as_code("[f()].x", 5, ended=True), goes_on_as_code("[f()].", 5, ended=False)
    (True, None)
    """
    if not ended and _MAY_BE_CODE_AFTER.match(text, pos):
        return None
    return _CODE_AFTER.match(text, pos) is not None


def arguments_in_json(tokens: PythonTokens, tool: Tool | None) -> str | Refusal:
    """Write the arguments of a call as one JSON object; those without a name by the order of the tool's parameters."""
    positional, named = tokens.positional, tokens.keywords
    if not positional:
        return f"{{{', '.join([f'{write_string(name)}: {value}' for name, value in named.items()])}}}"
    parameters = list(tool.parameters.get("properties") or ()) if tool else []
    if len(positional) == 1 and not named and positional[0].startswith("{"):
        parsed = parse_object(positional[0], 0, checked=True)
        if parsed and not _is_value(parsed, tool, parameters):
            return positional[0]
    if len(positional) > len(parameters):
        detail = f"{len(positional)} arguments without a name, and {len(parameters)} declared parameters to take them"
        return Refusal(RejectionReason.INVALID_ARGUMENTS, detail)
    given = dict(zip(parameters, positional, strict=False))
    twice = next((name for name in named if name in given), None)
    if twice is not None:
        return Refusal(RejectionReason.MALFORMED, f"the argument {shortened(twice)!r} stands twice")
    members = (f"{write_string(name)}: {value}" for name, value in {**given, **named}.items())
    return f"{{{', '.join(members)}}}"


def _is_value(parsed: JsonObject, tool: Tool | None, parameters: list[str]) -> bool:
    """Return whether a lone object is the value of the first parameter, rather than all arguments."""
    if not (tool and parameters):
        return False
    if parsed.members:
        return not all(key in parameters for key in parsed.members)
    schema = tool.parameters["properties"][parameters[0]]
    return tool.requires_arguments and isinstance(schema, dict) and schema.get("type") == "object"
