"""What becomes of a candidate that was read: a call, or text that is reported."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llama3_tools.limits import too_many
from llama3_tools.literals.bracket_span import BracketSpan
from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.code import CODE_INTERPRETER
from llama3_tools.reader.content import Waiting
from llama3_tools.reader.json_calls import WrittenCall
from llama3_tools.reader.markup import search_markup_for_calls
from llama3_tools.reader.quotation import IN_FENCE, IN_STRING
from llama3_tools.reader.regions import region_of_fence
from llama3_tools.reader.rejections import attempted_name, has_call_keys
from llama3_tools.reader.rules import Found, Placed
from llama3_tools.reader.switches import is_off
from llama3_tools.reader.turn import CODE, GAP, JSON, LOOK_BEHIND, PYTHON, REGION, TEXT, Candidate, Turn
from llama3_tools.values import RejectionReason, ToolCall

__all__ = ["BROKEN_OFF", "Decisions"]

BROKEN_OFF = Refusal(RejectionReason.TRUNCATED, "the stream broke off before it was certain to be a call")

_STRINGS_AND_BRACKETS = re.compile(r'"(?:[^"\\\n]|\\.)*"|[()\[\]{}]').finditer
_SCALAR = re.compile(r'[\s\[]*(?:"(?:[^"\\\n]|\\.)*"|[-+.\w]{1,32})\s*[,\]]').match
_VALUE_BEFORE = re.compile(r'(?:"[ \t\n\r]{0,16}:\s*|=[ \t]*)(?:\[[\s\[]*)?\Z').search
_CALLED = re.compile(r"(?<=[\w\])])\(").match
_SIGNATURE = re.compile(r"[^(]*\(\s*(?:[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)?\s*\)").fullmatch
"""A pythonic call as prose has it: `search(query)`."""
_PART = "a part of data, of code, or of a malformed object"
_LISTING = "in a listing of code"


class Decisions(Turn):
    """Decides on candidates."""

    __slots__ = ()

    @property
    def has_enough(self) -> bool:
        """Whether the turn has as many calls as it may have."""
        return len(self.content.calls) + len(self.content.waiting) >= self.rules.limits.max_calls

    def decide(  # noqa: PLR0911 (a refusal each)
        self, candidate: Candidate, found: Found | Refusal, raw: str, mended: str | None = None
    ) -> bool:
        """Take a candidate that is complete: a call, or text."""
        if isinstance(found, Refusal):
            return self.refuse(candidate, found, raw)
        quoted = candidate.quoted
        if quoted is not None:
            return self.refuse(candidate, Refusal(RejectionReason.QUOTED, quoted, _name_of(found)), raw)
        if candidate.is_part:
            self.data_end = self.base + self.pos
            return self.refuse(candidate, Refusal(RejectionReason.NOT_A_CALL, _PART, _name_of(found)), raw)
        if self.is_aborted:
            return self.refuse(candidate, BROKEN_OFF._replace(name=_name_of(found)), raw)
        start, end = candidate.begin, candidate.begin + len(raw)
        if not isinstance(found, WrittenCall):
            return self._unpacked(found, start, raw, mended)
        if self.has_enough:
            return self.refuse(candidate, Refusal(*too_many(self.rules.limits), found.name), raw)
        return self.call(found, start, end, candidate.format, raw, mended)

    def call(  # noqa: PLR0913, PLR0917 (what is known of it)
        self,
        written: WrittenCall,
        start: int,
        end: int,
        format_: str = "json",
        raw: str = "",
        mended: str | None = None,
    ) -> bool:
        """Take a call: it is made, or waits. The window is read up to its end."""
        content = self.content
        if format_ == "json":
            format_ = "fence" if self.fence else self.opened or "json"
        raw = raw or self.text[start - self.base : end - self.base]
        try:
            call = self.rules.make(written, (start, end), format_, mended)
        except BaseException:  # of `id_factory`
            self._go_back(start, raw)
            raise
        is_sure = format_ != "pythonic"
        waits = not is_sure or ((self.opened or format_ == "function") and not self.ended)
        if waits or content.waiting:
            content.wait(Waiting(call, raw, is_sure=is_sure))
        else:
            content.call(call)
        self._after_call(end)
        return True

    def _unpacked(self, found: Sequence[Placed | str], start: int, raw: str, mended: str | None) -> bool:
        """Take an envelope: its calls and its message, in their order."""
        content, end = self.content, start + len(raw)
        content.settle()
        room = self.rules.limits.max_calls - len(content.calls)
        made: list[ToolCall | str] = []
        try:
            for part in found:
                if not isinstance(part, Placed):
                    made.append(part)
                    continue
                span = (start, end) if mended else (start + part.start, start + part.end)
                room -= 1
                if room >= 0:
                    made.append(self.rules.make(part.written, span, "envelope", mended))
                else:
                    self.rejections.add(*span, Refusal(*too_many(self.rules.limits), part.written.name))
        except BaseException:  # of `id_factory`
            self._go_back(start, raw)
            raise
        content.take_out()
        for one in made:
            if isinstance(one, str):
                content.message(one)
            else:
                content.call(one)
        self._after_call(end)
        return True

    def _go_back(self, start: int, raw: str) -> None:
        """Let the window begin at a call that could not be made, so that nothing of it is lost."""
        self.text, self.base, self.pos = raw + self.text[self.pos :], start, 0
        self.candidate, self.state = None, GAP

    def _after_call(self, end: int) -> None:
        self.candidate, self.state = None, GAP
        self.markup, self.quoted, self.is_inside, self.may_be_code = "", None, False, True
        self.fence_is_fresh, self.broken = False, ""
        self.line_from = self.gap_from = end

    def refuse(self, candidate: Candidate, refusal: Refusal, raw: str, *, broke: str = "") -> bool:
        """Take a candidate that is no call: it is text, and the search goes on after it.

        Args:
            candidate: the candidate.
            refusal: why it is no call.
            raw: what was written of it: all, or what comes before the place where it broke.
            broke: what `broken` is from now on, if it broke.
        """
        self.rewind(candidate)
        if candidate.format == "json" and not has_call_keys(raw) and self.is_code_due():
            return self.begin_code()
        is_meant = self._is_attempt(candidate, refusal, raw)
        if candidate.format == "json" and not is_meant and (broke or refusal.reason is RejectionReason.MALFORMED):
            refusal = refusal._replace(name=None)
        if candidate.quoted is not None:
            refusal = Refusal(RejectionReason.QUOTED, candidate.quoted, refusal.name)
        if self.region is None or refusal.name or is_meant:
            self.rejections.add(candidate.begin, candidate.begin + len(raw), refusal, is_meant=is_meant)
        self.broken = broke or self.broken
        return self._leave(candidate, refusal, len(raw), is_meant=is_meant)

    def give_up(self, candidate: Candidate, refusal: Refusal, resume: int) -> bool:
        """Take a candidate that broke or is cut off: up to an offset it is text. The window stands at its beginning."""
        if refusal.reason is RejectionReason.TRUNCATED:
            resume = self.base + len(self.text)
            refusal = BROKEN_OFF if self.is_aborted else refusal
        raw = self.text[self.pos : resume - self.base]
        refusal = refusal._replace(name=refusal.name or candidate.name or attempted_name(raw))
        broke = PYTHON if isinstance(candidate.reader, BracketSpan) else JSON
        if candidate.format == "pythonic" and refusal.reason is RejectionReason.MALFORMED:
            broke = PYTHON if candidate.reader.is_in_string else ""
        return self.refuse(candidate, refusal, raw, broke=broke)

    def _leave(self, candidate: Candidate, refusal: Refusal, length: int, *, is_meant: bool) -> bool:
        """Put a candidate that is no call into the content, and go on. The window stands at its beginning."""
        self.candidate = None
        end = self.pos + length
        if self.region is not None:
            self.put(end)
            self.state = REGION
            return True
        is_element = candidate.is_part or (candidate.format == "json" and not is_meant and self._is_first(self.pos))
        begins_region = self.settle_before_text() or (self.fence_is_fresh and not is_meant)
        self.markup, self.opened, self.fence_is_fresh = "", "", False
        had_words = self.has_words
        self.put(end)
        if candidate.quoted is IN_STRING and self.text[end - 1] in "})":
            self.string_end = self.base + end
        self.has_words = had_words or refusal.reason is not RejectionReason.QUOTED
        if is_element:
            self.data_end = self.base + end
        if begins_region:
            return self.quote_fence()
        self.state, self.searched = TEXT, end
        if self.in_list:
            self.state = GAP
        return True

    def settle_before_text(self) -> bool:
        """Deal with the calls that wait, as text follows; return whether they were a listing in a fence."""
        waiting = self.content.waiting
        if not waiting:
            return False
        is_listing = bool(self.fence) and any(one.call.format == "pythonic" for one in waiting)
        if is_listing:
            refusal = Refusal(RejectionReason.QUOTED, _LISTING)
            self.settle(lambda one: refusal if one.call.format == "pythonic" else None)
        else:
            refusal = Refusal(RejectionReason.NOT_A_CALL, "a pythonic call that does not stand alone on its line")
            self.settle(lambda one: None if one.is_sure else refusal)
        return is_listing

    def quote_fence(self) -> bool:
        """Begin quotation in a fence: what stands first in it is neither a call nor an attempt, or code after calls."""
        if is_off("fences"):
            self.fence_is_fresh, self.markup = False, ""
            self.state, self.searched = TEXT, self.pos + 1
            return True
        ticks, self.fence, self.fence_is_fresh = self.fence, "", False
        return self.begin_region(region_of_fence(ticks, IN_FENCE))

    def _is_attempt(self, candidate: Candidate, refusal: Refusal, raw: str) -> bool:
        """Return whether the model meant to call."""
        if candidate.is_part:
            return False
        if candidate.format == "pythonic":
            is_call = self.in_list or refusal.reason is RejectionReason.MISSING_ARGUMENTS or not _SIGNATURE(raw)
        else:
            is_call = candidate.format != "json" or has_call_keys(raw) or refusal.name in self.rules.declared
        return is_call or search_markup_for_calls(self.markup) is not None

    def look_around(self, candidate: Candidate, at: int) -> None:
        """See whether a candidate that begins at an index is quoted, or a part of something."""
        if self.region is not None:
            candidate.quoted = self.region.why
        elif not self.content.is_after_call:
            candidate.quoted = self._quoted_at(at)
            candidate.is_part = candidate.quoted is None and self._is_part(at, candidate.format)

    def is_free(self, at: int) -> bool:
        """Return whether an object at an index may be called: it is neither quoted nor a part of something."""
        return self._quoted_at(at) is None and not self._is_part(at, "json")

    def _quoted_at(self, at: int) -> str | None:
        """Return why a candidate that begins at an index is quoted, or the markup before it; `None` if it is not."""
        return self.quoted if self.markup else self.why_quoted(at)

    def _is_part(self, at: int, format_: str) -> bool:
        """Return whether a candidate is a part of something, or the markup before it."""
        if is_off("parts"):
            return False
        if self.markup and self.is_inside:
            return True
        if format_ == "function":
            return self.broken is PYTHON
        may_be_string = self.broken is PYTHON and not search_markup_for_calls(self.markup)
        return format_ == "json" and (may_be_string or self.stands_inside(at))

    def stands_inside(self, at: int) -> bool:
        """Return whether what begins at an index is the value of a key, an argument, or an element of data."""
        around = self._before(at)
        before = around.rstrip(" \t\n\r[")
        last = before[-1:]
        if last in (":", "=") and _VALUE_BEFORE(around):
            return True
        if not before and len(around) == LOOK_BEHIND and "[" in around:
            return True
        if _is_in_call(before):
            return True
        if last == ",":
            after_data = (
                self.data_end >= self.base and self.text[self.data_end - self.base : at].strip(" \t\n\r[") == ","
            )
            return after_data or self._follows_data(before, self.base + at - len(around))
        return False

    def _follows_data(self, before: str, offset: int) -> bool:
        """Return whether the array that is open at the end of some text, which stands at an offset, began with data."""
        opened = _open_bracket(before)
        if before[opened : opened + 1] != "[":
            return False
        is_object = before[opened + 1 :].lstrip()[:1] == "{"
        return self.data_end > offset + opened if is_object else _SCALAR(before, opened + 1) is not None

    def is_argument(self, at: int) -> bool:
        """Return whether what begins at an index stands in the parentheses of a call that is not read."""
        return _is_in_call(self._before(at).rstrip(" \t\n\r["))

    def _is_first(self, at: int) -> bool:
        """Return whether an object is the first element of an array."""
        return self._before(at).rstrip()[-1:] == "["

    def _before(self, at: int) -> str:
        """Return some of the text before an index, since the last call."""
        return self.text[max(at - LOOK_BEHIND, self.line_from - self.base, 0) : at]

    def rewind(self, candidate: Candidate) -> None:
        """Move the window back to the beginning of a candidate."""
        if candidate.pieces:
            self.text = "".join([*candidate.pieces, self.text])
            self.base, self.is_simple = candidate.begin, None
            candidate.pieces = []
        self.pos = candidate.begin - self.base

    def is_code_due(self) -> bool:
        """Return whether what follows is code, as `<|python_tag|>` stands before it."""
        return (
            self.rules.reads_code
            and self.may_be_code
            and "<|python_tag|>" in self.markup
            and self.quoted is None
            and self.region is None
        )

    def begin_code(self) -> bool:
        """Begin code at the place up to which the window is read."""
        self.settle()
        line = self.text[max(self.pos - LOOK_BEHIND, 0) : self.pos].rpartition("\n")
        indent = line[2] if line[1] and line[2].isspace() else ""
        at, reader = self.base + self.pos, (indent, "`" in self.markup)
        self.candidate = Candidate(at, at, "code", reader, CODE_INTERPRETER)
        self.fence, self.fence_is_fresh, self.opened = "", False, ""
        self.state = CODE
        return True


def _open_bracket(text: str) -> int:
    """Return the index of the innermost bracket that is open at the end of some text, or its length.

    >>> _open_bracket('f(g(1), "(",')
    1
    """
    opened = [len(text)]
    for match in _STRINGS_AND_BRACKETS(text):
        if match[0] in "([{":
            opened.append(match.start())
        elif match[0] in ")]}" and len(opened) > 1:
            opened.pop()
    return opened[-1]


def _is_in_call(text: str) -> bool:
    """Return whether some text ends in the parentheses of a call of a function."""
    return "(" in text and _CALLED(text, _open_bracket(text)) is not None


def _name_of(found: Found) -> str | None:
    """Return the name of what is called."""
    if isinstance(found, WrittenCall):
        return found.name
    return next((part.written.name for part in found if isinstance(part, Placed)), None)
