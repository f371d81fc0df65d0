"""Candidates: what is read and may be a call, and what becomes of it: a call, text, a repair, code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llama3_tools.limits import too_long, too_many
from llama3_tools.literals.bracket_span import BracketSpan
from llama3_tools.literals.json_object import NO_JSON_VALUE, JsonObject, parse_object
from llama3_tools.literals.json_tokens import JsonTokens
from llama3_tools.literals.python_literals import mend_object, parse_arguments, plain_arguments
from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.code import CODE_INTERPRETER, code_call
from llama3_tools.reader.content import Waiting
from llama3_tools.reader.json_calls import WrittenCall, plain_call
from llama3_tools.reader.leftovers import LOOK_BEHIND
from llama3_tools.reader.markup import CODE_END, search_markup_for_calls
from llama3_tools.reader.regions import region_of_fence
from llama3_tools.reader.rejections import attempted_name, has_call_keys
from llama3_tools.reader.rules import Found, Placed
from llama3_tools.reader.switches import is_off
from llama3_tools.reader.turn import (
    ARGUMENTS,
    CODE,
    GAP,
    JSON,
    MENDING,
    OBJECT,
    PYTHON,
    REGION,
    TEXT,
    Candidate,
    Head,
    Turn,
)
from llama3_tools.values import RejectionReason

__all__ = ["BROKEN_OFF", "Candidates"]

BROKEN_OFF = Refusal(RejectionReason.TRUNCATED, "the stream broke off before it was certain to be a call")

_FAILURES = 16
"""How often an output may make the scanner in C stumble; after that, objects are read token by token."""
_READ_AT_ONCE = 64
"""How many characters of an open object are gathered before its tokens are read."""
_SCALARS_BEFORE = re.compile(r'\[(?:\s*(?:"[^"\n]{0,64}"|[-+.\w]{1,32})\s*,)+\s*\Z').search
_KEY_BEFORE = re.compile(r'"[ \t\n\r]*:\Z').search
_OPEN_CALL = re.compile(r"[\w\])]\([^()\n]*\Z").search
_KEYWORD = re.compile(r"\w\s*=(?!=)").search
_QUOTES = Refusal(RejectionReason.MALFORMED, "keys and strings have to stand in double quotes, as in JSON")
_PART = "a part of data, of code, or of a malformed object"
_LISTING = "in a listing of code"


class Candidates(Turn):
    """Reads candidates, and decides on them."""

    __slots__ = ()

    def begin_object(self, at: int, head: Head | None = None) -> bool:
        """Read the object at an index: a call, or the arguments of the tool that what stands before it names."""
        text = self.text
        is_simple = self.may_be_simple() if self.is_simple is None else self.is_simple
        if is_simple and head is None and self.region is None and (plain := plain_call(text, at)) is not None:
            written, end = plain
            json = written.arguments_json
            if (
                self.rules.may_call(written.name)
                and json.count("{") + json.count("[") < self.rules.limits.max_depth
                and end - at <= self.rules.limits.max_call_length
                and (self.content.is_after_call or self._is_free(at))
                and not (self.opened and self.opened in self.rules.declared)
                and not self.is_aborted
            ):
                self.pos = end
                return self._called(written, self.base + at, end - at)
        head = head or self._head_of_tag()
        begin = self.base + at if head is None else head.start
        candidate = Candidate(begin, self.base + at, head.format if head else "json", None, head)
        self._look_around(candidate, max(begin - self.base, 0))
        if self.failures < _FAILURES and text.find("}", at) > 0:
            parsed = parse_object(text, at)
            if parsed is not None:
                self.pos = parsed.end
                return self._judge(candidate, parsed, text[max(begin - self.base, 0) : parsed.end])
            self.failures += 1
        self.candidate, self.pos, self.state = candidate, at, OBJECT
        return True

    def begin_call(self, at: int, paren: int, name: str) -> bool:
        """Read the pythonic call at an index, of which the parenthesis stands at another."""
        text = self.text
        if self.in_list:
            self.confirm()
        plain = plain_arguments(text, paren)
        if plain is not None and name in self.rules.declared:
            arguments, json, end = plain
            self.pos = end
            candidate = Candidate(self.base + at, self.base + paren, "pythonic", None)
            candidate.name = name
            self._look_around(candidate, at)
            return self._decide(candidate, self.rules.check_pythonic(WrittenCall(name, arguments, json)), text[at:end])
        candidate = Candidate(self.base + at, self.base + paren, "pythonic", BracketSpan())
        candidate.name = name
        self._look_around(candidate, at)
        self.candidate, self.pos, self.state = candidate, paren, ARGUMENTS
        return True

    def _head_of_tag(self) -> Head | None:
        """Return the tag before an object, if it names a declared tool."""
        name = self.opened
        if (
            not name
            or name not in (self.rules.names or ())
            or not self.markup.rstrip().endswith(">")
            or is_off("heads")
        ):
            return None
        return Head(name, name, self.base + self.pos, ("the tag is the name of the tool",))

    def read_object(self) -> bool:  # noqa: PLR0911 (what became of it, one after the other)
        """Read on in an object, token by token."""
        candidate = self.candidate
        assert candidate is not None  # noqa: S101  # the state says so
        text, pos, tokens = self.text, self.pos, candidate.reader
        if tokens is None:
            if text.startswith("{'", pos):
                self._rewind(candidate)
                return self._begin_mending(candidate, _QUOTES, candidate.start + 1)
            if pos + 1 == len(text) and not self.ended:
                return False
            tokens = candidate.reader = JsonTokens()
        if not self.ended and len(text) - pos < _READ_AT_ONCE and "}" not in text[pos:]:
            return False
        end = tokens.read(text, pos, self.base, ended=self.ended)
        if tokens.refusal is not None:
            return self._broken(candidate, tokens.refusal, max(tokens.resume, candidate.start + 1))
        self.pos = end
        if not tokens.is_complete:
            return self._is_too_long(candidate)
        raw = self._raw(candidate)
        parsed = parse_object(raw, candidate.start - candidate.begin, checked=True)
        if parsed is None:
            refusal = Refusal(RejectionReason.MALFORMED, NO_JSON_VALUE, attempted_name(raw))
            return self._flawed(candidate, refusal, raw)
        return self._judge(candidate, parsed, raw)

    def read_arguments(self) -> bool:
        """Read on in the parentheses of a pythonic call."""
        candidate = self.candidate
        assert candidate is not None  # noqa: S101  # the state says so
        span, name = candidate.reader, candidate.name or ""
        end = span.read(self.text, self.pos, ended=self.ended)
        if span.flaw:
            refusal = Refusal(
                RejectionReason.MALFORMED, f"{span.flaw}, at offset {self.base + end}", self.tool_of(name)
            )
            return self._broken(candidate, refusal, self.base + end)
        self.pos = end
        if not span.is_complete:
            if self.ended:
                return self._broken(candidate, self._unfinished(candidate), self.base + len(self.text))
            return self._is_too_long(candidate)
        raw = self._raw(candidate)
        return self._decide(candidate, self.rules.read_pythonic(name, raw[candidate.start - candidate.begin :]), raw)

    def _unfinished(self, candidate: Candidate) -> Refusal:
        """Say why a pythonic call is none, in which the output ends."""
        raw = self._raw(candidate, len(self.text))
        name = self.tool_of(candidate.name or "")
        try:
            parse_arguments(raw[candidate.start - candidate.begin :])
        except EOFError:
            pass
        except ValueError as error:
            return Refusal(RejectionReason.MALFORMED, str(error), name)
        return Refusal(RejectionReason.TRUNCATED, "the output ends inside it", name)

    def _raw(self, candidate: Candidate, end: int | None = None) -> str:
        """Return a candidate as it was written, up to an index, or to what was read."""
        end = self.pos if end is None else end
        return "".join([*candidate.pieces, self.text[max(candidate.begin - self.base, 0) : end]])

    def _is_too_long(self, candidate: Candidate) -> bool:
        """Give up a candidate that is too long; else wait for more."""
        if self.base + self.pos - candidate.begin > self.rules.limits.max_call_length:
            return self._broken(candidate, Refusal(*too_long(self.rules.limits), candidate.name), self.base + self.pos)
        return False

    def _judge(self, candidate: Candidate, parsed: JsonObject, raw: str) -> bool:
        """Decide on an object that is complete."""
        head = candidate.head
        found: Found | Refusal
        if len(raw) > self.rules.limits.max_call_length:
            found = Refusal(*too_long(self.rules.limits), candidate.name or attempted_name(raw))
        elif head is not None:
            found = self.rules.read_arguments(head.name, parsed)
            if isinstance(found, WrittenCall) and head.deviations:
                found = found._replace(deviations=head.deviations + found.deviations)
        else:
            found = self.rules.read(parsed)
            if type(found) is Refusal and found.name is None and self.rules.names:
                named = (
                    key for key, value in parsed.members.items() if key in self.rules.names and isinstance(value, dict)
                )
                found = found._replace(name=next(named, None))
        if type(found) is Refusal and found.reason is RejectionReason.MALFORMED:
            return self._flawed(candidate, found, raw)
        return self._decide(candidate, found, raw)

    def _flawed(self, candidate: Candidate, refusal: Refusal, raw: str) -> bool:
        """Take an object that is complete, and no strict JSON: it is mended, or text."""
        if self._may_mend(candidate):
            resume = self.base + self.pos
            self._rewind(candidate)
            return self._begin_mending(candidate, refusal, resume)
        return self._refused(candidate, refusal, raw)

    def _decide(self, candidate: Candidate, found: Found | Refusal, raw: str, mended: str | None = None) -> bool:
        """Take a candidate that is complete: a call, or text."""
        if isinstance(found, Refusal):
            return self._refused(candidate, found, raw)
        quoted = candidate.quoted
        if quoted is not None:
            return self._refused(candidate, Refusal(RejectionReason.QUOTED, quoted, _name_of(found)), raw)
        if candidate.is_part:
            self.data_end = self.base + self.pos
            return self._refused(candidate, Refusal(RejectionReason.NOT_A_CALL, _PART, _name_of(found)), raw)
        if self.is_aborted:
            return self._refused(candidate, BROKEN_OFF._replace(name=_name_of(found)), raw)
        start = candidate.begin
        if isinstance(found, WrittenCall):
            return self._called(found, start, len(raw), candidate.format, mended)
        return self._unpacked(found, start, raw, mended)

    def _called(
        self, written: WrittenCall, start: int, length: int, format_: str = "json", mended: str | None = None
    ) -> bool:
        """Take a call: it is made, or waits. The window is read up to its end."""
        content = self.content
        end = start + length
        if len(content.calls) + len(content.waiting) >= self.rules.limits.max_calls:
            return self._one_too_many(written, start, end)
        if format_ == "json":
            format_ = "fence" if self.fence else self.opened or "json"
        call = self.rules.make(written, (start, end), format_, mended)
        is_sure = format_ != "pythonic"
        waits = not is_sure or ((self.opened or format_ == "function") and not self.ended)
        if waits or content.waiting:
            content.wait(Waiting(call, self.text[start - self.base : end - self.base], is_sure=is_sure))
        else:
            content.call(call)
        self._after_call(end)
        return True

    def _unpacked(self, found: Sequence[Placed | str], start: int, raw: str, mended: str | None) -> bool:
        """Take an envelope: its calls and its message, in their order."""
        content = self.content
        content.settle()
        content.take_out()
        for part in found:
            if not isinstance(part, Placed):
                content.message(part)
            elif len(content.calls) < self.rules.limits.max_calls:
                span = (start, start + len(raw)) if mended else (start + part.start, start + part.end)
                content.call(self.rules.make(part.written, span, "envelope", mended))
            else:
                refusal = Refusal(*too_many(self.rules.limits), part.written.name)
                self.rejections.add(start + part.start, start + part.end, refusal)
        self._after_call(start + len(raw))
        return True

    def _one_too_many(self, written: WrittenCall, start: int, end: int) -> bool:
        self.content.settle()
        self.rejections.add(start, end, Refusal(*too_many(self.rules.limits), written.name))
        self.pos = start - self.base
        self.put(end - self.base)
        self._after_call(end)
        return True

    def _after_call(self, end: int) -> None:
        self.candidate, self.state = None, GAP
        self.markup = ""
        self.fence_is_fresh, self.broken = False, ""
        self.line_from = end

    def _refused(self, candidate: Candidate, refusal: Refusal, raw: str) -> bool:
        """Take a candidate that is complete and no call: it is text."""
        if candidate.format == "json" and not has_call_keys(raw) and self._is_code_due():
            self._rewind(candidate)
            return self._begin_code()
        is_meant = self._is_attempt(candidate, refusal, raw)
        if candidate.format == "json" and refusal.reason is RejectionReason.MALFORMED and not is_meant:
            refusal = refusal._replace(name=None)
        if self.region is None or refusal.name or is_meant:
            refusal = self._reject(candidate, candidate.begin + len(raw), refusal, is_meant=is_meant)
        self._rewind(candidate)
        return self._left(candidate, refusal, len(raw), is_meant=is_meant)

    def _broken(self, candidate: Candidate, refusal: Refusal, resume: int) -> bool:
        """Take a candidate that breaks at some place: up to an offset it is text, and the search goes on there."""
        self._rewind(candidate)
        if refusal.reason in (RejectionReason.MALFORMED, RejectionReason.TRUNCATED) and self._may_mend(candidate):
            return self._begin_mending(candidate, refusal, resume)
        return self._give_up(candidate, refusal, resume)

    def _give_up(self, candidate: Candidate, refusal: Refusal, resume: int) -> bool:
        """Reject what broke; the window stands at its beginning."""
        is_cut_off = refusal.reason is RejectionReason.TRUNCATED
        if is_cut_off:
            resume = self.base + len(self.text)
            refusal = BROKEN_OFF if self.is_aborted else refusal
        raw = self.text[self.pos : resume - self.base]
        if candidate.format == "json" and not has_call_keys(raw) and self._is_code_due():
            return self._begin_code()
        name = refusal.name or candidate.name
        if name is None:
            name = attempted_name(raw)
        refusal = refusal._replace(name=name)
        is_meant = self._is_attempt(candidate, refusal, raw)
        if candidate.format == "json" and not is_meant:
            refusal = refusal._replace(name=None)
        if self.region is None or is_meant:
            refusal = self._reject(candidate, resume, refusal, is_meant=is_meant)
        if isinstance(candidate.reader, BracketSpan):
            self.broken = PYTHON if candidate.reader.is_in_string or candidate.format != "pythonic" else ""
        else:
            self.broken = JSON
        return self._left(candidate, refusal, len(raw), is_meant=is_meant)

    def _reject(self, candidate: Candidate, end: int, refusal: Refusal, *, is_meant: bool) -> Refusal:
        """Report a candidate that is no call: as quoted, if it is."""
        quoted = candidate.quoted
        if quoted is not None:
            refusal = Refusal(RejectionReason.QUOTED, quoted, refusal.name)
        self.rejections.add(candidate.begin, end, refusal, is_meant=is_meant)
        return refusal

    def _left(self, candidate: Candidate, refusal: Refusal, length: int, *, is_meant: bool) -> bool:
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
        self.has_words = had_words or refusal.reason is not RejectionReason.QUOTED
        if is_element:
            self.data_end = self.base + end
        if begins_region:
            return self._quote_fence()
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

    def _quote_fence(self) -> bool:
        """Begin quotation in a fence: what stands first in it is neither a call nor an attempt, or code after calls."""
        if is_off("fences"):
            self.fence_is_fresh, self.markup = False, ""
            self.state, self.searched = TEXT, self.pos + 1
            return True
        ticks, self.fence, self.fence_is_fresh = self.fence, "", False
        return self.begin_region(region_of_fence(ticks, "in a fence of code"))

    def _is_attempt(self, candidate: Candidate, refusal: Refusal, raw: str) -> bool:
        """Return whether the model meant to call."""
        if candidate.format == "pythonic":
            is_call = refusal.name in self.rules.declared or _KEYWORD(raw) is not None
        else:
            is_call = candidate.format != "json" or has_call_keys(raw) or refusal.name in self.rules.declared
        return is_call or search_markup_for_calls(self.markup) is not None

    def _look_around(self, candidate: Candidate, at: int) -> None:
        """See whether a candidate that begins at an index is quoted, or a part of something."""
        if self.region is not None:
            candidate.quoted = self.region.why
        elif not self.content.is_after_call:
            candidate.quoted = self.quoted if self.markup else self.why_quoted(at)
            candidate.is_part = candidate.format == "json" and self._is_part(at)

    def _is_free(self, at: int) -> bool:
        """Return whether an object at an index may be called: it is neither quoted nor a part of something."""
        quoted = self.quoted if self.markup else self.why_quoted(at)
        return quoted is None and not self._is_part(at)

    def _is_part(self, at: int) -> bool:
        """Return whether an object is a part of something: the value of a key, an argument, an element of data."""
        if is_off("parts"):
            return False
        text = self.text
        first = max(at - LOOK_BEHIND, 0)
        before = text[first:at].rstrip(" \t\n\r[")
        last = before[-1:]
        if last == "=" or (not last and first + self.base > 0):
            return True
        if self.broken is PYTHON and not search_markup_for_calls(self.markup):
            return True
        if self.is_argument(at):
            return True
        if last == ":":
            return _KEY_BEFORE(before) is not None
        if last == ",":
            after_data = self.data_end >= self.base and text[self.data_end - self.base : at].strip() == ","
            return after_data or _SCALARS_BEFORE(text[first:at]) is not None
        return False

    def is_argument(self, at: int) -> bool:
        """Return whether what begins at an index stands in the parentheses of a call that is not read."""
        before = self.text[max(at - LOOK_BEHIND, 0) : at]
        return "(" in before and _OPEN_CALL(before) is not None

    def _is_first(self, at: int) -> bool:
        """Return whether an object is the first element of an array."""
        return self.text[max(at - LOOK_BEHIND, 0) : at].rstrip()[-1:] == "["

    def _rewind(self, candidate: Candidate) -> None:
        """Move the window back to the beginning of a candidate."""
        if candidate.pieces:
            self.text = "".join([*candidate.pieces, self.text])
            self.base, self.is_simple = candidate.begin, None
            candidate.pieces = []
        self.pos = candidate.begin - self.base

    def _may_mend(self, candidate: Candidate) -> bool:
        is_object = candidate.format not in ("pythonic", "code")
        return self.rules.options.repair and is_object and self.region is None and not self.is_aborted

    def _begin_mending(self, candidate: Candidate, refusal: Refusal, resume: int) -> bool:
        """Find the end of an object that is no JSON, at whose beginning the window stands, to repair it."""
        candidate.reader = BracketSpan(tolerant=True), refusal, resume
        self.candidate, self.state = candidate, MENDING
        self.pos = candidate.start - self.base
        return True

    def read_mending(self) -> bool:
        """Read on in an object that is no JSON."""
        candidate = self.candidate
        assert candidate is not None  # noqa: S101  # the state says so
        span, refusal, resume = candidate.reader
        self.pos = span.read(self.text, self.pos, ended=self.ended)
        is_too_long = self.base + self.pos - candidate.begin > self.rules.limits.max_call_length
        if not (span.flaw or span.is_complete or self.ended or is_too_long):
            return False
        is_python = refusal is _QUOTES
        if span.is_complete and not is_too_long:
            raw = self._raw(candidate)
            written = raw[candidate.start - candidate.begin :]
            found = self._mended(candidate, written) if self._may_mend(candidate) else None
            if found is not None:
                return self._decide(candidate, found, raw, written)
            if is_python:
                return self._refused(candidate, refusal._replace(name=candidate.name or attempted_name(written)), raw)
        if is_python:
            candidate.reader, resume = span, self.base + self.pos
            if not span.flaw:
                detail = "the output ends inside it"
                refusal = (
                    Refusal(*too_long(self.rules.limits)) if is_too_long else Refusal(RejectionReason.TRUNCATED, detail)
                )
        self._rewind(candidate)
        return self._give_up(candidate, refusal, resume)

    def _mended(self, candidate: Candidate, written: str) -> Found | None:
        """Return the call that a malformed object was meant to be, without doubt, if it was not called before."""
        if candidate.quoted is not None:
            return None
        json = mend_object(written)
        parsed = parse_object(json, 0) if json else None
        if parsed is None or parsed.flaw:
            return None
        rules, head = self.rules, candidate.head
        found = rules.read(parsed) if head is None else rules.read_arguments(head.name, parsed)
        if isinstance(found, Refusal):
            return None
        parts = [found] if isinstance(found, WrittenCall) else [one.written for one in found if isinstance(one, Placed)]
        calls = [*self.content.calls, *(waiting.call for waiting in self.content.waiting)]
        if not parts or any(part.name not in rules.declared for part in parts):
            return None
        made = [(call.name, call.arguments_json) for call in calls if call.repaired_from is None]
        is_repeated = any((part.name, part.arguments_json) in made for part in parts)
        return None if is_repeated else found

    def _is_code_due(self) -> bool:
        """Return whether what follows is code, as `<|python_tag|>` stands before it."""
        return (
            self.rules.reads_code
            and self.may_be_code
            and "<|python_tag|>" in self.markup
            and self.quoted is None
            and self.region is None
        )

    def _begin_code(self) -> bool:
        """Begin code at the place up to which the window is read."""
        self.settle()
        self.candidate = Candidate(self.base + self.pos, self.base + self.pos, "code", "`" in self.markup)
        self.fence, self.fence_is_fresh, self.opened = "", False, ""
        self.state = CODE
        return True

    def read_code(self) -> bool:
        """Read code up to the next token, or to the end."""
        candidate = self.candidate
        assert candidate is not None  # noqa: S101  # the state says so
        match = CODE_END[self.ended](self.text, self.pos)
        if not self.ended and (match is None or match.lastgroup == "more"):
            self.pos = len(self.text) if match is None else match.start()
            return self._is_too_long(candidate)
        self.pos = len(self.text) if match is None else match.start()
        return self._judge_code(candidate, self._raw(candidate), is_closed=match is not None)

    def _judge_code(self, candidate: Candidate, raw: str, *, is_closed: bool) -> bool:
        found = code_call(raw, self.rules.declared.get(CODE_INTERPRETER), is_fenced=candidate.reader)
        if found is None:
            self._rewind(candidate)
            self.candidate, self.state, self.markup = None, TEXT, ""
            self.put(self.pos + len(raw))
            self.searched = self.pos
            return True
        written, at, length = found
        if length > self.rules.limits.max_call_length:
            return self._refused(candidate, Refusal(*too_long(self.rules.limits), CODE_INTERPRETER), raw)
        if self.is_aborted or not (is_closed or self.is_complete):
            refusal = Refusal(RejectionReason.TRUNCATED, "the output was cut off inside the code", CODE_INTERPRETER)
            return self._refused(candidate, refusal, raw)
        checked = self.rules.checked(written)
        if isinstance(checked, Refusal):
            return self._refused(candidate, checked, raw)
        self.markup = ""
        return self._called(checked, candidate.begin + at, length, "code")


def _name_of(found: Found) -> str | None:
    """Return the name of what is called."""
    if isinstance(found, WrittenCall):
        return found.name
    return next((part.written.name for part in found if isinstance(part, Placed)), None)
