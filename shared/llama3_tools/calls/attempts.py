"""What makes a rejection an attempt: the model meant to call (rule 15)."""

from __future__ import annotations

import json
import re

from llama3_tools.reading.python_scalars import is_unicode
from llama3_tools.values import RejectionReason

__all__ = ["NEVER", "attempted_name", "has_call_keys"]

NEVER = frozenset({RejectionReason.SCHEMA_ECHO, RejectionReason.TOO_MANY})
"""The reasons that no attempt has: a prompt repeated, and calls that are merely too many."""

_FAR = 4096
"""How far into a broken candidate anyone looks."""

_LONGEST_NAME = 128
_NAME = re.compile(r"""["'](?:name|tool_name|function)["']\s*:\s*["']((?:[^"'\\]|\\[\s\S]){1,768})["']""")
_KEYS = re.compile(r"""["'](?:parameters|arguments|tool_calls?)["']?\s*:""")


def attempted_name(text: str) -> str | None:
    r"""Return the name that a broken candidate seems to call, if there is one.

    >>> attempted_name(r'{"name": "f\u005f1", "parameters": {oops')
    'f_1'
    """
    found = _NAME.search(text, 0, _FAR)
    if found is None:
        return None
    name = found[1]
    if "\\" in name:
        try:
            name = json.loads(f'"{name}"')
        except ValueError:  # an escape that JSON does not have
            return None
        if not is_unicode(name):
            return None
    return name if len(name) <= _LONGEST_NAME else None


def has_call_keys(text: str) -> bool:
    """Return whether a candidate has the key of arguments, or that of an envelope.

    >>> has_call_keys('{"arguments": {"now": True}'), has_call_keys('{"name": "Alice"')
    (True, False)
    """
    return _KEYS.search(text, 0, _FAR) is not None
