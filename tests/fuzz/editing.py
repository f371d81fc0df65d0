"""Changes to text that know what it is made of: fragments of outputs, or of literals."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from fragments import FRAGMENTS, SITUATIONS

LONGEST_INPUT = 1024
"""How many bytes an input has at most."""

_PART = re.compile(r"</?[\w|=.:/()]{1,40}>?|[`~]{3,}\w*|\w+|\s+|[\s\S]")
_PAIRS = (
    *(("{", "}"), ("[", "]"), ("(", ")"), ('"', '"'), ("'", "'"), ("'''", "'''"), ("`", "`"), ("``", "``")),
    *(("<tool_call>", "</tool_call>"), ("<tool>", "</tool>"), ("<functioncall ", ">"), ("<function=f>", "</function>")),
    *(("```json\n", "\n```"), ("```\n", "\n```"), ("~~~\n", "\n~~~"), ("<think>", "</think>"), ("<!--", "-->")),
    *(("<|python_tag|>", "<|eom_id|>"), ("<|python_start|>", "<|python_end|>"), ("\n", "\n"), ("\n> ", "\n")),
    *(('{"name":"f","parameters":', "}"), ('{"q":', "}"), ('{"tool_call":', "}"), ("[f(a=", ")]"), ("[", ", 1]")),
)
OUTPUTS = (*FRAGMENTS * 2, *SITUATIONS)
"""What outputs are put together from."""
LITERALS = (
    *("a=1", ", ", "b='x'", 'r"\\d"', "'''x\ny'''", "True", "None", "{'k': [1, (2,)]}", "{1, 2}", "0x1F", "1_000"),
    *("-1.5e-3", ".5", "5.", "1j", "00", "'\\N{DASH}'", "'\\ud83d'", "u'x'", "b'x'", "f'{x}'", "'a' 'b'"),
    *("\\\n", "#\n"),
)
"""What the arguments of pythonic calls are put together from."""


def text_of(data: bytes) -> str:
    """Decode any bytes: halves of surrogate pairs stay, and what is not UTF-8 becomes one each."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Encode text so that it can be decoded."""
    return text.encode("utf-8", "surrogatepass")


def mutate_text(fragments: Sequence[str], header: int = 0) -> Callable[[bytes, random.Random], bytes]:
    """Make what changes text.

    One part or more are taken out, doubled, moved, put in or put between two that belong together.

    Args:
        fragments: what is put in.
        header: how many bytes are before the text, and are none.
    """

    def mutate(data: bytes, seeded: random.Random) -> bytes:
        head = data[:header].ljust(header, b"\0")
        if header and seeded.random() < 0.1:
            head = seeded.randbytes(header)
        parts = _PART.findall(text_of(data[header:]))
        for _ in range(seeded.choice((1, 1, 2, 4))):
            start = seeded.randint(0, len(parts))
            end = min(start + seeded.choice((0, 1, 1, 2, 8, 32)), len(parts))
            parts[start:end] = _changed(parts, parts[start:end], seeded, fragments)
        return (head + bytes_of("".join(parts)))[:LONGEST_INPUT]

    return mutate


def _changed(parts: list[str], chosen: list[str], seeded: random.Random, fragments: Sequence[str]) -> list[str]:
    way = seeded.randrange(7)
    if way == 0:
        return []
    if way == 1:
        return chosen * seeded.choice((2, 2, 3, 50))
    if way == 2:
        opening, closing = seeded.choice(_PAIRS)
        return [opening, *chosen, closing]
    if way == 3:
        start = seeded.randint(0, len(parts))
        return [*chosen, *parts[start : start + seeded.randint(1, 16)]]
    if way == 4:
        return [chr(seeded.choice((seeded.randrange(0x80), seeded.randrange(0x110000)))), *chosen]
    return [*chosen, seeded.choice(fragments)] if way == 5 else [seeded.choice(fragments)]
