"""What is open around a place: brackets that matter, strings in them, the keys of objects (principles 3 and 6).

In prose, `[` opens an array, `{` an object, and `name(` the arguments of a call. Quotation marks count inside these
alone, and only where a value may begin, so `it's`, smileys and `1)` open nothing.
"""

from __future__ import annotations

import re
from enum import IntEnum

from llama3_tools.literals.bracket_span import goes_on
from llama3_tools.reader.window import Window


class Place(IntEnum):
    """What a place is in."""

    FREE = 0
    """Nothing: anything may begin there."""
    OPEN = 1
    """An object, where no value can be: the model left it open, and JSON begins anew."""
    PART = 2
    """Something of which what begins there is a part."""


FREE, OPEN, PART = Place

# The state of a bracket that is open is one byte, as an output may open millions: a number, and flags.
_TEXT, _QUOTE, _VALUE, _ASSIGNED = range(4)
"""In prose, and in arrays that turned out to be prose: in text, after a quotation mark, after `"…":`, after `=`."""
_FIRST, _WORD, _STRING, _ELEMENT, _DATA, _ODD_ELEMENT = range(4, 10)
"""In an array: the first value is due, is a word, is a string or an array; in data, one is due, was read, is odd."""
_KEY, _NAME, _MEMBER, _DONE, _OTHER, _ODD_VALUE = range(10, 16)
"""In an object: a key is due, was read; its value is due, was read; it is neither JSON nor Python; it is odd.

An odd value begins with what no value of JSON or Python begins with: `</b> …`, `// a comment`. Only a comma ends it."""
_CALL = 16
"""In the arguments of a call; next, the brackets in them, which follow the same rules."""
_INNER = {"(": 17, "[": 18, "{": 19}
_CLOSERS = "]]]]]]]]]]}}}}}}))]}"
_NUMBER = 31
_HARD, _SOFT, _MEANT = 32, 64, 128
"""Flags: in data or arguments; in the value of a key; in a broken call, whose strings no blank line ends."""

_WORDS, _STRINGS, _ARRAYS, _OBJECTS, _COMMAS, _COLONS, _EQUALS, _OTHERS = range(8)
_KINDS = {",": _COMMAS, ":": _COLONS, "=": _EQUALS, '"': _STRINGS, "'": _STRINGS, "`": _STRINGS}
_WORD_SIGNS = {_FIRST: "_-+.", _WORD: "_-+.", _KEY: "_$-.", _NAME: "_$-."}
_PARTS = (_VALUE, _ASSIGNED, _ELEMENT, _ODD_ELEMENT, _MEMBER, _ODD_VALUE)
"""In these, what begins is a part of something."""
_NEXT = (
    # word, string, array, object, comma, colon, `=`, anything else
    (_TEXT, _QUOTE, _TEXT, _TEXT, _TEXT, _TEXT, _ASSIGNED, _TEXT),  # in text
    (_TEXT, _QUOTE, _TEXT, _TEXT, _TEXT, _VALUE, _ASSIGNED, _TEXT),  # after a quotation mark
    (_TEXT, _QUOTE, _TEXT, _TEXT, _TEXT, _TEXT, _ASSIGNED, _TEXT),  # after `"…":`
    (_TEXT, _QUOTE, _TEXT, _TEXT, _TEXT, _TEXT, _ASSIGNED, _TEXT),  # after `=`
    (_WORD, _STRING, _STRING, _DATA, _TEXT, _TEXT, _TEXT, _TEXT),  # first value due
    (_WORD, _TEXT, _TEXT, _TEXT, _ELEMENT, _TEXT, _TEXT, _TEXT),  # a word
    (_TEXT, _TEXT, _TEXT, _TEXT, _ELEMENT, _VALUE, _TEXT, _TEXT),  # a string
    (_DATA, _DATA, _DATA, _DATA, _ELEMENT, _ELEMENT, _ODD_ELEMENT, _ODD_ELEMENT),  # a value due
    (_DATA, _DATA, _DATA, _DATA, _ELEMENT, _ELEMENT, _DATA, _DATA),  # `:` follows a key of the object around it
    (*[_ODD_ELEMENT] * 4, _ELEMENT, *[_ODD_ELEMENT] * 3),  # an odd value
    (_NAME, _NAME, _OTHER, _OTHER, _KEY, _KEY, _OTHER, _OTHER),  # key due
    (_NAME, _NAME, _OTHER, _OTHER, _KEY, _MEMBER, _OTHER, _OTHER),  # after a key
    (_DONE, _DONE, _DONE, _DONE, _KEY, _MEMBER, _ODD_VALUE, _ODD_VALUE),  # value due
    (_DONE, _NAME, _DONE, _DONE, _KEY, _MEMBER, _DONE, _DONE),  # after a value; `"a": 1 "b"` lacks a comma
    (_OTHER, _NAME, _OTHER, _OTHER, _KEY, _OTHER, _OTHER, _OTHER),  # no object after all
    (*[_ODD_VALUE] * 4, _KEY, *[_ODD_VALUE] * 3),  # an odd value
)
"""The next state of prose, an array or an object, by the kind of token."""

_IN_PROSE = re.compile(r'["=(\[{]').search
_IN_BRACKETS = re.compile(r'["=(\[{\]})\n]').search
_LONG_TOKEN = re.compile(r"[^\S\n]+|\w+").match
_RUN = re.compile(r"[^\n\"'`()\[\]{}]*").match
# Bounded, as `re` keeps a record of each repetition.
_BODY = {quote: re.compile(rf"(?:[^{quote}\\\n]+|\\[^\n]){{0,1000}}").match for quote in "\"'`"}


class Surroundings:
    """Reads the text of a turn once, as far as anyone asks, and keeps what is open.

    >>> Surroundings(Window('["a", {')).place(6), Surroundings(Window('["a", {}] {')).place(10)
    (<Place.PART: 2>, <Place.FREE: 0>)
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._seen = 0
        """The offset up to which text was read."""
        self._state = _TEXT
        """The state of the innermost bracket that is open, or of prose."""
        self._open = bytearray()
        """The states around it."""
        self._counts = {")": 0, "]": 0, "}": 0}
        """How many brackets are open, by what closes them: to search for one that is not open would take long."""
        self._quote = ""
        """The quotes of the string that is open; empty if none is."""
        self._is_closed = False
        """Whether they came again: what follows shows whether they end the string."""
        self._is_cut = False
        """Whether it has a line break or a stray quote: it ends at a quote before a comma or a bracket."""
        self._has_stray = False
        """Whether it has a stray quote: a parenthesis that is open in it, too, is closed first: `f('print('a')`."""
        self._inner = 0
        """How many parentheses are open in it, if it is an argument."""
        self._last = ""
        """The last character in strings and arguments, white space aside."""
        self._breaks = 0
        """How many line breaks came since the last character, other white space aside."""
        self._is_indented = False
        self._meant, self._meant_as = -1, _MEANT
        """The offset of a bracket that was meant to be a call, and broke."""

    # What the turn tells.

    def end_call(self, offset: int) -> None:
        """Note that a call ends at an offset: everything open around it was left open, and ends."""
        if self._open:
            self._open.clear()
            self._counts = {")": 0, "]": 0, "}": 0}
        self._state, self._quote, self._seen = _TEXT, "", offset
        self._last, self._breaks = "", 0

    def skip(self, end: int) -> None:
        """Skip what another part read up to an index: it opens nothing."""
        self._seen = self._window.base + end
        self._last, self._breaks = self._window.text[end - 1 : end], 0

    def skip_object(self, end: int, *, is_meant: bool) -> None:
        """Skip an object that is text and ends at an index: it is data, unless a call was meant."""
        if not self._quote and self._state & _NUMBER < _CALL:
            self._begin_value(_OTHERS if is_meant and self._state & _NUMBER == _FIRST else _OBJECTS)
        self.skip(end)

    def mean(self, offset: int, *, is_argument: bool) -> None:
        """Note that the bracket at an offset, not read yet, begins a broken call."""
        self._meant, self._meant_as = offset, _MEANT | _SOFT if is_argument else _MEANT

    # What the turn asks.

    def place(self, at: int) -> Place:  # noqa: PLR0911 (one place after another)
        """Read up to an index; return what that place is in."""
        self.read(at)
        if self._state == _TEXT:
            return FREE
        if self._breaks and self._state & _NUMBER >= _CALL and not self._quote:
            self._begin_line(self._window.text[at : at + 1])
        state = self._state & _NUMBER
        if self._quote and (self._is_cut or not self._is_closed):
            if state >= _CALL or self._state & _HARD:
                return PART
            if self._last == ";":  # models left a string open, and went on: `"q": "F-0001; {"name": …`
                return FREE
            # The quotes of an object would end it, and no comma or colon follow: `A {" stray {"name": …`
            is_stray = self._quote == '"' and state in (_STRING, _NAME) and not self._state & (_SOFT | _MEANT)
            return OPEN if is_stray else PART
        if state >= _CALL or state in _PARTS or self._state & _HARD:
            return PART
        if state in (_DATA, _DONE):  # no value can be there: the model left it open, and began anew
            return OPEN if self._state & _MEANT else FREE
        if self._state & _SOFT and not (state >= _KEY and self._breaks):  # on a new line, it began anew
            return PART
        return OPEN if state >= _KEY else FREE

    def read(self, end: int) -> None:
        """Read up to an index of the window, or to an escape or quotes there that may go on."""
        text, base = self._window.text, self._window.base
        pos = max(self._seen - base, 0)
        while pos < end:
            number = self._state & _NUMBER
            if self._quote:
                after = self._read_string(text, pos, end)
            elif number >= _CALL:
                after = self._read_arguments(text, pos, end)
            elif self._state & ~_MEANT:  # not in prose
                after = self._read_token(text, pos, end)
            else:
                found = (_IN_BRACKETS if self._open else _IN_PROSE)(text, pos, end)
                after = end if found is None else found.start()
                if self._breaks and text[pos:after].strip():
                    self._breaks = 0
                if found is not None:
                    after = self._read_token(text, after, end)
            if after < 0:
                break
            pos = after
        self._seen = base + pos

    # How it reads.

    def _set(self, state: int) -> None:
        self._state = self._state & ~_NUMBER | state

    def _begin_value(self, kind: int) -> int:
        """Note that a value of a kind begins; return the flags for what is in it."""
        number, flags = self._state & _NUMBER, self._state & ~_NUMBER
        self._set(_NEXT[number][kind])
        if number in (_VALUE, _ASSIGNED, _ELEMENT):
            return flags | _HARD
        return flags | _SOFT if number == _MEMBER else flags

    def _push(self, number: int, pos: int) -> None:
        """Open a bracket."""
        flags = self._state & ~_NUMBER
        is_meant = self._window.base + pos == self._meant
        if self._state & _NUMBER < _CALL:
            is_due = is_meant and self._state & _NUMBER == _FIRST
            flags = self._begin_value(_ARRAYS if number == _FIRST else _OTHERS if is_due else _OBJECTS)
        self._open.append(self._state)
        self._state = flags | number | (self._meant_as if is_meant else 0)
        self._counts[_CLOSERS[number]] += 1

    def _pop(self) -> None:
        number = self._state & _NUMBER
        self._counts[_CLOSERS[number]] -= 1
        self._state = self._open.pop()
        if self._state & _NUMBER == _STRING and number < _KEY:  # an array, first in an array
            self._set(_TEXT if number <= _ASSIGNED else _DATA)

    def _close(self, bracket: str) -> None:
        """Close what a bracket closes, and everything left open inside it."""
        if self._counts[bracket]:
            while _CLOSERS[self._state & _NUMBER] != bracket:
                self._pop()
            self._pop()

    def _end_arguments(self) -> None:
        while self._state & _NUMBER >= _CALL:
            self._pop()

    def _end_paragraph(self) -> None:
        """End what a blank line ends: all but an array after a comma, and a broken call whose key has no value yet."""
        while self._open and self._state & _NUMBER not in (_ELEMENT, _ODD_ELEMENT):
            if self._state & _MEANT and self._state & _NUMBER in (_MEMBER, _ODD_VALUE):
                return
            self._pop()

    def _follows_word(self, text: str, pos: int) -> bool:
        before = text[pos - 1 : pos]
        return before.isalnum() or before in ("_", "]", ")")

    def _read_token(self, text: str, pos: int, end: int) -> int:
        """Read one token in prose, in an array or in an object."""
        char = text[pos]
        if char == "\n":
            if self._breaks:
                self._end_paragraph()
            if self._state & _NUMBER in (_ASSIGNED, _VALUE):  # `I'll call "search":⏎{…`
                self._set(_TEXT)
            self._breaks = 1
            return pos + 1
        long = _LONG_TOKEN(text, pos, end)
        after = pos + 1 if long is None else long.end()
        if char.isspace():
            return after
        self._breaks = 0
        number = self._state & _NUMBER
        if char in "]})":
            self._close(char)
        elif char in "[{" or (char == "(" and (number in (_ELEMENT, _MEMBER) or self._follows_word(text, pos))):
            before = text[pos - 1 : pos]
            if before in _BODY and number <= _ASSIGNED:  # `'{' was never closed`
                if pos + 1 == len(text) and not self._window.ended:
                    return -1
                if text[pos + 1 : pos + 2] == before:
                    return after
            self._push(_FIRST if char == "[" else _KEY if char == "{" else _CALL, pos)
            self._last = char
        else:
            return self._read_mark(text, pos, char, after)
        return after

    def _read_mark(self, text: str, pos: int, char: str, after: int) -> int:
        """Read a word, a quote or a sign in prose, in an array or in an object."""
        number = self._state & _NUMBER
        is_prose = self._state & ~_MEANT <= _ASSIGNED  # unlike `["a", [it is, 'so ]'], …`
        is_apostrophe = char == "'" and (is_prose or self._follows_word(text, pos))
        kind = _KINDS.get(char, _OTHERS)
        if char.isalnum() or char in _WORD_SIGNS.get(number, "_"):
            kind = _OTHERS if number == _WORD and text[pos - 1].isspace() else _WORDS  # `[see this, …` is prose
        elif is_apostrophe or (char == "`" and number not in (_ELEMENT, _MEMBER)):
            kind = _OTHERS
        following = self._state & ~_NUMBER | _NEXT[number][kind]
        if kind == _STRINGS and following & ~_MEANT > _ASSIGNED:
            after = self._open_quotes(text, pos)
            if after < 0:
                return after
        self._state = following
        return after

    def _begin_string(self, quotes: str) -> None:
        self._quote, self._is_closed, self._is_cut, self._last = quotes, False, False, quotes[0]
        self._has_stray, self._inner = False, 0

    def _read_arguments(self, text: str, pos: int, end: int) -> int:  # noqa: PLR0911 (one mark after another)
        """Read past the next mark in the arguments of a call; they may end with a line before it."""
        after = _RUN(text, pos, end).end()  # type: ignore[union-attr]  # it may match nothing
        piece = text[pos:after]
        words = piece.strip()
        char = words[:1] or text[after:end][:1]
        if piece and self._breaks and piece[0].isspace():
            self._is_indented = True
        if not char:
            return after
        if char == "\n":
            self._breaks, self._is_indented = self._breaks + 1, False
            return after + 1
        if self._breaks and not self._begin_line(char):
            return self._read_token(text, pos, end)
        if words:
            self._last = words[-1]
            return after
        last, self._last = self._last, char
        if char in "([{":
            self._push(_INNER[char], after)
        elif char in ")]}":
            self._close(char)
        elif char == "`" and last not in ("=", ":", ",", "("):
            return after + 1
        elif char in '"`' or not self._follows_word(text, after):
            return self._open_quotes(text, after)
        return after + 1

    def _open_quotes(self, text: str, pos: int) -> int:
        """Begin a string, once it is known how many quotes it has; return -1 if more has to come."""
        quotes = text[pos : pos + 3]
        if quotes != quotes[0] * 3:
            if quotes == quotes[0] * len(quotes) and not self._window.ended:
                return -1
            quotes = quotes[0]
        self._begin_string(quotes)
        return pos + len(quotes)

    def _begin_line(self, char: str) -> bool:
        """Return whether the arguments of a call go on with a line that begins with a character; else end them."""
        may_go_on = self._breaks == 1 and goes_on(self._last, _CLOSERS[self._state & _NUMBER])
        self._breaks = 0
        if self._is_indented or char in ")]}," or may_go_on:
            return True
        self._end_arguments()
        return False

    def _read_string(self, text: str, pos: int, end: int) -> int:
        """Read on in a string."""
        if self._is_closed:
            return self._read_end_of_string(text, pos)
        quotes = self._quote
        after = _BODY[quotes[0]](text, pos, end).end()  # type: ignore[union-attr]  # it may match nothing
        if piece := text[pos:after].rstrip():
            self._last, self._breaks = piece[-1], 0
            if self._state & _NUMBER == _CALL:
                self._inner += piece.count("(") - piece.count(")")
        if after > pos or after == end:
            return after
        char = text[pos]
        if char == "\n":
            self._cut_string()
            return pos + 1
        if char == "\\":
            found, length = text[pos : pos + 2], 2
            self._last, self._breaks = "", 0
        else:
            found, length = text[pos : pos + len(quotes)], len(quotes)
            if found == quotes:
                self._is_closed, self._breaks = True, 0
                return pos + length
        if pos + len(found) == len(text) and len(found) < length and not self._window.ended:
            return -1
        return pos + (2 if char == "\\" and found[1:] not in ("", "\n") else 1)

    def _cut_string(self) -> None:
        """Read a line break in a string. A blank line ends it, unless a broken call or arguments go on."""
        is_long = self._quote != self._quote[0] or self._quote == "`"
        if is_long and self._state & _NUMBER >= _CALL:
            return
        if self._breaks and not self._state & _MEANT:
            self._quote = ""
            self._end_arguments()
            self._end_paragraph()
        self._breaks = 1
        self._is_cut = self._is_cut or not is_long

    def _read_end_of_string(self, text: str, pos: int) -> int:
        """Read what follows the quotes of a string: it shows whether they end it."""
        char, number = text[pos], self._state & _NUMBER
        if self._quote == "'" and char.isalnum() and text[pos - 2 : pos - 1].isalnum():
            self._is_closed = False  # `f('it's`
            return pos
        is_word = char.isalnum() or char == "_"
        if self._is_cut or (number != _STRING if number < _CALL else is_word):
            if char.isspace():
                self._breaks += char == "\n"
                return pos + 1
            if self._is_cut:
                is_end = char in (",", _CLOSERS[number]) and not (self._has_stray and self._inner > 0)
            else:  # a word after a value: the quote is inside the string
                is_end = not is_word or self._breaks > 0 or number == _NAME
                if self._breaks > 1:
                    self._end_paragraph()
            self._breaks = 0
            if not is_end:
                self._is_closed, self._is_cut, self._has_stray = False, True, True
                return pos
        self._quote = ""
        return pos
