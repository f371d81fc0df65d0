"""Whether the strings of a malformed object or array can be read in one way only (rule 6).

Where quotes and escapes are odd, a string may be several, or hold what was a key beside it; what looks like text may be
an expression; and a backslash may be meant as one. Each of them makes a second reading, and nothing is repaired then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from llama3_tools.calls.repair_tokens import Token, TokenKind

__all__ = ["has_one_reading"]

_SPACE = r"[ \t\n\r]*"
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|(?s:.))")
_OF_JSON = '"\\/bfnrtu'
_OF_PYTHON = "\n\r01234567NUavx"
"""What only Python escapes, or joins lines by."""

_OPERATOR = r"(?:if|else|or|and|not|in|is|xor|div|mod)"
_JOINED = re.compile(rf"(?<=\w)'{_OPERATOR}\b|\b{_OPERATOR}'(?=\w)")
"""`'a'or'b'`, which has no apostrophe."""
_APOSTROPHE = {  # by the quotes of the string: where they are apostrophes themselves, few are certain
    '"': re.compile(r"(?<=[^\W_])'(?=[^\W\d_])"),
    "'": re.compile(r"(?<=[^\W\d_])'(?=(?:s|t|re|ve|ll|d|m|n)\b)|(?<!,)(?<!, )\b[^\W\d_]{1,2}'(?=[^\W\d_])"),
}
_EXPRESSION = rf"(?:[^\wQ]|{_OPERATOR}\b)(?:[^Q]*(?:[^\wQ]|\b{_OPERATOR}))?Q"
"""What stands between two strings of an expression, rather than in quotes: it begins and ends with an operator."""


def _with_quotes(pattern: str) -> dict[str, re.Pattern[str]]:
    """Return a pattern for either kind of quotes, of which it calls one Q."""
    return {quote: re.compile(pattern.replace("Q", quote)) for quote in "\"'"}


# Quotes in a string that has the same ones come in pairs around something, apart from what is before and after them.
_QUOTED = _with_quotes(rf"[^Q]*(?:(?<=[\s(=])Q(?!{_EXPRESSION})(?=[^\s;Q])[^Q]*(?<!\s)Q(?!\w)[^Q]*)*")
# They never stand after what a quote stands after that opens a string.
_OPENS = _with_quotes(rf"(?:^|[,:{{\[]){_SPACE}Q")
# The other ones need not come in pairs where none of them can be the start or the end of a string.
_PAIRED = _with_quotes(r"[^Q]*(?:(?:(?<=[\s(=,:\[{])QQ(?=[\s),}\];]|$)|(?<!\w)Q(?=[^\s,:}\]Q])[^Q]+Q(?!\w))[^Q]*)*")
_SEAM = _with_quotes(rf"(?:^|[,:{{\[]){_SPACE}Q|Q{_SPACE}(?:[,:}}\]\"']|\Z|[^\W\d][\w$-]{{0,63}}[\"']?{_SPACE}:)")
_KEY = _with_quotes(rf"\A[^{{]*?Q{_SPACE}:")
_BARE_KEY = re.compile(rf"[,;{{]{_SPACE}[^\W\d][\w$-]{{0,63}}{_SPACE}:")

_COMMENT = re.compile(r"(?:#|//)([^\n]*)\n")
_NEXT_QUOTE = re.compile(rf"{_SPACE}[\"']")
_DIVISION = re.compile(rf"{_SPACE}//(?![ \t]*[^\W\d]+[ \t]+(?!{_OPERATOR}\b)[^\W\d])")
"""What may follow a number: `//` is Python's division then, unless two words follow it."""


def has_one_reading(text: str, tokens: Sequence[Token]) -> bool:
    """Return whether there is no second reading of a malformed object or array.

    Args:
        text: all of it, as it was written.
        tokens: what stands in it, as `scan_broken` gave it.
    """
    start = tokens[0].start
    after, edges = 0, set[str]()
    for kind, begin, end, _ in tokens:
        between, written = text[after : begin - start], text[begin - start : end - start]
        after = end - start
        if not all(_has_pairs(comment) for comment in _COMMENT.findall(between)):
            return False  # it may be a string without its first quote
        if kind is TokenKind.PLAIN and _DIVISION.match(text, after):
            return False
        if kind is TokenKind.STRING and written[:-1].rstrip().endswith(",") and _NEXT_QUOTE.match(text, after):
            return False  # the comma may be the one that is missing
        if kind in (TokenKind.KEY, TokenKind.STRING):
            edges |= {written[0], written.rstrip(": \t\n\r")[-1]}
    strings = [text[begin - start : end - start] for kind, begin, end, _ in tokens if kind is TokenKind.STRING]
    return all(_is_certain(string, is_mixed=len(edges) > 1) for string in strings)


def _has_pairs(comment: str) -> bool:
    quotes = _APOSTROPHE['"'].sub("s", comment)
    return quotes.count('"') % 2 == quotes.count("'") % 2 == 0


def _is_certain(written: str, *, is_mixed: bool) -> bool:
    own, inside = written[0], _ESCAPE.sub("..", written[1:-1])
    other = "'" if own == '"' else '"'
    if own == "'" and _JOINED.search(inside):
        return False
    if is_mixed and (_BARE_KEY.search(inside) or other == inside[:1] == inside[-1:]):
        return False
    inside = _APOSTROPHE[own].sub("s", inside)
    suspicious = _KEY if _PAIRED[other].fullmatch(inside) else _SEAM
    return (
        _has_plain_escapes(written)
        and not _OPENS[own].search(inside)
        and _QUOTED[own].fullmatch(inside) is not None
        and not suspicious[other].search(inside)
    )


def _has_plain_escapes(written: str) -> bool:
    """Return whether all of its backslashes escape, or none does: one that does not puts the others in doubt."""
    kinds = set[bool]()
    for escape in _ESCAPE.findall(written[1:-1]):
        char = escape[1]
        if char in _OF_PYTHON or escape == r"\u" or (char == "/" and written[0] == "'"):
            return False
        kinds.add(char in _OF_JSON or char in "'\"")
    return len(kinds) <= 1
