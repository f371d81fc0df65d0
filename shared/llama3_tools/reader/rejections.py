"""The rejections of one turn, and which of them are attempts: the model meant to call (principle 7)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import replace

from llama3_tools.limits import LONGEST_NAME
from llama3_tools.literals.python_scalars import is_unicode
from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.json_calls import OTHER_NAMES
from llama3_tools.reader.leftovers import REACH, leftovers
from llama3_tools.reader.quotation import IN_FENCE, IN_SPAN, IN_STRING, IN_THOUGHTS, Quotation
from llama3_tools.reader.window import Window
from llama3_tools.values import Rejection, RejectionReason

LONGEST_LOOK = 4096
"""How far into a candidate anyone looks for a name or a key."""

_NAME = re.compile(
    rf"""["'](?:name|{"|".join(OTHER_NAMES)})["']\s*:\s*["']((?:[^"'\\]|\\[\s\S]){{1,{LONGEST_NAME * 6}}})["']"""
)
_KEYS = re.compile(r"""["'](?:parameters|arguments|tool_calls?)["']?\s*:""")
_NEVER = (RejectionReason.SCHEMA_ECHO, RejectionReason.TOO_MANY, RejectionReason.QUOTED)
_MOST_NAMES = 64
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
    """Return whether a candidate has a key of arguments or of an envelope.

    >>> has_call_keys('{"arguments": {"now": True}'), has_call_keys('{"name": "Alice"')
    (True, False)
    """
    return _KEYS.search(text, 0, LONGEST_LOOK) is not None


class Rejections:
    """Collects what is rejected, up to a limit, and reports odd forms in the text that is left.

    >>> rejections = Rejections(window := Window(), Quotation(window, ()), (), limit=1)
    >>> rejections.add(0, 9, Refusal(RejectionReason.MISSING_ARGUMENTS, "no arguments", "f"))
    >>> rejections.in_order()
    (<Rejection 0:9 of 'f' missing_arguments: no arguments>,)
    """

    def __init__(self, window: Window, quotation: Quotation, names: Collection[str], limit: int) -> None:
        self._window = window
        self._quotation = quotation
        self._names = names
        self._limit = limit
        self._list: list[Rejection] = []
        self._quotations: set[str] = set()
        self._broke_at = -1
        """The offset of the candidate that broke last: odd forms up to the next call may be parts of it."""
        self._looked_over = 0
        """The offset up to which text was searched for odd forms."""
        self.has_words = False
        """Whether there is text outside quotation."""

    def add(self, start: int, end: int, refusal: Refusal, *, is_meant: bool = False) -> None:
        """Add a rejection, from one offset to another."""
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

    def note_broken(self, offset: int) -> None:
        """Note that the candidate at an offset broke."""
        self._broke_at = offset

    def note_words(self) -> None:
        """Note that there is text outside quotation."""
        self.has_words = True

    def look_over(self, end: int) -> None:
        """Report odd forms that name a declared tool, in text up to an index that was not searched before."""
        names = self._names
        if not names:
            return
        base, text = self._window.base, self._window.text
        begin = max(self._quotation.line_from - base, 0)
        start = max(self._looked_over - base, begin)
        self._looked_over = base + end
        broke = self._broke_at >= self._quotation.line_from
        if len(names) <= _MOST_NAMES:
            looked_at = text[max(start - REACH, begin) : end]
            if not any(name in looked_at for name in names):
                return
        for left in leftovers(text, begin, start, end, names):
            if any(one.span[0] <= base + left.start < one.span[1] for one in self._list[-4:]):
                continue
            if broke and self._name_last(left.name):
                continue  # of an object that broke before its name
            at = left.start - (text[left.start - 1 : left.start] in ("'", '"'))  # the quotes of the name quote nothing
            quoted = self._quotation.why(at)
            refusal = Refusal(RejectionReason.NOT_A_CALL, f"{left.name!r} in a form that is no call", left.name)
            if quoted is not None:
                refusal = Refusal(RejectionReason.QUOTED, quoted, left.name)
            is_meant = not (broke and any(one.is_attempt for one in self._list[-4:]))
            self.add(base + left.start, base + left.end, refusal, is_meant=is_meant)

    def _name_last(self, name: str) -> bool:
        """Set the name of the last rejection if it is an attempt without one; return whether it was."""
        last = self._list[-1] if self._list else None
        if last is None or not last.is_attempt or last.name is not None:
            return False
        self._list[-1] = replace(last, name=name)
        return True

    def mean_quoted(self) -> None:
        """Mark quoted calls as attempts if the output has nothing but quotation."""
        if not self.has_words and self._quotations and not self._quotations - _MEANT_ALONE:
            self._list = [
                replace(one, is_attempt=True) if one.reason is RejectionReason.QUOTED else one for one in self._list
            ]

    def in_order(self) -> tuple[Rejection, ...]:
        """Return them in the order of the text."""
        return tuple(sorted(self._list, key=lambda one: one.span)) if self._list else ()
