"""How deep JSON is nested, counted in C."""

from __future__ import annotations

__all__ = ["MAX_DEPTH", "depth_is_within"]

MAX_DEPTH = 128
"""How many levels of objects and arrays a call may have. Deeper is text, whatever Python's own limit is."""

_AS_PARENTHESES = bytes.maketrans(b"{}[]", b"()()")
_OTHERS = bytes(byte for byte in range(256) if byte not in b'{}[]"')

_WIDE = 4


def depth_is_within(text: str, start: int, end: int, levels: int) -> bool:
    """Return whether strict JSON has at most so many levels of objects and arrays.

    >>> depth_is_within('[{"a": "]["}]', 0, 13, 2), depth_is_within('[{"a": "]["}]', 0, 13, 1)
    (True, False)
    """
    json = text[start:end]
    if json.count("{") + json.count("[") <= levels:
        return True
    written = json.encode("ascii", "replace")
    if b"\\" in written:
        written = written.replace(b"\\\\", b"").replace(b'\\"', b"")
    brackets = written.translate(_AS_PARENTHESES, _OTHERS).replace(b'""', b"")
    if b'"' in brackets:  # of strings that hold some
        brackets = b"".join(brackets.split(b'"')[::2])
    removed = 0
    while brackets and removed < _WIDE:  # each time, the innermost ones go: in C, and with them most of what is wide
        brackets = brackets.replace(b"()", b"")
        removed += 1
    return _depth(brackets) + removed <= levels


def _depth(brackets: bytes) -> int:
    """Return the depth of balanced parentheses, a step for each run of them."""
    depth = deepest = 0
    for run in brackets.replace(b")(", b") (").split():
        opened = run.count(b"(")
        depth += opened
        deepest = max(deepest, depth)
        depth -= len(run) - opened
    return deepest
