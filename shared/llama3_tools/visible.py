"""Text made visible: characters that nobody sees, command a terminal, break a file's format or turn text around."""

from __future__ import annotations

__all__ = ["visible"]

_BYTE = 0x100
_WIDE = 0x10000
_WRITTEN_OUT = (
    *(code for code in range(0x20) if chr(code) not in "\n\t"),  # controls
    *range(0x7F, 0xA0),  # more of them
    *(0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # those that turn text around
    *range(0xD800, 0xE000),  # halves of surrogate pairs, which no encoding has
    *(0xFFFE, 0xFFFF),  # which XML does not have
    *(0x00AD, 0x200B, *range(0x2060, 0x2065), 0xFEFF, *range(0xFFF9, 0xFFFC)),  # those that nobody sees
    *(0x2028, 0x2029),  # line breaks for some programs, and not for others
    *range(0xE0000, 0xE0080),  # tags: letters that nobody sees
)


def _written_out(code: int) -> str:
    return f"\\x{code:02x}" if code < _BYTE else f"\\u{code:04x}" if code < _WIDE else f"\\U{code:08x}"


_VISIBLE = {code: _written_out(code) for code in _WRITTEN_OUT}


def visible(text: str) -> str:
    r"""Give text in which no character hides, commands a terminal, turns text around, or cannot be written to a file.

    >>> print(visible("a\x1b[2Jb\u202e\ud800"))
    a\x1b[2Jb\u202e\ud800
    """
    return text.translate(_VISIBLE)
