"""Candidates: objects, pythonic calls, what may be mended and code, each read to its end or to where it breaks."""

from __future__ import annotations

from llama3_tools.limits import too_long
from llama3_tools.literals.bracket_span import BracketSpan
from llama3_tools.literals.json_object import NO_JSON_VALUE, JsonObject, parse_object
from llama3_tools.literals.json_tokens import JsonTokens
from llama3_tools.literals.python_literals import mend_object, parse_arguments, plain_arguments
from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.code import CODE_INTERPRETER, code_call
from llama3_tools.reader.decisions import Decisions
from llama3_tools.reader.json_calls import WrittenCall, plain_call
from llama3_tools.reader.markup import CODE_END
from llama3_tools.reader.rejections import attempted_name
from llama3_tools.reader.rules import Found, Placed
from llama3_tools.reader.switches import is_off
from llama3_tools.reader.turn import ARGUMENTS, MENDING, OBJECT, TEXT, Candidate, Head
from llama3_tools.values import RejectionReason

__all__ = ["Candidates"]

_FAILURES = 16
"""How often an output may make the scanner in C stumble; after that, objects are read token by token."""
_LONG = 4096
"""In how much text it counts as stumbling that no brace closes: to look for one, again and again, is quadratic."""
_QUOTES = Refusal(RejectionReason.MALFORMED, "keys and strings have to stand in double quotes, as in JSON")


class Candidates(Decisions):
    """Reads candidates."""

    __slots__ = ()

    def begin_object(self, at: int, head: Head | None = None) -> bool:
        """Read the object at an index: a call, or the arguments of the tool that what stands before it names."""
        text = self.text
        is_simple = self.may_be_simple() if self.is_simple is None else self.is_simple
        may_scan = self.failures < _FAILURES
        if may_scan and text.find("}", at) < 0:
            may_scan = False
            self.failures += len(text) - at > _LONG
        is_bare = may_scan and is_simple and head is None and self.region is None
        if is_bare and (plain := plain_call(text, at)) is not None:
            written, end = plain
            json = written.arguments_json
            if (
                self.rules.may_call(written.name)
                and not self.has_enough
                and json.count("{") + json.count("[") < self.rules.limits.max_depth
                and end - at <= self.rules.limits.max_call_length
                and (self.content.is_after_call or self.is_free(at))
                and not (self.opened and self.opened in self.rules.declared)
                and not self.is_aborted
            ):
                self.pos = end
                return self.call(written, self.base + at, self.base + end)
        head = head or self._head_of_tag()
        begin = self.base + at if head is None else head.start
        candidate = Candidate(begin, self.base + at, "json", None)
        if head is not None:
            candidate.format, candidate.name, candidate.head = head.format, head.name, head
        self.look_around(candidate, max(begin - self.base, 0))
        if may_scan:
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
        candidate = Candidate(self.base + at, self.base + paren, "pythonic", BracketSpan(), name)
        self.look_around(candidate, at)
        plain = plain_arguments(text, paren) if name in self.rules.declared else None
        if plain is not None:
            arguments, json, end = plain
            self.pos = end
            if self._exceeds(candidate, end):
                return self._too_long(candidate)
            return self.decide(candidate, self.rules.check_pythonic(WrittenCall(name, arguments, json)), text[at:end])
        self.candidate, self.pos, self.state = candidate, paren, ARGUMENTS
        return True

    def _head_of_tag(self) -> Head | None:
        """Return the tag before an object, if it names a declared tool."""
        name = self.opened
        if not name or name not in self.rules.names or not self.markup.rstrip().endswith(">") or is_off("heads"):
            return None
        return Head(name, name, self.base + self.pos, ("the tag is the name of the tool",))

    def read_object(self) -> bool:  # noqa: PLR0911 (what became of it, one after the other)
        """Read on in an object, token by token."""
        candidate = self.candidate
        assert candidate is not None  # noqa: S101  # the state says so
        text, pos, tokens = self.text, self.pos, candidate.reader
        if tokens is None:
            if text.startswith("{'", pos):
                self.rewind(candidate)
                return self._begin_mending(candidate, _QUOTES, candidate.start + 1)
            if pos + 1 == len(text) and not self.ended:
                return False
            tokens = candidate.reader = JsonTokens()
        end = tokens.read(text, pos, self.base, ended=self.ended)
        if self._exceeds(candidate, end):
            return self._too_long(candidate)
        if tokens.refusal is not None:
            return self._broken(candidate, tokens.refusal, max(tokens.resume, candidate.start + 1))
        self.pos = end
        if not tokens.is_complete:
            return False
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
        if self._exceeds(candidate, end):
            return self._too_long(candidate)
        if span.flaw:
            refusal = Refusal(
                RejectionReason.MALFORMED, f"{span.flaw}, at offset {self.base + end}", self.tool_of(name)
            )
            return self._broken(candidate, refusal, self.base + end)
        self.pos = end
        if not span.is_complete:
            return self.ended and self._broken(candidate, self._unfinished(candidate), self.base + len(self.text))
        raw = self._raw(candidate)
        return self.decide(candidate, self.rules.read_pythonic(name, raw[candidate.start - candidate.begin :]), raw)

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

    def _exceeds(self, candidate: Candidate, end: int) -> bool:
        """Return whether a candidate that reaches an index is longer than a call may be."""
        return self.base + end - candidate.begin > self.rules.limits.max_call_length

    def _too_long(self, candidate: Candidate) -> bool:
        """Give up a candidate that is too long: the search goes on where it became so."""
        refusal = Refusal(*too_long(self.rules.limits), candidate.name)
        return self._broken(candidate, refusal, candidate.begin + self.rules.limits.max_call_length + 1)

    def _judge(self, candidate: Candidate, parsed: JsonObject, raw: str) -> bool:
        """Decide on an object that is complete."""
        head = candidate.head
        found: Found | Refusal
        if self._exceeds(candidate, self.pos):
            return self._too_long(candidate)
        if head is not None:
            found = self.rules.read_arguments(head.name, parsed)
            if isinstance(found, WrittenCall) and head.deviations:
                found = found._replace(deviations=head.deviations + found.deviations)
        else:
            found = self.rules.read(parsed)
            if type(found) is Refusal and found.name is None:
                named = (
                    key for key, value in parsed.members.items() if key in self.rules.names and isinstance(value, dict)
                )
                found = found._replace(name=next(named, None))
        if type(found) is Refusal and found.reason is RejectionReason.MALFORMED:
            return self._flawed(candidate, found, raw)
        return self.decide(candidate, found, raw)

    def _flawed(self, candidate: Candidate, refusal: Refusal, raw: str) -> bool:
        """Take an object that is complete, and no strict JSON: it is mended, or text."""
        if self._may_mend(candidate):
            resume = self.base + self.pos
            self.rewind(candidate)
            return self._begin_mending(candidate, refusal, resume)
        return self.refuse(candidate, refusal, raw)

    def _broken(self, candidate: Candidate, refusal: Refusal, resume: int) -> bool:
        """Take a candidate that breaks at some place: up to an offset it is text, and the search goes on there."""
        self.rewind(candidate)
        if refusal.reason in (RejectionReason.MALFORMED, RejectionReason.TRUNCATED) and self._may_mend(candidate):
            return self._begin_mending(candidate, refusal, resume)
        return self.give_up(candidate, refusal, resume)

    def _may_mend(self, candidate: Candidate) -> bool:
        is_object = candidate.format not in ("pythonic", "code")
        may_close = candidate.start not in self.unclosed
        return self.rules.options.repair and is_object and may_close and self.region is None and not self.is_aborted

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
        self.pos = span.read(self.text, self.pos, self.base, ended=self.ended)
        is_too_long = self._exceeds(candidate, self.pos)
        if not (span.flaw or span.is_complete or self.ended or is_too_long):
            return False
        is_python = refusal is _QUOTES
        if not (span.flaw or span.is_complete or is_too_long):
            self.unclosed = frozenset(span.open)
        if span.is_complete and not is_too_long:
            raw = self._raw(candidate)
            written = raw[candidate.start - candidate.begin :]
            found = self._mended(candidate, written) if self._may_mend(candidate) else None
            if found is not None:
                return self.decide(candidate, found, raw, written)
            if is_python:
                return self.refuse(candidate, refusal._replace(name=candidate.name or attempted_name(written)), raw)
        if is_python:
            candidate.reader, resume = span, self.base + self.pos
            if is_too_long:
                return self._too_long(candidate)
            if not span.flaw:
                refusal = Refusal(RejectionReason.TRUNCATED, "the output ends inside it")
        self.rewind(candidate)
        return self.give_up(candidate, refusal, resume)

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
        made = [(call.name, call.arguments) for call in calls if call.repaired_from is None]
        return None if any((part.name, rules.arguments_of(part)) in made for part in parts) else found

    def read_code(self) -> bool:
        """Read code up to the next token, or to the end."""
        candidate = self.candidate
        assert candidate is not None  # noqa: S101  # the state says so
        match = CODE_END[self.ended](self.text, self.pos)
        if not self.ended and (match is None or match.lastgroup == "more"):
            self.pos = len(self.text) if match is None else match.start()
            return self._exceeds(candidate, self.pos) and self._too_long(candidate)
        self.pos = len(self.text) if match is None else match.start()
        if self._exceeds(candidate, self.pos):
            return self._too_long(candidate)
        return self._judge_code(candidate, is_closed=match is not None)

    def _judge_code(self, candidate: Candidate, *, is_closed: bool) -> bool:
        indent, is_fenced = candidate.reader
        length = self.base + self.pos - candidate.begin
        self.rewind(candidate)
        end = self.pos + length
        tool = self.rules.declared.get(CODE_INTERPRETER)
        found = code_call(indent + self.text[self.pos : end], tool, is_fenced=is_fenced)
        if found is None:
            self.candidate, self.state, self.markup = None, TEXT, ""
            self.put(end)
            self.searched = self.pos
            return True
        written, at = found
        if self.is_aborted or not (is_closed or self.is_complete):
            refusal = Refusal(RejectionReason.TRUNCATED, "the output was cut off inside the code", CODE_INTERPRETER)
            return self.refuse(candidate, refusal, self.text[self.pos : end])
        candidate.begin += at - len(indent)
        self.pos = end
        (code,) = written.arguments.values()
        return self.decide(candidate, self.rules.checked(written), code)
