"""The rejections of one turn, in the order in which they were found (rule 15)."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from llama3_tools.calls.attempts import NEVER
from llama3_tools.literals.refusal import Refusal
from llama3_tools.values import Rejection, RejectionReason

__all__ = ["IN_RESULT", "IN_SPAN", "IN_STRING", "IN_THOUGHTS", "Rejections"]

IN_STRING = "directly between quotation marks"
IN_SPAN = "in a code span"
IN_THOUGHTS = "in thoughts"
IN_RESULT = "in the repeated result of a tool"
_MEANT_ALONE = {IN_STRING, IN_SPAN, IN_THOUGHTS}
"""The quotations that the model may have meant as calls, if they are all that it wrote (rule 15)."""


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
            end: the offset after its last. If text in it was rejected before, it ends there.
            refusal: why it is no call.
            is_meant: whether the model meant to call by it.
        """
        found = self._list
        if len(found) > self._limit:
            return
        reason, detail, name = refusal
        if found and found[-1].span[0] < start < found[-1].span[1]:  # found inside its last token (rule 6)
            found[-1] = replace(found[-1], span=(found[-1].span[0], start))
        for inside in takewhile(lambda one: one.span[0] > start, reversed(found)):  # a tag is rejected when it closes
            end = min(end, inside.span[0])
        if len(found) == self._limit:
            reason = RejectionReason.TOO_MANY
            detail = f"beyond the first {self._limit} rejections, and no others are listed"
        is_attempt = is_meant and reason not in NEVER and reason is not RejectionReason.QUOTED
        found.append(Rejection((start, end), reason, detail, name, is_attempt))

    def add_quoted(self, start: int, end: int, why: str, name: str | None) -> None:
        """Take a call that is quotation.

        Args:
            start: the offset of its first character.
            end: the offset after its last.
            why: what quotes it.
            name: the tool that it names, if that is known.
        """
        self._quotations.add(why)
        self.add(start, end, Refusal(RejectionReason.QUOTED, why, name))

    def has_any_at(self, offset: int) -> bool:
        """Return whether what stands at an offset was rejected."""
        return any(one.span[0] <= offset < one.span[1] for one in reversed(self._list))

    def mean_quoted(self) -> None:
        """Take the calls in quotation for attempts, as a quotation is all that the output holds."""
        if self._quotations and not self._quotations - _MEANT_ALONE:
            self._list = [
                replace(one, is_attempt=True) if one.reason is RejectionReason.QUOTED else one for one in self._list
            ]

    def in_order(self) -> tuple[Rejection, ...]:
        """Return them in the order of the text."""
        return tuple(sorted(self._list, key=lambda one: one.span)) if len(self._list) > 1 else tuple(self._list)
