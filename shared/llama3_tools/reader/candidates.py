"""Candidates: objects, pythonic calls and code, each read to its end or to where it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from llama3_tools.limits import too_long
from llama3_tools.literals.bracket_span import ENDS_WITH_LINE, BracketSpan
from llama3_tools.literals.json_object import NO_JSON_VALUE, JsonObject, parse_object
from llama3_tools.literals.json_tokens import JsonTokens
from llama3_tools.literals.python_literals import mend_object, parse_arguments, plain_arguments
from llama3_tools.literals.refusal import Refusal
from llama3_tools.reader.code import CODE_INTERPRETER, code_call
from llama3_tools.reader.content import Content
from llama3_tools.reader.json_calls import WrittenCall
from llama3_tools.reader.markup import CODE_END
from llama3_tools.reader.rejections import attempted_name
from llama3_tools.reader.rules import Found, Rules, calls_in
from llama3_tools.reader.window import Window
from llama3_tools.values import RejectionReason

_FAILURES = 16
"""How often an output may make the scanner in C stumble; after that, objects are read token by token."""
_LONG = 4096
"""If no brace closes in this much text, the scanner stumbled: to look for one again and again is quadratic."""
_QUOTES = Refusal(RejectionReason.MALFORMED, "keys and strings need double quotes, as in JSON")
NO_CODE = Refusal(RejectionReason.NOT_A_CALL, "words after <|python_tag|>")


class Outcome(NamedTuple):
    """What a candidate turned out to be."""

    end: int
    """The offset up to which text belongs to it."""
    found: Found | Refusal
    """The call, the calls of an envelope, or why there is none."""
    is_whole: bool = True
    """Whether all of it is there; if not, it broke or is cut off."""
    mended: str | None = None
    """What was written, if it had to be repaired."""
    raw: str = ""
    """What was written of it, if that is known, or not all up to the end."""


class Reader(Protocol):
    """Reads one candidate across chunks."""

    def read(self, candidate: Candidate) -> Outcome | None:
        """Read on, as far as text has arrived, and move the window on; return `None` if more has to come."""


@dataclass(slots=True, eq=False)
class Candidate:
    """A possible call that is not complete yet."""

    begin: int
    """The offset of its first character; if the tool is named before it, of that name or tag."""
    start: int
    """The offset of its brace or parenthesis, or of the first character of code."""
    format: str
    name: str | None = None
    """The tool that is named before it."""
    deviations: tuple[str, ...] = ()
    """How that is not named as documented, a sentence each."""
    quoted: str | None = None
    """Why it is quoted, if it is."""
    is_part: bool = False
    reader: Reader | None = None
    """What reads it across chunks."""

    @property
    def is_after_name(self) -> bool:
        """Whether it is an object of arguments, after the name of its tool."""
        return self.name is not None and self.format not in ("pythonic", "code")


class Candidates:
    """Judges candidates by the rules, and limits the work on them."""

    def __init__(self, rules: Rules, window: Window, content: Content) -> None:
        self.rules = rules
        self.window = window
        self.most = rules.limits.max_call_length
        """How many characters a candidate may have."""
        self._content = content
        self._failures = 0
        self._unclosed: frozenset[int] = frozenset()
        """The offsets of brackets that are open at the end of the output: nothing there can be repaired."""

    def may_scan(self, at: int) -> bool:
        """Return whether the scanner in C may read an object at an index: it can end, and did not stumble often."""
        text = self.window.text
        if self._failures >= _FAILURES:
            return False
        if text.find("}", at) < 0:
            self._failures += len(text) - at > _LONG
            return False
        return True

    def scan(self, at: int) -> JsonObject | None:
        """Return the object at an index if the scanner in C reads it at once."""
        parsed = parse_object(self.window.text, at)
        if parsed is None:
            self._failures += 1
        return parsed

    def judge(self, candidate: Candidate, parsed: JsonObject, end: int, raw: str) -> Outcome | None:
        """Return what an object is that ends at an offset."""
        rules, name = self.rules, candidate.name
        found: Found | Refusal
        if end - candidate.begin > self.most:
            return self.too_long(candidate)
        if name is not None:
            found = rules.read_arguments(name, parsed)
            if isinstance(found, WrittenCall) and candidate.deviations:
                found = found._replace(deviations=candidate.deviations + found.deviations)
        else:
            found = rules.read(parsed)
            if type(found) is Refusal and found.name is None:
                named = (key for key, value in parsed.members.items() if key in rules.names and isinstance(value, dict))
                found = found._replace(name=next(named, None))
        if type(found) is Refusal and found.reason is RejectionReason.MALFORMED:
            return self.mend(candidate, Outcome(end, found))
        return Outcome(end, found, raw=raw)

    def mend(self, candidate: Candidate, flawed: Outcome) -> Outcome | None:
        """Begin to repair an object that is not strict JSON, if the options ask for it and it may help."""
        may_close = candidate.start not in self._unclosed and not self.window.is_aborted
        if not (self.rules.options.repair and may_close and candidate.quoted is None):
            return flawed
        candidate.reader = reader = _Mending(self, flawed)
        return reader.read(candidate)

    def was_called(self, written: WrittenCall) -> bool:
        """Return whether the same call was made or waits, unrepaired: repair does not make it again."""
        calls = (*self._content.calls, *(waiting.call for waiting in self._content.waiting))
        made = [(call.name, call.arguments) for call in calls if call.repaired_from is None]
        return (written.name, self.rules.arguments_of(written)) in made

    def leave_open(self, brackets: list[int]) -> None:
        """Note the brackets that are open at the end of the output."""
        self._unclosed = frozenset(brackets)

    def too_long(self, candidate: Candidate) -> Outcome:
        """Return the refusal of a candidate that is too long: the search goes on where it became so."""
        refusal = Refusal(*too_long(self.rules.limits), candidate.name)
        return Outcome(candidate.begin + self.most + 1, refusal, is_whole=False)


class ObjectReader:
    """Reads an object: at once if the scanner in C may and can, else token by token."""

    def __init__(self, candidates: Candidates, *, may_scan: bool) -> None:
        self._candidates = candidates
        self._may_scan = may_scan
        self._tokens: JsonTokens | None = None

    def read(self, candidate: Candidate) -> Outcome | None:
        """Read on, as far as text has arrived."""
        candidates, tokens = self._candidates, self._tokens
        window = candidates.window
        base = window.base
        if tokens is None:
            text, pos = window.text, window.pos
            if self._may_scan and (parsed := candidates.scan(pos)) is not None:
                raw = text[max(candidate.begin - base, 0) : parsed.end]
                return candidates.judge(candidate, parsed, base + parsed.end, raw)
            self._may_scan = False
            if pos + 1 == len(text) and not window.ended:
                return None
            tokens = self._tokens = JsonTokens(is_python=text.startswith("{'", pos))
        window.pos = tokens.read(window.text, window.pos, base, ended=window.ended)
        if base + window.pos - candidate.begin > candidates.most:
            return candidates.too_long(candidate)
        if tokens.refusal is None and not tokens.is_complete:
            return None
        return self._outcome(candidate, tokens)

    def _outcome(self, candidate: Candidate, tokens: JsonTokens) -> Outcome | None:
        """Return the outcome of an object that was read to its end, or to its flaw."""
        candidates = self._candidates
        refusal = tokens.refusal
        if refusal is not None:
            if tokens.is_python and refusal.reason is not RejectionReason.TRUNCATED:
                refusal = _QUOTES
            broken = Outcome(max(tokens.resume, candidate.start + 1), refusal, is_whole=False)
            is_mendable = refusal.reason in (RejectionReason.MALFORMED, RejectionReason.TRUNCATED)
            return candidates.mend(candidate, broken) if is_mendable else broken
        window = candidates.window
        end, start = window.base + window.pos, candidate.start - candidate.begin
        raw = window.written(candidate.begin, end)
        parsed = None if tokens.is_python else parse_object(raw, start, checked=True)
        if parsed is not None:
            return candidates.judge(candidate, parsed, end, raw)
        refusal = _QUOTES if tokens.is_python else Refusal(RejectionReason.MALFORMED, NO_JSON_VALUE)
        refusal = refusal._replace(name=candidate.name or attempted_name(raw))
        return candidates.mend(candidate, Outcome(end, refusal))


class _Mending:
    """Finds the end of an object that is not strict JSON, and repairs it."""

    def __init__(self, candidates: Candidates, flawed: Outcome) -> None:
        self._candidates = candidates
        self._flawed = flawed
        """What it is without repair."""
        self._span = BracketSpan(tolerant=True)
        self._has_begun = False

    def read(self, candidate: Candidate) -> Outcome | None:
        """Read on, as far as text has arrived."""
        candidates, span = self._candidates, self._span
        window = candidates.window
        if self._has_begun:
            end = window.base + span.read(window.text, window.pos, window.base, ended=window.ended)
        else:
            self._has_begun = True
            written = window.written(candidate.start, window.base + len(window.text))
            end = candidate.start + span.read(written, 0, candidate.start, ended=window.ended)
        if end - candidate.begin > candidates.most or span.flaw:
            return self._flawed
        if span.is_complete:
            written = window.written(candidate.start, end)
            found = self._mended(candidate, written)
            return self._flawed if found is None else Outcome(end, found, mended=written)
        if not window.ended:
            window.pos = end - window.base
            return None
        candidates.leave_open(span.open)
        return self._flawed

    def _mended(self, candidate: Candidate, written: str) -> Found | None:
        """Return the call that a malformed object must have meant, if it did not occur before."""
        json = mend_object(written)
        parsed = parse_object(json, 0) if json else None
        if parsed is None or parsed.flaw:
            return None
        rules, name = self._candidates.rules, candidate.name
        found = rules.read(parsed) if name is None else rules.read_arguments(name, parsed)
        if isinstance(found, Refusal):
            return None
        calls = calls_in(found)
        if not calls or any(call.name not in rules.declared or self._candidates.was_called(call) for call in calls):
            return None
        return found


class ArgumentsReader:
    """Reads the parentheses of a pythonic call: at once if they are plain, else bracket by bracket."""

    def __init__(self, candidates: Candidates, name: str, tool: str | None) -> None:
        self._candidates = candidates
        self._written_name = name
        self._tool = tool
        """The tool that the name means, for rejections."""
        self._span: BracketSpan | None = None
        """What reads on, once they turned out not to be plain."""
        self._lines = 0

    def read(self, candidate: Candidate) -> Outcome | None:
        """Read on, as far as text has arrived."""
        candidates, span = self._candidates, self._span
        window, rules, name = candidates.window, candidates.rules, self._written_name
        if span is None:
            plain = plain_arguments(window.text, window.pos) if name in rules.declared else None
            if plain is not None:
                arguments, json, window.pos = plain
                end = window.base + window.pos
                if end - candidate.begin > candidates.most:
                    return candidates.too_long(candidate)
                return Outcome(end, rules.check_pythonic(WrittenCall(name, arguments, json)))
            span = self._span = BracketSpan()
        flaw = self._read_lines(candidate, span)
        if flaw is not None:
            return flaw
        if not (span.is_complete or window.ended):
            return None
        end = window.base + window.pos
        written = window.written(candidate.start, end)
        if span.is_complete:
            return Outcome(end, rules.read_pythonic(name, written))
        return Outcome(end, self._unfinished(written), is_whole=False)

    def _read_lines(self, candidate: Candidate, span: BracketSpan) -> Outcome | None:
        """Read line after line; return where it breaks, or becomes too long, if it does."""
        window = self._candidates.window
        line_end = None
        while span.line_end != line_end:
            line_end = span.line_end
            window.pos = span.read(window.text, window.pos, window.base, ended=window.ended)
            if span.flaw:
                at = span.line_end if span.flaw is ENDS_WITH_LINE else window.base + window.pos
                refusal = Refusal(RejectionReason.MALFORMED, f"{span.flaw}, at offset {at}", self._tool)
                return Outcome(at, refusal, is_whole=False)
            self._lines += span.line_end != line_end
            if span.line_end != line_end and not self._lines & (self._lines - 1):  # after each line, it is quadratic
                refusal = self._unfinished(window.written(candidate.start, span.line_end))
                if refusal.reason is not RejectionReason.TRUNCATED:
                    return Outcome(span.line_end, refusal, is_whole=False)
        is_too_long = window.base + window.pos - candidate.begin > self._candidates.most
        return self._candidates.too_long(candidate) if is_too_long else None

    def _unfinished(self, written: str) -> Refusal:
        """Return why a pythonic call is not one so far: it is malformed, or not all there."""
        try:
            parse_arguments(written)
        except EOFError:
            pass
        except ValueError as error:
            return Refusal(RejectionReason.MALFORMED, str(error), self._tool)
        return Refusal(RejectionReason.TRUNCATED, "the output ends inside it", self._tool)


class CodeReader:
    """Reads code up to the next token, or to the end."""

    def __init__(self, candidates: Candidates, indent: str, *, is_fenced: bool) -> None:
        self._candidates = candidates
        self._indent = indent
        """The white space before the code on its line."""
        self._is_fenced = is_fenced

    def read(self, candidate: Candidate) -> Outcome | None:
        """Read on, as far as text has arrived."""
        candidates = self._candidates
        rules, window = candidates.rules, candidates.window
        match = CODE_END[window.ended](window.text, window.pos)
        end = window.base + (len(window.text) if match is None else match.start())
        if end - candidate.begin > candidates.most:
            return candidates.too_long(candidate)
        if not window.ended and (match is None or match.lastgroup == "more"):
            window.pos = end - window.base
            return None
        tool = rules.declared.get(CODE_INTERPRETER)
        code = code_call(self._indent + window.written(candidate.begin, end), tool, is_fenced=self._is_fenced)
        if code is None:
            return Outcome(end, NO_CODE)
        if window.is_aborted or not (match or window.is_complete):
            refusal = Refusal(RejectionReason.TRUNCATED, "the output was cut off inside the code", CODE_INTERPRETER)
            return Outcome(end, refusal)
        written, at = code
        candidate.begin += at - len(self._indent)
        return Outcome(end, rules.checked(written), raw=next(iter(written.arguments.values())))
