"""Calls to be written and read back: odd names, odd keys, and values of every kind JSON has. From a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

NAMES = (
    *("get_weather", "f", "F", "_private", "tool2", "math.factorial", "fs:read/file", "brave-search", "a.b-c:d/e_f"),
    *("name", "parameters", "true", "None", "call", "погода", "天気を調べる", "größe", "x" * 64),
)
"""Names as tools have them: a letter or `_`, then letters, digits and `_.:/-`, 64 of them at most."""

ANY_NAME = (
    *(*NAMES, "7zip", "-", ".", "two words", " padded ", 'say "hi"', "it's", "back\\slash", "two\nlines", "\x00", "🌦"),
    *("तापमान", "e\u0301", "\u202e", "f(", "[f]", "{f}", "f=1", "<f>", "</tool_call>", "<|eom_id|>", "`f`", "```"),
    "y" * 200,
)
"""Names that a tool can be declared with."""

IDENTIFIERS = (
    *("city", "q", "_x", "n2", "type", "name", "parameters", "arguments", "properties", "description", "function"),
    *("tool_calls", "message", "class", "self", "größe", "город", "都市", "तापमान", "e\u0301", "a·b", "℘"),
)
"""Keys that are names of arguments in Python."""

_ANY_KEY = (
    *(*IDENTIFIERS, "", " ", "a-b", "first name", "1", "1a", "True", "False", "None", 'quo"te', "it's", "back\\"),
    *("new\nline", "\x07", "🙂", "\u202e", "\u200b", "</function>", "a=1", "a.b", "a, b", "{", "]", "k" * 300),
)

_PIECES = (
    *("Paris", "New York", "a", " ", "  ", "\n", "\r\n", "\t", "\x00", "\x1b[2J", "\x7f", "\x85", "\u2028", "\ufeff"),
    *('"', "'", '"""', "'''", "\\", "\\\\", '\\"', "\\'", "\\n", "\\u0041", "\\x41", "\\N{DASH}", "\\ud83d", "\\/"),
    *("/", "ü", "e\u0301", "Ω", "東京", "نص", "\u202eabc\u202c", "\u200b", "🙂", "👩\u200d👩\u200d👧", "\U0001d518"),
    *("\U0010ffff", "\uffff", "{", "}", "{}", "[", "]", "[1]", "(", ")", "<", ">", "&", "&lt;", "`", "``", "```"),
    "~~~",
    *("```json\n", "$", "%s", ";", "; ", ",", ":", "=", "a=1", "#", "//", "/*", "*", "**", "<!--", "-->", "None"),
    *("null", "true", "True", "NaN", "-1", "1e5", "<tool_call>", "</tool_call>", "<tool>", "</tool>", "<tools>"),
    *("<function=f>", "</function>", "<think>", "</think>", "<|python_tag|>", "<|eom_id|>", "<|eot_id|>", "<|eot|>"),
    *("<|python_start|>", "<|python_end|>", "<|im_end|>", "<|", "<|start_header_id|>assistant<|end_header_id|>\n\n"),
    *('{"name": "f", "parameters": {}}', '{"name": "f", "parameters": {"q": "', '"}}', '{"tool_call": null}'),
    *("[f(a='b')]", "f(a=1)", 'brave_search.call(query="x")'),
)

_INTEGERS = (0, 1, -1, 7, -42, 2**31, -(2**63), 2**64, 10**30, -(10**30), 10**400 + 7)
_FLOATS = (0.0, -0.0, 1.1, -2.5, 0.1 + 0.2, 1e5, 1e16, -1e22, 1e-7, 5e-324, 1.7976931348623157e308, 123456789.125)


class GeneratedCall(NamedTuple):
    """A call that a model is to write."""

    name: str
    arguments: dict[str, Any]


def any_string(seeded: random.Random) -> str:
    """Make a string: of pieces that a parser could trip over, of any characters, or very long."""
    kind = seeded.random()
    if kind < 0.7:
        return "".join(seeded.choices(_PIECES, k=seeded.randint(0, 5)))
    if kind < 0.98:
        planes = ((0x20, 0x7E), (0x00, 0x2FF), (0x300, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF))
        low, high = seeded.choice(planes)
        return "".join(chr(seeded.randint(low, high)) for _ in range(seeded.randint(0, 12)))
    return seeded.choice(_PIECES) * 300 + seeded.choice(_PIECES)


def _any_value(seeded: random.Random, levels: int = 5) -> object:
    """Make a value of at most as many levels below it."""
    kind = seeded.random()
    if levels and kind < 0.3:
        size = seeded.randint(0, 3)
        if kind < 0.15:
            return [_any_value(seeded, levels - 1) for _ in range(size)]
        return {_any_key(seeded): _any_value(seeded, levels - 1) for _ in range(size)}
    if kind < 0.7:
        return any_string(seeded)
    if kind < 0.8:
        return seeded.choice((None, True, False))
    if kind < 0.9:
        return seeded.choice(_INTEGERS) if kind < 0.85 else seeded.randint(-(10**6), 10**6)
    return seeded.choice(_FLOATS) if kind < 0.95 else seeded.uniform(-10, 10) * 10.0 ** seeded.randint(-290, 290)


def _nested_value(seeded: random.Random) -> object:
    """Make a value; now and then a deep one, or a number of thousands of digits."""
    kind = seeded.random()
    if kind < 0.004:
        return -(10**4000) + seeded.randint(0, 9)
    value = _any_value(seeded)
    if kind < 0.05:
        for _ in range(6):
            value = [value] if seeded.random() < 0.5 else {_any_key(seeded): value}
    return value


def _any_key(seeded: random.Random) -> str:
    return seeded.choice(_ANY_KEY)


@dataclass(frozen=True, slots=True)
class Carries:
    """What a form can carry. Each form is given all it can."""

    names: tuple[str, ...] = ANY_NAME
    keys: tuple[str, ...] = _ANY_KEY
    """The keys of the arguments. Objects further inside have any."""
    value: Callable[[random.Random], object] = _nested_value
    """Makes the value of an argument."""


ANY = Carries()
"""All there is."""


@lru_cache(maxsize=8)
def generate(carries: Carries, count: int) -> tuple[GeneratedCall, ...]:
    """Generate calls, the same for the same arguments."""
    seeded = random.Random(count)  # noqa: S311 - the same calls every time
    return tuple(
        GeneratedCall(
            seeded.choice(carries.names),
            {seeded.choice(carries.keys): carries.value(seeded) for _ in range(seeded.randint(0, 4))},
        )
        for _ in range(count)
    )
