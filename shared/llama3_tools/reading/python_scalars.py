"""What Python's numbers and the escapes in its strings mean, for JSON."""

from __future__ import annotations

import math
import re
import unicodedata

__all__ = ["is_unicode", "number_in_json", "unescaped"]

_DIGITS = r"[0-9](?:_?[0-9])*"
_DECIMAL = re.compile(r"0(?:_?0)*|[1-9](?:_?[0-9])*")
_OTHER_BASE = re.compile(r"0(?:[xX](?:_?[0-9a-fA-F]){1,256}|[oO](?:_?[0-7]){1,256}|[bB](?:_?[01]){1,256})")
_FLOAT = re.compile(rf"(?=\.?[0-9])({_DIGITS})?(?:\.({_DIGITS})?)?(?:[eE]([+-]?{_DIGITS}))?")
_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|N\{([^{}]{1,100})\}|([\s\S]))"
)
_ESCAPED = {"\n": "", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n"}
_ESCAPED |= {"r": "\r", "t": "\t", "v": "\v"}


def number_in_json(body: str) -> str | None:
    """Write a number of Python's, in lower case, as JSON has it; `None` where there is none.

    >>> number_in_json("0x1f"), number_in_json("1_000.50"), number_in_json("1j")
    ('31', '1000.50', None)
    """
    if _DECIMAL.fullmatch(body):
        return body.replace("_", "").lstrip("0") or "0"
    if _OTHER_BASE.fullmatch(body):
        return str(int(body, 0))
    match = _FLOAT.fullmatch(body)
    if match is None or ("." not in body and "e" not in body) or math.isinf(float(body)):
        return None
    whole, fraction, exponent = ((part or "").replace("_", "") for part in match.groups())
    written = f"{whole.lstrip('0') or '0'}.{fraction or '0'}" if "." in body else whole.lstrip("0") or "0"
    return f"{written}e{exponent}" if exponent else written


def unescaped(text: str) -> str:
    r"""Give what the inside of a string stands for.

    >>> unescaped(r"it\'s \x41")
    "it's A"

    Raises:
        ValueError: an escape that Python does not have, or half a surrogate pair.
    """
    if "\\" not in text:
        return text
    text = _ESCAPE.sub(_unescape, text)
    try:  # two halves of a pair, written as two escapes, are one character as in JSON
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise ValueError("half a surrogate pair in a string") from None


def _unescape(match: re.Match[str]) -> str:
    octal, x, u, long_u, name, char = match.groups()
    if char is not None:
        if char in "xuUN":
            raise ValueError(f"an escape that Python does not have in a string: {match[0]}")
        return _ESCAPED.get(char, match[0])
    try:
        return unicodedata.lookup(name) if name else chr(int(octal or x or u or long_u, 8 if octal else 16))
    except (KeyError, ValueError, OverflowError):
        raise ValueError(f"an escape that names no character: {match[0]}") from None


def is_unicode(text: str) -> bool:
    """Tell whether text is free of halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
