"""Text made visible: characters that nobody sees, command a terminal, break a file's format or turn text around."""

from __future__ import annotations

import json
import re

_BYTE = 0x100
_WIDE = 0x10000
_HIDDEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls
    r"\u2028\u2029"  # line breaks for some programs, and not for others
    r"\ud800-\udfff"  # halves of surrogate pairs, which no encoding has
    r"\ufff9-\ufffb\ufffe\uffff"  # annotations, and what XML does not have
    # Unicode's Default_Ignorable_Code_Point, those aside that join and those that select:
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_JOINERS = r"\u200c\u200d"
_SELECTORS = r"\ufe0e\ufe0f"
_SHOWN = rf"[^\x00-\x7f{_HIDDEN}{_JOINERS}{_SELECTORS}]"  # and not ASCII: a letter of another script, or an emoji
_EXACTLY = re.compile(rf"[{_HIDDEN}{_JOINERS}{_SELECTORS}]")
_IN_PROSE = re.compile(
    rf"[{_HIDDEN}]"
    rf"|(?<!{_SHOWN})[{_SELECTORS}](?!\u20e3)"  # a digit in a key cap has one, too
    rf"|[{_JOINERS}](?!{_SHOWN})"
    rf"|(?<!{_SHOWN})(?<![{_SELECTORS}])[{_JOINERS}]"
)


def escape_invisible(text: str, *, exact: bool = False) -> str:
    r"""Return text in which no character hides, commands a terminal, turns text around, or cannot be written to a file.

    >>> print(escape_invisible("a\x1b[2Jb\u202e\ud800"))
    a\x1b[2Jb\u202e\ud800

    Args:
        text: the text.
        exact: whether to write out, too, what joins letters and emoji of prose, as names and arguments are to be seen.
    """
    return (_EXACTLY if exact else _IN_PROSE).sub(_written_out, text)


def escape_invisible_json(text: str, *, exact: bool = False) -> str:
    r"""Return JSON that means the same, in which such characters are escapes.

    >>> print(escape_invisible_json('"a\x9b2Jb\u202e"'))
    "a\u009b2Jb\u202e"
    """
    return (_EXACTLY if exact else _IN_PROSE).sub(lambda match: json.dumps(match[0])[1:-1], text)


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < _BYTE else f"\\u{code:04x}" if code < _WIDE else f"\\U{code:08x}"
