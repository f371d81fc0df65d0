"""Reading one JSON value token by token, across chunks: how far it reaches, and where it stops being JSON.

This is the slow and exact half: it knows at every character whether the text can still be strict JSON (rule 8),
which token was the last that could (rule 6), and whether the value can still be a call.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, TypeAlias

from llama3_tools.reading.json_depth import MAX_DEPTH
from llama3_tools.reading.json_parse import JsonObject, parse_object, skip_json_space
from llama3_tools.reading.python_scalars import is_unicode
from llama3_tools.reading.source import Reading, Source, run_to_end
from llama3_tools.values import RejectionReason

__all__ = ["Judge", "Refusal", "Scan", "attempted_name", "parse_whole", "read_object", "scan_value"]


_AROUND = re.compile(r"\A(?:<[^<>]{1,64}>|(?:`{3,16}|~{3,16})[^\n`~]{0,64}\n|[\s\[])+")
_PYTHONIC = re.compile(r"([^\W\d][\w.-]{0,127})\(")
_NAME = re.compile(r"""["'](?:name|tool_name|function)["']\s*:\s*["']((?:[^"'\\]|\\[\s\S]){1,768})["']""")
_LONGEST_NAME = 128  # which takes six times as much where each character is an escape
_ARGUMENTS = re.compile(r"""["'](?:parameters|arguments)\b""")
_ATTEMPT_LENGTH = 4096  # how far into a broken candidate its name is looked for


class Refusal(NamedTuple):
    """Why something is not a call."""

    reason: RejectionReason
    detail: str
    name: str | None = None


Judge: TypeAlias = Callable[[str, int], "Refusal | None"]
"""Tells why an element of an array, of this text and at this index, is not a call."""


class Scan(NamedTuple):
    """What was found at a brace or bracket. Offsets count from the start of the output."""

    refusal: Refusal | None
    """Why it cannot be a call, or `None` for a strict JSON value that may be one."""
    end: int
    """Where the value ends, or the last token that could still be part of one."""
    resume: int
    """Where the search goes on (rule 6): at that last token, or after the value."""
    has_key: bool
    """Whether a key was seen: without one, a brace or bracket is prose."""
    is_settled: bool = False
    """Whether it had been certain before its end that it is no call, so that the text may have been released."""


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
_CLOSER = {"{": ord("}"), "[": ord("]")}
_LITERAL = {"t": "true", "f": "false", "n": "null"}

_STRING_BODY = re.compile(
    r'(?:[^"\\\x00-\x1f\ud800-\udfff]+'
    r'|\\["\\/bfnrt]'
    r"|\\u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}){0,4096}"  # `re` keeps a record of each
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


def scan_value(source: Source, judge: Judge | None = None, *, calls_only: bool = False) -> Reading[Scan]:
    """Read one JSON value, from the brace or bracket at which the source stands.

    It yields `None` while the value may still be a call. Once it cannot be one (an array with an element that is
    no call; too many levels), it yields the offset up to which nothing will be searched again.

    Args:
        source: where to read. Afterwards it stands behind what was read.
        judge: asked about each object in an array.
        calls_only: stop where the value cannot be a call any more, rather than at its end.
    """
    return _Scanner(source, judge, calls_only=calls_only).scan()


def read_object(source: Source, *, calls_only: bool = False) -> Reading[JsonObject | Scan]:
    """Read the object at which the source stands: parsed, or the scan that says why it is no strict JSON.

    Args:
        source: where to read. Afterwards it stands behind what was read.
        calls_only: stop where the object cannot be a call any more, rather than at its end.
    """
    text, start = source.json_text, source.offset
    parsed = None if text is None else parse_object(text, source.pos)
    if parsed is not None:
        source.pos = parsed.end
        if source.holds_too_much and not calls_only:
            return Scan(refuse_too_long(source, start), source.bound, source.offset, has_key=True, is_settled=True)
        return parsed
    scan = yield from scan_value(source, calls_only=calls_only)
    if scan.refusal is not None:
        return scan
    parsed = parse_object(source.slice(start, scan.end), 0, checked=True)
    assert parsed is not None  # noqa: S101  # the scan found a strict JSON object
    return parsed


def refuse_too_long(source: Source, start: int) -> Refusal:
    """Refuse a value that began at an offset and is too long for a call, and let it flow."""
    source.let_go_in_time(start)
    name = attempted_name(source.slice(start, source.bound))
    return Refusal(RejectionReason.TOO_LONG, f"longer than {source.most} characters", name)


def attempted_name(text: str) -> str | None:
    r"""Give the name of the tool that a broken candidate seems to call first, if it seems to call one.

    >>> attempted_name(r'{"name": "f\u005f1", "parameters": {oops')
    'f_1'
    >>> attempted_name('{"name": "Alice", oops')
    >>> attempted_name("<tool_call>[f(json='{\"name\": \"g\", \"parameters\": oops")
    'f'
    """
    head = text[:_ATTEMPT_LENGTH]
    inside = _AROUND.sub("", head)
    if not inside.startswith("{"):
        pythonic = _PYTHONIC.match(inside)
        return pythonic[1].removesuffix(".call") if pythonic else None
    name = _NAME.search(head)
    return _unescaped(name[1]) if name and _ARGUMENTS.search(head) else None


def _unescaped(name: str) -> str | None:
    if "\\" in name:
        try:
            name = json.loads(f'"{name}"')
        except ValueError:  # an escape that JSON does not have
            return None
        if not is_unicode(name):
            return None
    return name if len(name) <= _LONGEST_NAME else None


def parse_whole(text: str) -> JsonObject | None:
    """Parse text that is one strict JSON object and nothing else; `None` where it is not.

    >>> parse_whole(' {"a": 1} ').value
    {'a': 1}
    >>> parse_whole('{"a": 1} and more')
    """
    source = Source()
    source.feed(text)
    source.ended = True
    source.pos = skip_json_space(text, 0)
    if not text.startswith("{", source.pos):
        return None
    parsed = run_to_end(read_object(source))
    is_whole = skip_json_space(text, source.pos) == len(text)
    return parsed if is_whole and isinstance(parsed, JsonObject) else None


class _Scanner:
    """The state of one scan. Offsets count from the start of the output."""

    __slots__ = (
        "calls_only",
        "closers",
        "element",
        "elements",
        "end",
        "expected",
        "has_key",
        "hopeless",
        "judge",
        "last",
        "source",
        "start",
    )

    def __init__(self, source: Source, judge: Judge | None, *, calls_only: bool) -> None:
        self.source = source
        self.judge = judge
        self.calls_only = calls_only
        self.start = self.last = self.end = source.offset
        """Where the value starts; where the last token starts, and where it ends."""
        self.element = self.elements = 0
        """Where the current object of an array starts, and how many there were before it."""
        self.expected = _Next.VALUE
        self.closers = bytearray()
        """The brackets that close what is open, a byte each: of an output that opens millions, nothing else is kept."""
        self.has_key = False
        self.hopeless: Refusal | None = None
        """Why the value cannot be a call any more."""

    def scan(self) -> Reading[Scan]:
        while not self._gives_up():
            char = yield from self._next_char()
            if not char:
                detail = f"the output ends inside it, where {self.expected.value} was due"
                return self._broken(RejectionReason.TRUNCATED, detail)
            self._look_at(char)
            if self._gives_up():
                break
            if not self._allowed(char):
                problem = f"expected {self.expected.value} at offset {self.source.offset}, found {char!r}"
                return self._broken(RejectionReason.MALFORMED, problem)
            problem = yield from self._read_token(char)
            if problem:
                is_cut_off = self.source.finished
                return self._broken(RejectionReason.TRUNCATED if is_cut_off else RejectionReason.MALFORMED, problem)
            if not self.closers:
                self._look_at_length()
                return self._scan(self.hopeless, self.source.offset)
        return self._scan(self.hopeless, self.source.offset)

    def _gives_up(self) -> bool:
        return self.calls_only and self.hopeless is not None

    def _next_char(self) -> Reading[str]:
        """Step over white space; give the character behind it, or nothing at the end of the output."""
        source = self.source
        while True:
            source.pos = skip_json_space(source.text, source.pos)
            if not source.exhausted:
                return source.text[source.pos]
            if source.ended:
                return ""
            yield self._settled()

    def _settled(self) -> int | None:
        self._look_at_length()
        return None if self.hopeless is None else self._flown()

    def _flown(self) -> int:
        """Give up to where a value that cannot be a call has flown: the token that may be broken is searched again."""
        return max(self.last, self.source.offset - self.source.most)

    def _broken(self, reason: RejectionReason, detail: str) -> Scan:
        is_cut_off = reason is RejectionReason.TRUNCATED
        resume = self.source.offset if is_cut_off else max(self._flown(), self.start + 1)
        self._look_at_length()
        if self.hopeless is None:
            return self._scan(Refusal(reason, detail, self._attempted_name()), resume)
        is_too_much = self.hopeless.reason in (RejectionReason.TOO_DEEP, RejectionReason.TOO_LONG)
        return self._scan(self.hopeless if is_too_much else Refusal(reason, detail), resume)

    def _scan(self, refusal: Refusal | None, resume: int) -> Scan:
        return Scan(refusal, self.end, resume, self.has_key, self.hopeless is not None)

    def _attempted_name(self) -> str | None:
        return attempted_name(self.source.slice(self.start, self.end))

    def _look_at(self, char: str) -> None:
        """Find out whether the value becomes hopeless with the token that begins here."""
        self._look_at_length()
        if self.hopeless is not None:
            return
        if self.closers == b"]":
            if self.expected in _VALUES and char not in "{]":
                self._give_up(Refusal(RejectionReason.NOT_A_CALL, "an array of something else than objects"))
            elif self.expected in _VALUES:
                self.element = self.source.offset
        elif len(self.closers) == MAX_DEPTH and char in "{[":
            detail = f"nested deeper than {MAX_DEPTH} levels"
            self._give_up(Refusal(RejectionReason.TOO_DEEP, detail, self._attempted_name()))

    def _read_token(self, char: str) -> Reading[str]:
        """Read a token that may stand here; give what was wrong with it, or nothing."""
        self.last = self.source.offset
        problem = ""
        if char in "{}[],:":
            self.source.pos += 1
            self._punctuate(char)
        else:
            problem = yield from self._read_scalar(char)
        if self.hopeless is None or self.hopeless.reason is not RejectionReason.TOO_LONG:
            self.end = self.source.offset
        if char == "}" and self.closers == b"]":
            self._judge_element()
        return problem

    def _judge_element(self) -> None:
        self.has_key = True  # an object in an array is data, not prose
        if self.hopeless is None and self.judge is not None:
            refusal = self.judge(self.source.slice(self.element, self.end), self.elements)
            self.elements += 1
            if refusal is not None:
                self._give_up(refusal)

    def _look_at_length(self) -> None:
        """Find out whether the value has become too long for a call; in a wrapper, that is for the wrapper."""
        if self.hopeless is None and not self.calls_only and self.source.holds_too_much:
            self.hopeless = refuse_too_long(self.source, self.start)
            self.end = self.source.bound

    def _give_up(self, refusal: Refusal) -> None:
        """Note that the value is no call: from here on it flows, unless a wrapper around holds it."""
        self._look_at_length()
        if self.hopeless is None:
            self.hopeless = refusal
            if not self.calls_only:
                self.source.let_go()

    def _allowed(self, char: str) -> bool:
        expected = self.expected
        if char == '"':
            return expected in _VALUES or expected in _KEYS
        if char in "}]":
            return expected in _ENDS and ord(char) == self.closers[-1]
        if char == ",":
            return expected is _Next.COMMA_OR_END
        if char == ":":
            return expected is _Next.COLON
        return expected in _VALUES and char in '{[-0123456789tfn"'

    def _punctuate(self, char: str) -> None:
        if char == ":":
            self.expected = _Next.VALUE
        elif char == ",":
            self.expected = _Next.KEY if self.closers[-1] == _CLOSER["{"] else _Next.VALUE
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
            if body and body.end() > source.pos:
                source.pos = body.end()
                continue
            rest = source.text[source.pos : source.pos + _ESCAPE_LENGTH]
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
            if not literal.startswith(source.text[source.pos : source.pos + len(literal)]):
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
    return _ESCAPES_BEGIN.fullmatch(rest) is not None  # of a whole escape, it takes no more than all but the last digit
