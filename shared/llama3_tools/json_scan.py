"""Reading one JSON value token by token, across chunks: how far it reaches, and where it stops being JSON.

This is the slow and exact half: it knows at every character whether the text can still be strict JSON (DESIGN
rule 8), which token was the last that could (rule 6), and whether the value can still be a call.
"""

from __future__ import annotations

import math
import re
from enum import Enum
from typing import NamedTuple

from llama3_tools.json_text import MAX_DEPTH, JsonObject, parse_object, skip_white_space
from llama3_tools.source import Reading, Source, run_to_end
from llama3_tools.values import RejectionReason

__all__ = ["Scan", "parse_whole", "scan_value"]


class Scan(NamedTuple):
    """What was found at a brace or bracket. Offsets count from the start of the output."""

    reason: RejectionReason | None
    """Why it cannot be a call, or `None` for a strict JSON value that may be one."""
    detail: str
    """What was wrong, and where."""
    end: int
    """Where the value ends, or the last token that could still be part of one."""
    resume: int
    """Where the search goes on (rule 6): at that last token, or after the value."""
    has_key: bool
    """Whether a key was seen: without one, a brace or bracket is prose."""
    hopeless: bool
    """Whether it was known before its end that it cannot be a call, so that its text was settled on the way."""


class _Next(Enum):
    """What may come next."""

    VALUE = "a value"
    ITEM_OR_END = "a value or ']'"
    KEY_OR_END = "a key or '}'"
    KEY = "a key"
    COLON = "':' after the key"
    COMMA_OR_END = "',' or the closing bracket"


_VALUES = (_Next.VALUE, _Next.ITEM_OR_END)
_KEYS = (_Next.KEY, _Next.KEY_OR_END)
_ENDS = (_Next.COMMA_OR_END, _Next.KEY_OR_END, _Next.ITEM_OR_END)
_CLOSER = {"{": "}", "[": "]"}
_LITERAL = {"t": "true", "f": "false", "n": "null"}

_STRING_BODY = re.compile(
    r'(?:[^"\\\x00-\x1f\ud800-\udfff]+'
    r'|\\["\\/bfnrt]'
    r"|\\u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*"
)
_ESCAPE_LENGTH = len(r"\ud83d\ude00")

# A number, state by state: which character leads to which next state. Digits that stay in their state run in C.
_DIGITS = re.compile(r"[0-9]*")
_NUMBER_STEPS: dict[str, dict[str, str]] = {
    "-": {"0": "zero", **dict.fromkeys("123456789", "int")},
    "zero": {".": ".", "e": "e", "E": "e"},
    "int": {".": ".", "e": "e", "E": "e"},
    ".": dict.fromkeys("0123456789", "fraction"),
    "fraction": {"e": "e", "E": "e"},
    "e": {"+": "sign", "-": "sign", **dict.fromkeys("0123456789", "exponent")},
    "sign": dict.fromkeys("0123456789", "exponent"),
    "exponent": {},
}
_RUNS_OF_DIGITS = ("int", "fraction", "exponent")
_NUMBER_ENDS = ("zero", *_RUNS_OF_DIGITS)


def scan_value(source: Source, *, calls_only: bool = False) -> Reading[Scan]:
    """Read one JSON value, from the brace or bracket at which the source stands.

    It yields `None` while the value may still be a call. Once it cannot be one (an array with an element that is
    no object; too many levels), it yields the offset up to which nothing will be searched again.

    Args:
        source: where to read. Afterwards it stands behind what was read.
        calls_only: stop where the value cannot be a call any more, rather than at its end.
    """
    return _Scanner(source).scan(calls_only=calls_only)


def parse_whole(text: str) -> JsonObject | None:
    """Parse text that is one strict JSON object and nothing else; `None` where it is not.

    >>> parse_whole(' {"a": 1} ').value
    {'a': 1}
    >>> parse_whole('{"a": 1} and more')
    """
    source = Source()
    source.feed(text)
    source.ended = True
    source.pos = start = skip_white_space(text, 0)
    if not text.startswith("{", start):
        return None
    parsed = parse_object(source.json_text, start)
    if parsed is None:
        scan = run_to_end(scan_value(source))
        parsed = parse_object(text, start, checked=True) if scan.reason is None else None
    return parsed if parsed and skip_white_space(text, parsed.end) == len(text) else None


class _Scanner:
    __slots__ = ("closers", "end", "expected", "has_key", "hopeless", "last", "source", "start")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.start = self.last = self.end = source.offset
        self.expected = _Next.VALUE
        self.closers: list[str] = []
        self.has_key = False
        self.hopeless: tuple[RejectionReason, str] | None = None

    def scan(self, *, calls_only: bool) -> Reading[Scan]:
        source = self.source
        while True:
            source.pos = skip_white_space(source.text, source.pos)
            if source.exhausted:
                if source.ended:
                    return self._truncated()
                yield self._settled()
                continue
            char = source.text[source.pos]
            if self.hopeless is None and self._is_hopeless_at(char) and calls_only:
                return self._malformed("")
            if not self._allowed(char):
                return self._malformed(f"expected {self.expected.value} at offset {source.offset}, found {char!r}")
            self.last = source.offset
            if char in "{}[],:":
                source.pos += 1
                self._punctuate(char)
            else:
                problem = yield from self._read_scalar(char)
                if problem:
                    self.end = source.offset
                    return self._truncated() if source.finished else self._malformed(problem)
            self.end = source.offset
            if not self.closers:
                reason, detail = self.hopeless or (None, "")
                return self._scan(reason, detail, self.end)

    def _settled(self) -> int | None:
        return None if self.hopeless is None else self.last

    def _truncated(self) -> Scan:
        reason, detail = RejectionReason.TRUNCATED, f"the output ends inside it, where {self.expected.value} was due"
        if self.hopeless is not None and self.hopeless[0] is RejectionReason.TOO_DEEP:
            reason, detail = self.hopeless
        return self._scan(reason, detail, self.source.offset)

    def _malformed(self, problem: str) -> Scan:
        reason, detail = RejectionReason.MALFORMED, problem
        if self.hopeless is not None and (not problem or self.hopeless[0] is RejectionReason.TOO_DEEP):
            reason, detail = self.hopeless
        return self._scan(reason, detail, max(self.last, self.start + 1))

    def _scan(self, reason: RejectionReason | None, detail: str, resume: int) -> Scan:
        return Scan(reason, detail, self.end, resume, self.has_key, self.hopeless is not None)

    def _is_hopeless_at(self, char: str) -> bool:
        if self.closers == ["]"] and self.expected in _VALUES and char != "{":
            self.hopeless = RejectionReason.NOT_A_CALL, "an array of something else than objects"
        elif len(self.closers) == MAX_DEPTH and char in "{[":
            self.hopeless = RejectionReason.TOO_DEEP, f"nested deeper than {MAX_DEPTH} levels"
        return self.hopeless is not None

    def _allowed(self, char: str) -> bool:
        expected = self.expected
        if char == '"':
            return expected in _VALUES or expected in _KEYS
        if char in "}]":
            return expected in _ENDS and char == self.closers[-1]
        if char == ",":
            return expected is _Next.COMMA_OR_END
        if char == ":":
            return expected is _Next.COLON
        return expected in _VALUES and char in '{[-0123456789tfn"'

    def _punctuate(self, char: str) -> None:
        if char == ":":
            self.expected = _Next.VALUE
        elif char == ",":
            self.expected = _Next.KEY if self.closers[-1] == "}" else _Next.VALUE
        elif char in _CLOSER:
            self.closers.append(_CLOSER[char])
            self.expected = _Next.KEY_OR_END if char == "{" else _Next.ITEM_OR_END
        else:
            self.closers.pop()
            self.expected = _Next.COMMA_OR_END

    def _read_scalar(self, char: str) -> Reading[str]:
        """Read a string, number or literal; give what was wrong with it, or nothing."""
        is_key = self.expected in _KEYS
        if char == '"':
            self.has_key = self.has_key or is_key
            problem = yield from self._read_string()
        elif char in _LITERAL:
            problem = yield from self._read_literal(_LITERAL[char])
        else:
            problem = yield from self._read_number(char)
        if not problem:
            self.expected = _Next.COLON if is_key else _Next.COMMA_OR_END
        return problem

    def _read_string(self) -> Reading[str]:
        source = self.source
        source.pos += 1
        while True:
            body = _STRING_BODY.match(source.text, source.pos)
            source.pos = pos = body.end() if body else source.pos
            rest = source.text[pos : pos + _ESCAPE_LENGTH]
            if rest.startswith('"'):
                source.pos += 1
                return ""
            if rest and not _may_become_escape(rest):
                what = "an escape that JSON does not have" if rest[0] == "\\" else f"the character {rest[0]!r}"
                return f"{what} in a string, at offset {source.offset}"
            if source.ended:
                source.pos = len(source.text)
                return "an open string"
            yield self._settled()

    def _read_literal(self, literal: str) -> Reading[str]:
        source = self.source
        while not source.text.startswith(literal, source.pos):
            if not literal.startswith(source.text[source.pos :]):
                return f"expected {literal!r} at offset {source.offset}"
            if source.ended:
                source.pos = len(source.text)
                return "an open literal"
            yield self._settled()
        source.pos += len(literal)
        return ""

    def _read_number(self, char: str) -> Reading[str]:
        source, pieces = self.source, [char]
        state = "-" if char == "-" else "zero" if char == "0" else "int"
        source.pos += 1
        while True:
            if state in _RUNS_OF_DIGITS:
                digits = _DIGITS.match(source.text, source.pos)
                source.pos = digits.end() if digits else source.pos
                pieces.append(digits[0] if digits else "")
            if source.exhausted:
                if source.ended:
                    return "an open number"
                yield self._settled()
                continue
            char = source.text[source.pos]
            step = _NUMBER_STEPS[state].get(char)
            if step is None:
                break
            source.pos += 1
            pieces.append(char)
            state = step
        if state not in _NUMBER_ENDS:
            return f"expected a digit at offset {source.offset}, found {char!r}"
        if state in ("fraction", "exponent") and math.isinf(float("".join(pieces))):
            return f"a number too large for a float, before offset {source.offset}"
        return ""


_ESCAPES_BEGIN = re.compile(
    r"\\(?:u(?:[dD](?:[89abAB](?:[0-9a-fA-F]{0,2}|[0-9a-fA-F]{2}\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)"
    r"|[0-7][0-9a-fA-F]?)?|[0-9a-cA-CefEF][0-9a-fA-F]{0,2})?)?"
)


def _may_become_escape(rest: str) -> bool:
    return len(rest) < _ESCAPE_LENGTH and _ESCAPES_BEGIN.fullmatch(rest) is not None
