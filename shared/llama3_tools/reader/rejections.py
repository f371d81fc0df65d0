"""The rejections of one turn, and which of them are attempts: the model meant to call (principle 7)."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from llama3_tools.limits import LONGEST_NAME
from llama3_tools.literals.python_scalars import is_unicode
from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.json_calls import OTHER_NAMES
from llama3_tools.reader.quotation import IN_FENCE, IN_SPAN, IN_STRING, IN_THOUGHTS
from llama3_tools.values import Rejection, RejectionReason

__all__ = ["LONGEST_LOOK", "Rejections", "attempted_name", "has_call_keys"]

LONGEST_LOOK = 4096
"""How far into a candidate anyone looks for a name or a key."""

_NAME = re.compile(
    rf"""["'](?:name|{"|".join(OTHER_NAMES)})["']\s*:\s*["']((?:[^"'\\]|\\[\s\S]){{1,{LONGEST_NAME * 6}}})["']"""
)
_KEYS = re.compile(r"""["'](?:parameters|arguments|tool_calls?)["']?\s*:""")
_NEVER = (RejectionReason.SCHEMA_ECHO, RejectionReason.TOO_MANY, RejectionReason.QUOTED)
_MEANT_ALONE = {IN_FENCE, IN_SPAN, IN_STRING, IN_THOUGHTS}
"""The quotations that the model may have meant as calls, if they are all that it wrote."""


def attempted_name(text: str) -> str | None:
    r"""Return the name that a broken candidate seems to call, if there is one.

    >>> attempted_name(r'{"name": "f\u005f1", "parameters": {oops')
    'f_1'
    """
    found = _NAME.search(text, 0, LONGEST_LOOK)
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
    return name if len(name) <= LONGEST_NAME else None


def has_call_keys(text: str) -> bool:
    """Return whether a candidate has the key of arguments, or that of an envelope.

    >>> has_call_keys('{"arguments": {"now": True}'), has_call_keys('{"name": "Alice"')
    (True, False)
    """
    return _KEYS.search(text, 0, LONGEST_LOOK) is not None


class Rejections:
    """Collects rejections, up to a limit.

    >>> rejections = Rejections(limit=1)
    >>> rejections.add(0, 9, Refusal(RejectionReason.MISSING_ARGUMENTS, "no arguments", "f"))
    >>> rejections.in_order()
    (<Rejection 0:9 of 'f' missing_arguments: no arguments>,)
    """

    __slots__ = ("_limit", "_list", "_quotations")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._list: list[Rejection] = []
        self._quotations: set[str] = set()

    def add(self, start: int, end: int, refusal: Refusal, *, is_meant: bool = False) -> None:
        """Take a rejection.

        Args:
            start: the offset of its first character.
            end: the offset after its last.
            refusal: why it is no call.
            is_meant: whether the model meant to call by it.
        """
        found = self._list
        if len(found) > self._limit:
            return
        reason, detail, name = refusal
        if reason is RejectionReason.QUOTED:
            self._quotations.add(detail)
        if len(found) == self._limit:
            reason = RejectionReason.TOO_MANY
            detail = f"beyond the first {self._limit} rejections, and no others are listed"
        found.append(Rejection((start, end), reason, detail, name, is_meant and reason not in _NEVER))

    @property
    def has_attempt(self) -> bool:
        """Whether an attempt was rejected lately."""
        return any(one.is_attempt for one in self._list[-4:])

    def name_last(self, name: str) -> bool:
        """Give the last rejection the name of its tool, if it is an attempt that lacks one; return whether it does."""
        last = self._list[-1] if self._list else None
        if last is None or not last.is_attempt or last.name is not None:
            return False
        self._list[-1] = replace(last, name=name)
        return True

    def covers(self, offset: int) -> bool:
        """Return whether what stands at an offset was rejected lately."""
        return any(one.span[0] <= offset < one.span[1] for one in self._list[-4:])

    def mean_quoted(self) -> None:
        """Take the calls in quotation for attempts, as a quotation is all that the output holds."""
        if self._quotations and not self._quotations - _MEANT_ALONE:
            self._list = [
                replace(one, is_attempt=True) if one.reason is RejectionReason.QUOTED else one for one in self._list
            ]

    def in_order(self) -> tuple[Rejection, ...]:
        """Return them in the order of the text."""
        return tuple(sorted(self._list, key=lambda one: one.span)) if self._list else ()
