"""The rejections of one turn, and which of them are attempts: the model meant to call (principle 7)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from llama3_tools.limits import LONGEST_NAME
from llama3_tools.literals.python_scalars import is_unicode
from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.attempts import MOST_AFTER, Evidence, Shape, is_attempt, line_before, words_from
from llama3_tools.reader.json_calls import LONGEST_LOOK, OTHER_NAMES
from llama3_tools.reader.leftovers import REACH, leftovers
from llama3_tools.reader.quotation import IN_FENCE, IN_SPAN, IN_STRING, IN_THOUGHTS, Quotation
from llama3_tools.reader.window import Window
from llama3_tools.tools.declared import Tool
from llama3_tools.values import Rejection, RejectionReason, Span, ToolCall

_NAME = re.compile(
    rf"""["'](?:name|{"|".join(OTHER_NAMES)})["']\s*:\s*["']((?:[^"'\\]|\\[\s\S]){{1,{LONGEST_NAME * 6}}})["']"""
)
_MOST_NAMES = 64
_LATELY = 16
"""At how many of the last, or next, rejections anyone looks for those inside or beside one."""
_WORD = re.compile(r"[^\W\d_]").search
_MAY_BE_CALL = re.compile(r"\n[\W\d_]{0,16}[\w.:-]{0,64}(?:[(\[{][^\n]*)?\Z").search
"""Searches text for a last line that may become a call."""
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


class Rejections:
    """Collects what is rejected, up to a limit, and odd forms in the text that is left; decides which are attempts.

    >>> rejections = Rejections(window := Window(), Quotation(window, ()), {}, limit=1)
    >>> rejections.add(0, 9, Refusal(RejectionReason.MISSING_ARGUMENTS, "no arguments", "f"))
    >>> rejections.in_order(())
    (<Rejection 0:9 of 'f' missing_arguments: no arguments>,)
    """

    def __init__(self, window: Window, quotation: Quotation, names: Mapping[str, Tool], limit: int) -> None:
        self._window = window
        self._quotation = quotation
        self._names = names
        self._limit = limit
        self._list: list[tuple[Rejection, Evidence | None]] = []
        """The rejections, with what is known of each; `None`: it is not an attempt."""
        self._passed = 0
        """How many of the first ones are not wanted."""
        self._first: Rejection | None = None
        """The first one that is wanted, if that is decided."""
        self._open: list[tuple[int, Evidence]] = []
        """Those of which more of the text that follows is kept, and from which offset on."""
        self._broke_at = -1
        """The offset of the candidate that broke last: what is left over, up to the next call, may be a part of it."""
        self._looked_over = 0
        """The offset up to which text was looked over for what is left."""
        self.words_from = -1
        """The offset of the first word of the content outside of thoughts and candidates; -1 if there is none."""

    def add(self, start: int, end: int, refusal: Refusal, evidence: Evidence | None = None) -> None:
        """Add a rejection, from one offset to another, with what is known of it if it may be an attempt."""
        count = len(self._list)
        if count > self._limit:
            return
        reason, detail, name = refusal
        if reason is RejectionReason.QUOTED and evidence is not None:
            evidence.in_thoughts = detail == IN_THOUGHTS
            evidence.is_part = evidence.is_part or detail not in _MEANT_ALONE
        if count == self._limit:
            reason, evidence = RejectionReason.TOO_MANY, None
            detail = f"beyond the first {self._limit} rejections, and no others are listed"
        self._list.append((Rejection((start, end), reason, detail, name), evidence))
        if evidence is not None:
            self._open.append((end, evidence))

    def note_broken(self, offset: int) -> None:
        """Note that a candidate broke that begins at an offset."""
        self._broke_at = offset

    def note_words(self, piece: str, offset: int) -> None:
        """Note text outside of thoughts and candidates, from an offset on."""
        if (word := _WORD(piece)) is not None:
            self.words_from = offset + word.start()

    def is_before_words(self, offset: int) -> bool:
        """Return whether no words are before an offset."""
        return not 0 <= self.words_from < offset

    def read_on(self, end: int) -> None:
        """Keep what follows rejections, up to an index of the window."""
        text, base = self._window.text, self._window.base
        still_open = []
        for offset, evidence in self._open:
            begin = max(offset - base, 0)
            piece = text[begin : min(end, begin + MOST_AFTER - len(evidence.after))] if begin < end else ""
            evidence.after += piece
            if not evidence.is_full:
                still_open.append((max(offset, base + begin + len(piece)), evidence))
        self._open = still_open

    def look_over(self, end: int) -> None:
        """Report what names a declared tool in an odd form, in text that was not looked over, up to an index."""
        names = self._names
        if not names:
            return
        base, text = self._window.base, self._window.text
        begin = max(self._quotation.line_from - base, 0)
        start = max(self._looked_over - base, begin)
        self._looked_over = base + end
        if len(names) <= _MOST_NAMES:
            looked_at = text[max(start - REACH, begin) : end]
            if not any(name in looked_at for name in names):
                return
        for left in leftovers(text, begin, start, end, names):
            parameters = names[left.name].parameters.get("properties") or ()
            if left.key and left.key not in parameters:
                continue
            lately = [
                one for one in self._list[-_LATELY:] if one[0].name or one[1] is None or one[1].shape is not Shape.TAG
            ]
            if any(one.span[0] <= base + left.start < one.span[1] for one, _ in lately):
                continue
            broke = self._quotation.line_from <= self._broke_at < base + left.start
            if broke and self._name_last(left.name):
                continue  # of an object that broke before its name
            at = left.start - (text[left.start - 1 : left.start] in ("'", '"'))  # the quotes of the name quote nothing
            quoted = self._quotation.why(at)
            refusal = Refusal(RejectionReason.NOT_A_CALL, f"{left.name!r} in a form that is not a call", left.name)
            if quoted is not None:
                refusal = Refusal(RejectionReason.QUOTED, quoted, left.name)
            evidence = Evidence(Shape.NAMED, line_before(text, left.start), is_odd=True)
            evidence.parameters = parameters
            evidence.is_part = broke and any(evidence is not None for _, evidence in lately)
            self.add(base + left.start, base + left.end, refusal, evidence)

    def _name_last(self, name: str) -> bool:
        """Add the tool's name to the last rejection if it has none and may be an attempt; return whether it did."""
        one, evidence = self._list[-1] if self._list else (None, None)
        if one is None or evidence is None or one.name is not None or evidence.shape is not Shape.OBJECT:
            return False
        self._list[-1] = replace(one, name=name), evidence
        return True

    def in_order(self, calls: Sequence[ToolCall]) -> tuple[Rejection, ...]:
        """Return them in the order of the text, at the end of the turn."""
        if not self._list:
            return ()
        self.read_on(len(self._window.text))
        return tuple(self._judged(sorted(self._list, key=_span_of), calls, is_over=True))

    def first(self, calls: Sequence[ToolCall], wanted: Callable[[Rejection], bool]) -> Rejection | None:
        """Return the first one that is wanted, in the middle of a turn: what is not decided yet counts as an attempt.

        An attempt may still turn out to be none, but not the other way round. So one that is not wanted is passed over
        for good, and one of which all that matters has come stays.
        """
        if self._first is not None or self._passed == len(self._list):
            return self._first
        self.read_on(len(self._window.text))
        for one in self._judged(self._list[self._passed :], calls[-_LATELY:], is_over=False):
            while self._list[self._passed][0].span != one.span:
                self._passed += 1  # a tag that this one is in
            if wanted(one):
                evidence = self._list[self._passed][1]
                self._first = one if evidence is None or evidence.is_full else None
                return one
            self._passed += 1
        return None

    def _judged(
        self, pairs: list[tuple[Rejection, Evidence | None]], calls: Sequence[ToolCall], *, is_over: bool
    ) -> Iterator[Rejection]:
        """Yield them, those marked that are attempts."""
        pairs = self._without_tags(pairs, calls)
        words = _Words(pairs, calls, is_over=is_over)
        for one, evidence in pairs:
            is_meant = evidence and self._is_attempt(one, evidence, words, has_calls=bool(calls))
            yield replace(one, is_attempt=True) if is_meant else one

    def _is_attempt(self, one: Rejection, evidence: Evidence, words: _Words, *, has_calls: bool) -> bool:
        if one.reason is RejectionReason.QUOTED and has_calls:
            return False
        if not words.is_over and (evidence.may_close or evidence.may_have_key):
            return True
        has_words = self.words_from >= 0 if evidence.in_thoughts else not self.is_before_words(one.span[0])
        return is_attempt(evidence, one.reason, has_words=has_words, words_follow=lambda: words.follow(evidence))

    @staticmethod
    def _without_tags(
        pairs: list[tuple[Rejection, Evidence | None]], calls: Sequence[ToolCall]
    ) -> list[tuple[Rejection, Evidence | None]]:
        """Return them without the tags in which a call or another rejection is, which says more."""
        kept = []
        for index, (one, evidence) in enumerate(pairs):
            if evidence is not None and evidence.shape is Shape.TAG and one.name is None:
                start, end = one.span[0], one.span[1] + evidence.tag_end()
                inner = [known for other, known in pairs[index + 1 : index + _LATELY] if other.span[0] < end]
                for known in inner:
                    if known is not None:
                        known.in_markup, known.before = True, evidence.before
                if inner or any(start <= call.span[0] < end for call in calls):
                    continue
            kept.append((one, evidence))
        return kept


def _span_of(pair: tuple[Rejection, Evidence | None]) -> Span:
    return pair[0].span


class _Words:
    """Tells after which rejections words follow, calls and further rejections aside. Each is looked at once."""

    def __init__(
        self, pairs: Sequence[tuple[Rejection, Evidence | None]], calls: Sequence[ToolCall], *, is_over: bool
    ) -> None:
        self.is_over = is_over
        found = [*((one.span, evidence) for one, evidence in pairs), *((call.span, None) for call in calls)]
        self._found: list[tuple[Span, Evidence | None]] = sorted(found, key=lambda one: one[0])
        self._index = {evidence: index for index, (_, evidence) in enumerate(self._found) if evidence is not None}
        self._ends: dict[int, int] = {}
        self._known: dict[int, bool] = {}

    def follow(self, evidence: Evidence) -> bool:
        """Return whether words follow a rejection."""
        index, passed = self._index[evidence], []
        while index not in self._known:
            passed.append(index)
            answer = self._look(index)
            if isinstance(answer, bool):
                self._known[index] = answer
            else:
                index = answer[0]
        self._known.update(dict.fromkeys(passed, self._known[index]))
        return self._known[index]

    def _look(self, index: int) -> bool | tuple[int]:
        """Return whether words follow one, or which rejection does, so that the answer is what follows that."""
        (_, end), evidence = self._found[index]
        assert evidence is not None  # noqa: S101  # it is a rejection that more is known of
        after, pos, other = evidence.after, self._end(index) - end, index + 1
        if not (self.is_over or evidence.is_full) and (line := _MAY_BE_CALL(after)):
            after = after[: line.start()]  # it may become a further one
        while (word := words_from(after, pos)) >= 0:
            while (
                other < len(self._found) and self._found[other][0][0] <= end + word and self._end(other) <= end + word
            ):
                other += 1
            if other == len(self._found) or self._found[other][0][0] > end + word:
                return True
            if self._found[other][1] is not None:
                return (other,)
            pos = self._end(other) - end
        return pos >= MOST_AFTER  # what is not kept may be words

    def _end(self, index: int) -> int:
        if index not in self._ends:
            (_, end), evidence = self._found[index]
            self._ends[index] = end + (evidence.end() if evidence is not None else 0)
        return self._ends[index]
