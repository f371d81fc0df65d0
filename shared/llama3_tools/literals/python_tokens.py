"""Python's literals token by token, across chunks, written out as JSON on the way: nothing is evaluated (rule 11).

What JSON has no word for is not read: bytes, complex numbers, names, keys that are no strings. Tuples and sets are
arrays. Numbers keep their digits (rule 8).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from llama3_tools.literals.json_depth import MAX_DEPTH
from llama3_tools.literals.python_scalars import is_unicode, number_in_json, unescaped
from llama3_tools.literals.refusal import Refusal
from llama3_tools.text.json_writing import write_string
from llama3_tools.values import RejectionReason, shortened

__all__ = ["PythonTokens"]


class _Due(Enum):
    """What comes next."""

    VALUE = "a literal"
    VALUE_OR_END = "a literal or the closing bracket"
    COMMA_OR_END = "',' or the closing bracket"
    COLON = "':' after the key"
    COLON_COMMA_OR_END = "':', ',' or the closing bracket"
    WORD = "the rest of a word"
    AFTER_WORD = "what follows a word"
    NUMBER = "the rest of a number"
    STRING = "the rest of a string"


# As names of their own, as `stream/states.py` says.
_VALUE, _VALUE_OR_END, _COMMA_OR_END, _COLON, _COLON_COMMA_OR_END, _WORD, _AFTER_WORD, _NUMBER, _STRING = _Due

_VALUES = (_VALUE, _VALUE_OR_END)
_COMMAS = (_COMMA_OR_END, _COLON_COMMA_OR_END)
_COLONS = (_COLON, _COLON_COMMA_OR_END)
_ENDS = (_VALUE_OR_END, *_COMMAS)
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_CONSTANTS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}

_SPACE = re.compile(r"[ \t\n\r]*").match
# Any character that is not ASCII's white space or punctuation: whether it is an identifier, all of it tells.
_WORD_CHARS = re.compile(r"[^\x00-/:-@\[-\^`{-\x7f]*").match
_NUMBER_CHARS = re.compile(r"(?:[0-9._a-df-zA-DF-Z]|[eE][+-]?)*").match
_LONGEST_WORD = 4096
_BODY = {  # by the quote that ends it; bounded, as `re` keeps a record of each repetition
    **{quote: re.compile(rf"(?:[^{quote}\\\n\r]+|\\[\s\S]){{0,1000}}").match for quote in "'\""},
    **{quote * 3: re.compile(rf"(?:[^{quote}\\]+|\\[\s\S]){{0,1000}}").match for quote in "'\""},
}


@dataclass(slots=True)
class _Container:
    """A bracket that is open."""

    kind: str
    place: int
    """The index of its opening among the pieces, where it turns out what it was."""
    items: int = 0
    has_comma: bool = False
    is_dict: bool = False
    has_key: bool = False
    """Whether the value of a key comes next."""

    def in_json(self) -> tuple[str, str]:
        """Return its opening and its closing in JSON: nothing for parentheses around one value."""
        if self.kind == "{" and (self.is_dict or not self.items):
            return "{", "}"
        if self.kind == "(" and self.items == 1 and not self.has_comma:
            return "", ""
        return "[", "]"


class _BrokenError(Exception):
    """What is wrong at a token; caught within this file."""


class PythonTokens:
    """Reads the arguments of a call, from its parenthesis to the closing one; or one literal, from its bracket on.

    >>> tokens = PythonTokens()
    >>> tokens.read("f('Paris', days=(1, 0x10), ", 1, 0, ended=False), tokens.is_complete
    (27, False)
    >>> tokens.read("w=None) is it", 0, 27, ended=False), tokens.is_complete
    (7, True)
    >>> tokens.positional, tokens.keywords
    (['"Paris"'], {'days': '[1, 16]', 'w': 'null'})
    """

    __slots__ = (
        "_as_they_are",
        "_containers",
        "_due",
        "_has_begun",
        "_is_call",
        "_is_raw",
        "_last_is_string",
        "_name",
        "_pieces",
        "_quote",
        "_run",
        "_then",
        "_waits",
        "is_complete",
        "keywords",
        "last",
        "positional",
        "refusal",
    )

    def __init__(self, *, is_call: bool = True, as_they_are: bool = False) -> None:
        r"""Begin to read.

        Args:
            is_call: whether the parenthesis of a call comes first, rather than the bracket of a literal.
            as_they_are: whether strings in double quotes have no escapes but `\"`: Meta's template writes those of its
                built-in tools so.
        """
        self._is_call = is_call
        self._as_they_are = as_they_are
        self._has_begun = not is_call
        self._is_raw = self._waits = False
        self._due = self._then = _VALUE
        self._containers: list[_Container] = []
        self._name: str | None = None
        self._pieces: list[str] = []
        self._run: list[str] = []
        """The pieces of the word, number or string that is open."""
        self._quote = ""
        self._last_is_string = False
        self.positional: list[str] = []
        """The arguments without a name, each as JSON; of a literal, the literal."""
        self.keywords: dict[str, str] = {}
        """The arguments with a name, each as JSON."""
        self.last = -1
        """The offset of the token that was read last, -1 before the first: where the search goes on if it breaks."""
        self.refusal: Refusal | None = None
        """Why it cannot be read."""
        self.is_complete = False

    def read(self, text: str, pos: int, base: int, *, ended: bool) -> int:
        """Read on; return where the call or literal ended, or where reading stopped.

        Args:
            text: what has arrived.
            pos: the index to read on from.
            base: the offset of `text[0]`.
            ended: whether no more will come.
        """
        if not self._has_begun:
            self._has_begun, self._due = True, _VALUE_OR_END
            pos += 1
        self._waits = False
        try:
            while not (self.is_complete or self._waits or self.refusal):
                pos = self._step(text, pos, base, ended=ended)
        except _BrokenError as broken:
            self.refusal = Refusal(RejectionReason.MALFORMED, str(broken))
            return max(pos, self.last - base)
        if self._waits and ended:
            detail = f"the output ends inside it, where {self._due.value} was due"
            self.refusal = Refusal(RejectionReason.TRUNCATED, detail)
            return len(text)
        return pos

    @property
    def resume(self) -> int:
        """The offset at which the search goes on if it cannot be read: that of the token that broke it."""
        return self.last

    @property
    def is_in_string(self) -> bool:
        """Whether a string is open."""
        return self._due is _STRING

    def _wait(self, pos: int) -> int:
        """Stop at an index until more has arrived."""
        self._waits = True
        return pos

    def _step(self, text: str, pos: int, base: int, *, ended: bool) -> int:
        """Read one token, or what has come of one; return where that ended."""
        due = self._due
        if due is _STRING:
            return self._read_string(text, pos, base)
        if due is _WORD:
            return self._read_word(text, pos)
        if due is _NUMBER:
            return self._read_number(text, pos, ended=ended)
        space = _SPACE(text, pos)
        pos = space.end() if space else pos
        if pos == len(text):
            return self._wait(pos)
        if due is _AFTER_WORD:
            return self._end_word(text[pos], pos)
        self.last = base + pos
        return self._read_token(text, pos, ended=ended)

    def _read_token(self, text: str, pos: int, *, ended: bool) -> int:
        char = text[pos]
        if char in ")]}":
            self._close(char)
        elif self._due in _VALUES:
            if char in "'\"":
                return self._open_string(text, pos, ended=ended)
            if char in _CLOSERS and not self._is_at_key:
                self._open(char)
            elif char.isidentifier():
                self._run, self._then, self._due = [], self._due, _WORD
                return pos
            elif char in "+-.0123456789":
                self._run, self._then, self._due = [char], self._due, _NUMBER
            else:
                raise self._unexpected(repr(char))
        elif char == "," and self._due in _COMMAS:
            self._separate()
        elif char == ":" and self._due in _COLONS:
            self._take_key()
        else:
            raise self._unexpected(repr(char))
        return pos + 1

    @property
    def _is_at_key(self) -> bool:
        """Whether a key of a dict comes next, which is a string."""
        return bool(self._containers) and self._containers[-1].is_dict and not self._containers[-1].has_key

    def _unexpected(self, found: str) -> _BrokenError:
        return _BrokenError(f"expected {self._due.value} at offset {self.last}, found {found}")

    def _close(self, char: str) -> None:
        closer = _CLOSERS[self._containers[-1].kind] if self._containers else ")"
        if char != closer or self._due not in _ENDS:
            raise self._unexpected(repr(char))
        if not self._containers:
            self._end_argument()
            self.is_complete = True
            return
        container = self._containers.pop()
        self._pieces[container.place], closing = container.in_json()
        self._end_value(closing)
        if not self._containers and not self._is_call:
            self.positional.append("".join(self._pieces))
            self.is_complete = True

    def _separate(self) -> None:
        if self._containers:
            self._containers[-1].has_comma = True
            self._containers[-1].has_key = False
        else:
            self._end_argument()
        self._due = _VALUE_OR_END

    def _take_key(self) -> None:
        if not self._last_is_string:
            raise _BrokenError(f"a key that is no string, before offset {self.last}")
        self._pieces.append(": ")
        self._containers[-1].is_dict = self._containers[-1].has_key = True
        self._due = _VALUE

    def _end_argument(self) -> None:
        """File the argument that ends here, if there is one."""
        text, name = "".join(self._pieces), self._name
        if name is not None:
            self.keywords[name] = text
        elif text and self.keywords:
            raise _BrokenError(f"an argument without a name after one that has one, before offset {self.last}")
        elif text:
            self.positional.append(text)
        self._pieces, self._name = [], None

    def _begin_value(self) -> None:
        """Count the value that begins here, and write what parts it from the one before."""
        if self._containers and not self._containers[-1].has_key:
            if self._containers[-1].items:
                self._pieces.append(", ")
            self._containers[-1].items += 1

    def _end_value(self, *pieces: str, is_string: bool = False) -> None:
        self._pieces += pieces
        self._last_is_string = is_string
        container = self._containers[-1] if self._containers else None
        if container is None or container.kind != "{" or container.has_key:
            self._due = _COMMA_OR_END
        elif container.is_dict:
            self._due = _COLON
        else:
            self._due = _COLON_COMMA_OR_END if container.items == 1 else _COMMA_OR_END

    def _open(self, char: str) -> None:
        if len(self._containers) + 1 == MAX_DEPTH:
            self.refusal = Refusal(RejectionReason.TOO_DEEP, f"nested deeper than {MAX_DEPTH} levels")
            return
        self._begin_value()
        self._containers.append(_Container(char, len(self._pieces)))
        self._pieces.append(char)
        self._due = _VALUE_OR_END

    def _read_word(self, text: str, pos: int) -> int:
        match = _WORD_CHARS(text, pos)
        end = match.end() if match else pos
        self._run.append(text[pos:end])
        self._run = [word := "".join(self._run)]
        if len(word) >= _LONGEST_WORD:
            self._due = self._then
            raise self._unexpected("a long name")
        if end == len(text):
            return self._wait(end)
        is_prefix = word.lower() in ("r", "u") and text[end] in ("'", '"')
        self._is_raw = is_prefix and word.lower() == "r"
        self._due = self._then if is_prefix else _AFTER_WORD
        return end

    def _end_word(self, char: str, pos: int) -> int:
        """Take a constant, or the name of an argument: any other word is no literal."""
        word, self._due = self._run[0], self._then
        if word in _CONSTANTS and char != "=":
            self._begin_value()
            self._end_value(_CONSTANTS[word])
            return pos
        is_at_argument = self._is_call and not self._containers and self._name is None
        if char != "=" or not is_at_argument or not word.isidentifier() or word in ("True", "False", "None"):
            raise self._unexpected(f"{'a call of' if char == '(' else 'the name'} {shortened(word)!r}")
        if word in self.keywords:
            raise _BrokenError(f"the argument {shortened(word)!r} stands twice, at offset {self.last}")
        self._name = word
        self._due = _VALUE
        return pos + 1

    def _read_number(self, text: str, pos: int, *, ended: bool) -> int:
        is_exponent = self._run[-1][-1:] in ("e", "E") and text[pos : pos + 1] in ("+", "-")
        match = _NUMBER_CHARS(text, pos + is_exponent)
        end = match.end() if match else pos
        self._run.append(text[pos:end])
        if end == len(text) and not ended:
            self._run = ["".join(self._run)]
            return self._wait(end)
        written, self._due = "".join(self._run), self._then
        sign = written[0] if written[0] in "+-" else ""
        number = number_in_json(written[len(sign) :].lower())
        if number is None:
            raise self._unexpected(f"{shortened(written)!r}, no number that JSON has")
        self._begin_value()
        self._end_value(f"-{number}" if sign == "-" else number)
        return end

    def _open_string(self, text: str, pos: int, *, ended: bool) -> int:
        quote = text[pos]
        begun = text[pos : pos + 3]
        if begun == quote * len(begun) and begun != quote * 3 and not ended:
            return self._wait(pos)
        self._quote = begun if begun == quote * 3 else quote
        self._run, self._due = [], _STRING
        return pos + len(self._quote)

    def _read_string(self, text: str, pos: int, base: int) -> int:
        quote = self._quote
        while True:
            body = _BODY[quote](text, pos)
            end = body.end() if body else pos
            if end > pos:
                self._run.append(text[pos:end])
                pos = end
                continue
            rest = text[pos : pos + len(quote)]
            if rest == quote:
                self._end_string("".join(self._run))
                return pos + len(quote)
            if rest in ("\n", "\r"):
                raise _BrokenError(f"a line break in a string, at offset {base + pos}")
            if rest == "\\" or len(rest) < len(quote):
                return self._wait(pos)  # the beginning of an escape, or quotes that may become three
            self._run.append(rest[0])  # a quote inside of a string that ends with three
            pos += 1

    def _end_string(self, text: str) -> None:
        as_it_is = self._as_they_are and self._quote == '"'
        is_raw, self._is_raw = self._is_raw, False
        try:
            plain = text.replace('\\"', '"') if as_it_is else text if is_raw else unescaped(text)
            decoded = write_string(plain)
        except ValueError as error:
            raise _BrokenError(f"{error}, at offset {self.last}") from None
        if not is_unicode(text):  # the other half of a pair may be an escape
            raise _BrokenError(f"half a surrogate pair in the string at offset {self.last}")
        self._begin_value()
        self._end_value(decoded, is_string=True)
