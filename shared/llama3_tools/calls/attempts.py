"""What makes a rejection an attempt: the model meant to call (rule 15)."""

from __future__ import annotations

import json
import re

from llama3_tools.calls.shapes import ENVELOPES, OTHER_NAMES
from llama3_tools.limits import LONGEST_NAME
from llama3_tools.literals.python_scalars import is_unicode
from llama3_tools.values import RejectionReason

__all__ = ["LONGEST_LOOK", "NEVER", "attempted_name", "has_call_keys", "name_so_far"]

NEVER = frozenset({RejectionReason.SCHEMA_ECHO, RejectionReason.TOO_MANY})
"""The reasons that no attempt has: a prompt repeated, and calls that are merely too many."""

LONGEST_LOOK = 4096
"""How far into a candidate anyone looks for a name or a key."""

_LONGEST_ESCAPED = LONGEST_NAME * len(r"\u0061")
_NAME = re.compile(
    rf"""["'](?:name|tool_name|function)["']\s*:\s*["']((?:[^"'\\]|\\[\s\S]){{1,{_LONGEST_ESCAPED}}})["']"""
)
_NAME_KEYS = ("name", "tool_name", "function")
_AROUND_A_CALL = ("", "function", *ENVELOPES)
"""The keys around the name of a call, and around nothing of its arguments; an element of a list has none."""
_TOKEN = re.compile(
    r"""(?:"(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<single>[^'\\]*(?:\\.[^'\\]*)*)')(?P<colon>\s*:)?|[{}\[\],"']""",
    re.DOTALL,
)
_KEYS = re.compile(r"""["'](?:parameters|arguments|tool_calls?)["']?\s*:""")


def attempted_name(text: str) -> str | None:
    r"""Return the name that a broken candidate seems to call, if there is one.

    >>> attempted_name(r'{"name": "f\u005f1", "parameters": {oops')
    'f_1'
    """
    found = _NAME.search(text, 0, LONGEST_LOOK)
    return None if found is None else _decoded(found[1])


def name_so_far(text: str, *, lenient: bool) -> str | None:
    """Return the name that a candidate calls which is still being written, if it has come: none in its arguments.

    >>> name_so_far('{"arguments": {"name": "Ann"', lenient=False)
    >>> name_so_far('{"arguments": {"name": "Ann"}, "name": "f"', lenient=False)
    'f'

    Args:
        text: what has come of the candidate.
        lenient: whether the name may stand under other keys.
    """
    keys = (*_NAME_KEYS, *OTHER_NAMES) if lenient else _NAME_KEYS
    path: list[str] = []
    key = ""
    for token in _TOKEN.finditer(text, 0, LONGEST_LOOK):
        string = token["double"] or token["single"]
        if token[0] in ('"', "'"):  # a string that is still open
            return None
        if token[0] in ("{", "["):
            path.append(key)
        elif token[0] in ("}", "]"):
            path = path[:-1]
        if string is None:
            key = ""
        elif token["colon"]:
            key = string
        elif string and key in keys and all(one in _AROUND_A_CALL for one in path):
            return _decoded(string)
    return None


def _decoded(name: str) -> str | None:
    """Return a name as it is meant, if it can be one."""
    if "\\" in name:
        try:
            name = json.loads(f'"{name}"')
        except ValueError:  # an escape that JSON does not have
            return None
        if not is_unicode(name):
            return None
    return name if len(name) <= LONGEST_NAME else None


def has_call_keys(text: str) -> bool:
    """Return whether a candidate has the key of arguments, or that of an envelope.

    >>> has_call_keys('{"arguments": {"now": True}'), has_call_keys('{"name": "Alice"')
    (True, False)
    """
    return _KEYS.search(text, 0, LONGEST_LOOK) is not None
