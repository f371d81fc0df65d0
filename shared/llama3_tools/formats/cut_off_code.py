"""Whether Python code visibly ends in the middle: one pass over its strings, comments and brackets, and no parsing.

It is for code that a model writes: whatever that is, it takes linear time and raises nothing.
"""

from __future__ import annotations

import re

__all__ = ["what_is_open"]

_TOKEN = re.compile(r"""'''|\"\"\"|['"]|\#[^\n]*|[()\[\]{}]|[^\s'"\#()\[\]{}]+""")
_IN_STRING = {
    **{quote: re.compile(rf"\\[\s\S]|{quote}|\n") for quote in "'\""},
    **{quote * 3: re.compile(rf"\\[\s\S]|{quote * 3}") for quote in "'\""},
}
_OPENERS, _CLOSERS = "([{", ")]}"
_WORDS = (
    "and|as|assert|async|await|class|def|del|elif|else|for|from|global|if|import|in|is|lambda|nonlocal|not|or|while|"
    "with"
)
_GOES_ON = re.compile(rf"(?:[-+/%@&|^~<>=!,:\\]|(?<!import )\*|(?<![\d.])\.|(?<![\w.])(?:{_WORDS}))\Z")
_LOOK_BACK = 16  # longer than a word that goes on


def what_is_open(code: str) -> str | None:
    r"""Say what is open at the end of code; `None` where nothing visibly is.

    >>> what_is_open("print(1)\nprint('x"), what_is_open("for x in y:"), what_is_open("# f\nf(1,\n  2")
    ('an open string', "':' at its end", "an open '('")
    >>> what_is_open("print('(')  # [")
    """
    brackets: list[str] = []
    end = pos = 0
    while token := _TOKEN.search(code, pos):
        pos, text = token.end(), token[0]
        if text.startswith("#"):
            continue
        if text in _IN_STRING:
            pos = _string_end(code, pos, text)
            if pos < 0:
                return "an open string"
        elif text in _OPENERS:
            brackets.append(text)
        elif text in _CLOSERS and brackets:
            brackets.pop()
        end = pos
    if brackets:
        return f"an open {brackets[-1]!r}"
    goes_on = _GOES_ON.search(code[max(end - _LOOK_BACK, 0) : end])
    return f"{goes_on[0]!r} at its end" if goes_on else None


def _string_end(code: str, pos: int, quote: str) -> int:
    """Return the index after a string that begins before `pos`: after its line, where it ends with that; or -1."""
    while match := _IN_STRING[quote].search(code, pos):
        pos = match.end()
        if not match[0].startswith("\\"):
            return pos
    return -1
