"""JSON token by token, across chunks: where a value ends, or at which token it stops being JSON (principle 6).

Only the grammar is checked here. A value that is complete goes through `json_object`, which alone knows what is strict.
"""

from __future__ import annotations

import re
from enum import Enum

from llama3_tools.literals.json_depth import MAX_DEPTH
from llama3_tools.literals.refusal import Refusal
from llama3_tools.values import RejectionReason


class _Due(Enum):
    """What comes next."""

    VALUE = "a value"
    ITEM_OR_END = "a value or ']'"
    KEY_OR_END = "a key or '}'"
    KEY = "a key"
    COLON = "':' after the key"
    COMMA_OR_END = "',' or the closing bracket"
    STRING = "the rest of a string"
    NUMBER = "a digit"
    LITERAL = "the rest of true, false or null"


# As separate names: a member of an enum takes ten times as long to look up.
_VALUE, _ITEM_OR_END, _KEY_OR_END, _KEY, _COLON, _COMMA_OR_END, _STRING, _NUMBER, _LITERAL = _Due

_VALUES = (_VALUE, _ITEM_OR_END)
_KEYS = (_KEY, _KEY_OR_END)
_ENDS = (_COMMA_OR_END, _KEY_OR_END, _ITEM_OR_END)
_IN_TOKEN = (_STRING, _NUMBER, _LITERAL)
_BRACE = ord("}")

_SPACE = re.compile(r"[ \t\n\r]*").match
# Bounded, as `re` keeps a record of each repetition.
_BODY = re.compile(r'(?:[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){0,1000}("?)').match
# Python's, by their quote: with any escape.
_BODIES = {quote: re.compile(rf"(?:[^{quote}\\\x00-\x1f]+|\\[^\n]){{0,1000}}({quote}?)").match for quote in "\"'"}
_MAY_BE_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z").match
_DIGITS = re.compile(r"[0-9]*").match
_LITERALS = {"t": "rue", "f": "alse", "n": "ull", "T": "rue", "F": "alse", "N": "one"}

# A number, state by state: which character leads to which next state.
_STEPS: dict[str, dict[str, str]] = {
    "-": {"0": "0", **dict.fromkeys("123456789", "int")},
    "0": {".": ".", "e": "e", "E": "e"},
    "int": {".": ".", "e": "e", "E": "e"},
    ".": dict.fromkeys("0123456789", "fraction"),
    "fraction": {"e": "e", "E": "e"},
    "e": {"+": "sign", "-": "sign", **dict.fromkeys("0123456789", "exponent")},
    "sign": dict.fromkeys("0123456789", "exponent"),
    "exponent": {},
}
_RUNS_OF_DIGITS = ("int", "fraction", "exponent")
_UNFINISHED = ("-", ".", "e", "sign")


class JsonTokens:
    """Reads one value token by token.

    >>> tokens = JsonTokens()
    >>> tokens.read('{"a": [1, tr', 0, 0, ended=False), tokens.is_complete
    (12, False)
    >>> tokens.read("ue]} and more", 0, 12, ended=False), tokens.is_complete
    (4, True)
    """

    def __init__(self, *, is_python: bool = False) -> None:
        """Begin to read JSON, or an object of Python, with either quotes and its constants."""
        self.is_python = is_python
        self._body = _BODY
        self._closers = bytearray()
        """The brackets that close what is open, a byte each: an output may open millions."""
        self._due = _VALUE
        self._then = _VALUE
        """What comes after the string that is open."""
        self._string_end = -1
        """The offset after the string that was read last."""
        self._rest = ""
        """The rest of a literal, or the state of a number."""
        self.last = -1
        """The offset of the token that was read last; -1 before the first."""
        self.is_complete = False
        """Whether the value, an object or an array, has ended."""
        self.refusal: Refusal | None = None
        self.resume = -1
        """The offset at which the search goes on if it is not JSON: that of the token that broke it."""

    def read(self, text: str, pos: int, base: int, *, ended: bool) -> int:  # noqa: C901, PLR0911, PLR0912, PLR0915 (one loop)
        """Read on from an index of text whose offset is `base`; return where the value ended, or reading stopped."""
        due, closers, end = self._due, self._closers, len(text)
        while True:
            if due is _STRING:
                body: re.Match[str] = self._body(text, pos)  # type: ignore[assignment]  # it may match nothing
                begun, pos = pos, body.end()
                if body[1]:
                    due = self._then
                    self._string_end = base + pos
                elif pos == end or _MAY_BE_ESCAPE(text, pos):
                    break
                elif pos > begun:  # it is long
                    continue
                else:
                    return self._broken(due, text, pos, base)
            elif due is _NUMBER:
                pos = self._read_number(text, pos)
                if pos == end:
                    break
                if self._rest in _UNFINISHED:
                    return self._broken(due, text, pos, base)
                due = _COMMA_OR_END
            elif due is _LITERAL:
                rest = self._rest
                part = text[pos : pos + len(rest)]
                if not rest.startswith(part):
                    while text.startswith(rest[:1], pos):
                        pos, rest = pos + 1, rest[1:]
                    return self._broken(due, text, pos, base)
                pos += len(part)
                self._rest = rest[len(part) :]
                if self._rest:
                    break
                due = _COMMA_OR_END
            if pos == end:
                break
            char = text[pos]
            if char in " \t\n\r":
                pos = _SPACE(text, pos).end()  # type: ignore[union-attr]  # it may match nothing
                continue
            if char == '"' or (char == "'" and self.is_python):
                if self.is_python:
                    self._body = _BODIES[char]
                if due in _KEYS:
                    self._then = _COLON
                elif due in _VALUES:
                    self._then = _COMMA_OR_END
                else:
                    return self._broken(due, text, pos, base)
                due = _STRING
            elif char == ":" and due is _COLON:
                due = _VALUE
            elif char == "," and due is _COMMA_OR_END:
                due = _KEY if closers[-1] == _BRACE else _VALUE
            elif char in "}]" and due in _ENDS and closers[-1] == ord(char):
                closers.pop()
                due = _COMMA_OR_END
                if not closers:
                    self.is_complete = True
                    return pos + 1
            elif due not in _VALUES or char in ":,}]":
                return self._broken(due, text, pos, base)
            elif char in "{[":
                if len(closers) == MAX_DEPTH:
                    self.refusal = Refusal(RejectionReason.TOO_DEEP, f"nested deeper than {MAX_DEPTH} levels")
                    self.resume = base + pos
                    return pos
                closers.append(0x7D if char == "{" else 0x5D)
                due = _KEY_OR_END if char == "{" else _ITEM_OR_END
            elif char in "tfn" or (char in "TFN" and self.is_python):
                self._rest, due = _LITERALS[char], _LITERAL
            elif char in "-0123456789":
                self._rest, due = char if char in "-0" else "int", _NUMBER
            else:
                return self._broken(due, text, pos, base)
            self.last = base + pos
            pos += 1
        self._due = due
        if ended:
            detail = f"the output ends inside it, where {due.value} was due"
            self.refusal = Refusal(RejectionReason.TRUNCATED, detail)
        return pos

    def _read_number(self, text: str, pos: int) -> int:
        """Read on in a number; return the index after it."""
        while True:
            if self._rest in _RUNS_OF_DIGITS:
                digits = _DIGITS(text, pos)
                pos = digits.end() if digits else pos
            step = _STEPS[self._rest].get(text[pos : pos + 1])
            if step is None:
                return pos
            self._rest = step
            pos += 1

    def _broken(self, due: _Due, text: str, pos: int, base: int) -> int:
        """Refuse what is at an index, as something else was due; return the index, which `read` returns."""
        is_string = base + pos == self._string_end  # which was meant to go on: `"F-1; {"name"`
        self.resume = self.last if due in _IN_TOKEN or is_string else base + pos
        detail = f"expected {due.value} at offset {base + pos}, found {text[pos]!r}"
        if due is _STRING:
            what = "an escape that JSON does not have" if text[pos] == "\\" else f"the character {text[pos]!r}"
            detail = f"{what} in a string, at offset {base + pos}"
        self.refusal = Refusal(RejectionReason.MALFORMED, detail)
        return pos
