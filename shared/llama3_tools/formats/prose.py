"""Whether text behind a tag for code begins as prose does, and never Python: a look at its first words, no parsing."""

from __future__ import annotations

import re

__all__ = ["begins_as_prose", "may_begin_as_prose"]

_WORD = r"(?:(?:I|\w{3,32})'\w{1,8}|\w{1,32})"
_LISTED = rf"(?:{_WORD}[,:][ \t]{{1,8}}){{0,8}}"
_PROSE = re.compile(
    rf"\*\*\w|{_LISTED}(?:({_WORD})[ \t]{{1,8}}(\w{{1,32}})(?!\w)"
    rf"|[^\W\d]\w{{0,31}}(?:[.!?](?=[ \t])|[!?](?=<|\Z)|[.!](?=[\r\n])))"
    rf"|(?=[^\W\d_a-z]){_LISTED}[^\W\d]\w{{0,31}}\.(?=<|\Z)"  # in lower case it may be code that was cut off
)
_MAY_BE_PROSE = re.compile(rf"\*{{1,2}}\Z|{_LISTED}(?:(?:I|\w{{3,32}})'|{_WORD}(?:[ \t]{{1,8}}\w{{0,32}}|[,:.!?])?)?\Z")
_BEFORE_A_WORD = {
    *("assert", "async", "await", "case", "class", "def", "del", "for", "from", "global", "if", "import", "lambda"),
    *("match", "nonlocal", "not", "raise", "return", "type", "while", "with", "yield", "print", "pip"),
}
"""What code can begin with where a word follows: Python's keywords, one that it had, and a command of IPython."""
_BEHIND_A_WORD = {"and", "if", "in", "is", "not", "or"}


def begins_as_prose(text: str, pos: int = 0) -> bool:
    """Tell whether a sentence ends behind the first words, or two of them stand side by side as Python never has them.

    >>> begins_as_prose("Sure! It is 4."), begins_as_prose("Hello, how are you?"), begins_as_prose("**It** is 4.")
    (True, True, True)
    >>> begins_as_prose("Yes."), begins_as_prose("Sorry, no!<|eom_id|>"), begins_as_prose("os.sep")
    (True, True, False)
    >>> begins_as_prose("a, b = 1, 2"), begins_as_prose("from math import pi"), begins_as_prose("x: int = 4")
    (False, False, False)
    """
    words = _PROSE.match(text, pos)
    return words is not None and words[1] not in _BEFORE_A_WORD and words[2] not in _BEHIND_A_WORD


def may_begin_as_prose(text: str, pos: int = 0) -> bool:
    """Tell whether it takes more text to know.

    >>> may_begin_as_prose("I'"), may_begin_as_prose("x = ")
    (True, False)
    """
    return _MAY_BE_PROSE.match(text, pos) is not None
