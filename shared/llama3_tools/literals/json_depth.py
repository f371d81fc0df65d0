"""How deep JSON is nested, counted in C."""

from __future__ import annotations

MAX_DEPTH = 128
"""How many levels of objects and arrays a call may have. Deeper is text, whatever Python's own limit is."""

_AS_PARENTHESES = bytes.maketrans(b"{}[]", b"()()")
_OTHERS = bytes(byte for byte in range(256) if byte not in b"{}[]")


def depth_is_within(text: str, start: int, end: int, levels: int) -> bool:
    """Return whether strict JSON has at most so many levels of objects and arrays.

    >>> depth_is_within('[{"a": "]["}]', 0, 13, 2), depth_is_within('[{"a": "]["}]', 0, 13, 1)
    (True, False)
    """
    json = text[start:end]
    if json.count("{") + json.count("[") <= levels:
        return True
    written = json.encode("ascii", "replace").replace(rb"\\", b"").replace(rb"\"", b"")
    brackets = b"".join(written.split(b'"')[::2]).translate(_AS_PARENTHESES, _OTHERS)
    for _ in range(levels):  # each time, the innermost ones go
        brackets = brackets.replace(b"()", b"")
    return not brackets
