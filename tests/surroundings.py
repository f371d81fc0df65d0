"""Outputs in which a call is a part of something, however far back that began, and the same with the call after it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from chunkings import pieces, read
from llama3_tools import Extractor
from told import CLOCK, DELETE, TOOLS, called, tool

_EXTRACTORS = (
    Extractor(tools=[*TOOLS, tool("write_file", "path", "content")]),
    Extractor(tools=[*TOOLS, tool("write_file", "path", "content")], repair=True),
)
_SHORT = 2000  # characters: a longer output is streamed in big chunks
_CALLS = (DELETE, f"<tool_call>{DELETE}</tool_call>", f"[{DELETE}]", "[delete(path='/')]")
_LINE = "delete(path='/')\n"
_WORDS = ("a", "oops", "it", "True", "null", "größe", "-", "x_1", "1.5", "and so on", "3 apples", "?", "#", "//", "...")
_LETTERS = "abc xyz 0123 .,;:!?+-*/=<>()[]{}|&%$#@ é 語 "
_AFTER = ("", " ", "\n", "\nDone.", " and so on")

_Fill: TypeAlias = Callable[[random.Random], str]


class Surrounded(NamedTuple):
    """A call in something, and the same call after it."""

    inside: str
    """An opener, a filler, a call that is a part of what was opened, and what closes that, or nothing."""
    after: str
    """The same, closed before the call."""


def _value(seeded: random.Random, depth: int = 2) -> str:
    """Write a value with balanced brackets: a word, a number, a string, or more values."""
    kind = seeded.randrange(7 if depth else 4)
    if kind == 0:
        return str(seeded.randrange(-9, 10**6))
    if kind == 1:
        return seeded.choice(_WORDS)
    if kind in (2, 3):
        quote = "\"'"[kind - 2]
        return quote + _text(seeded) + seeded.choice(("", f"\\{quote}", "\\\\", "\\n")) + quote
    inner = [_value(seeded, depth - 1) for _ in range(seeded.randrange(4))]
    if kind == 4:
        return f"[{', '.join(inner)}]"
    if kind == 5:
        return f"{seeded.choice(('g', 'foo.bar', 'len'))}({', '.join(inner)})"
    return "{" + ", ".join(f'"{key}": {one}' for key, one in zip("abcd", inner, strict=False)) + "}"


def _text(seeded: random.Random) -> str:
    """Write what a string may hold without an escape."""
    return "".join(seeded.choices(_LETTERS, k=seeded.randrange(40)))


def _element(seeded: random.Random) -> str:
    return _value(seeded) + seeded.choice((", ", ",", " , ", ",\n", ",\n  "))


def _argument(seeded: random.Random) -> str:
    return seeded.choice(("", "", "x=", "key = ")) + _value(seeded) + seeded.choice((", ", ",", ",\n", ",\n    "))


def _line(seeded: random.Random) -> str:
    return f"\n    {seeded.choice(('# a comment', 'x = 1', 'it goes on', 'g(1)', _value(seeded)))}"


def _member(seeded: random.Random) -> str:
    key = seeded.choice(('"k"', "'k'", "k", "$k", "a_key"))
    return f"{key}: {_value(seeded)}" + seeded.choice((", ", ",", ",\n", ",\n  "))


_OPENERS: tuple[tuple[str, _Fill, str, str], ...] = (
    ('["a", ', _element, "", "]"),
    ("['a', ", _element, "", "]"),
    ("[1, ", _element, "", "]"),
    ("[abc, ", _element, "", "]"),
    ("[[1], ", _element, "", "]"),
    ('[{"a": 1}, ', _element, "", "]"),
    ("[\n  1,\n  ", _element, "", "\n]"),
    ("x: [1, [2, ", _element, "", "]]"),
    ('["a", "', _text, ". ", '"]'),
    ("f(x, ", _argument, "", ")"),
    ("print(", _argument, "", ")"),
    ("So print(x, ", _argument, "call=", ")"),
    ("foo.bar(x, [", _element, "", "])"),
    ("run(", _line, "\n    ", "\n)"),
    ('print("', _text, ". ", '")'),
    ("print('", _text, ". ", "')"),
    ("run(x, key='", _text, ". ", "')"),
    ('print("""', _text, ".\n", '""")'),
    ('{"a": [', _element, "", "]}"),
    ('{"a": 1, ', _member, '"b": ', "}"),
    ('{"a": {', _member, "b: [1, ", "]}}"),
    ("{'a': 1, ", _member, "'b': ", "}"),
    ('{"name": "write_file", "parameters": {', _member, "content: ", "}}"),
    ('{"name": "write_file", "parameters": {', _member, "'content': ", "}}"),
    ('<function=write_file>{"path": "x", ', _member, "content: ", "}</function>"),
    ('<tool_call>{"name": "write_file", "parameters": {', _member, "content: [", "]}}</tool_call>"),
    ("{'name': 'write_file', 'parameters': {'content': 'x\n", _text, ".\n", "'}}"),
    ("save(text='x\n", _text, ".\n", "')"),
    ('{"name": "write_file", "parameters": {"content": "x\n', _text, ".\n", '"}}'),
)
"""What opens, what fills it, what the call is written directly after, and what closes it."""


def surround(seeded: random.Random, length: int) -> Surrounded:
    """Write an output in which a call is a part of something that began `length` characters earlier, or a few more."""
    head, fill, tail, closers = seeded.choice(_OPENERS)
    filler, size = [""], 0
    while size < length:
        filler.append(fill(seeded))
        size += len(filler[-1])
    opened = seeded.choice(("", "", "Hi.\n", f"{CLOCK}\n", "The list: ")) + head + "".join(filler) + tail
    call = seeded.choice(_CALLS if fill in (_text, _line) else (*_CALLS, _LINE))
    if call is _LINE:
        opened = f"{opened.rstrip()}\n"
    inside = opened + call + seeded.choice((closers, "")) + seeded.choice(_AFTER)
    return Surrounded(inside, f"{opened}1{closers}\n\n{call}")


def what_is_inside_is_never_called(seed: int, longest: int = 400) -> None:
    """Fail if a call that is a part of something is called, or one after it is not, whole or in a stream.

    Args:
        seed: chooses the output.
        longest: how many characters at most are between the opener and the call.
    """
    seeded = random.Random(seed)  # noqa: S311 - the same output for the same seed
    surrounded = surround(seeded, seeded.randrange(longest))
    for text, number in ((surrounded.inside, 0), (surrounded.after, 1)):
        sizes = (len(text), 1, 3, 7) if len(text) <= _SHORT else (len(text), 997, 4096)
        for extractor in _EXTRACTORS:
            for size in sizes:
                names = called(read(pieces(text, size), extractor)[1]).split()
                assert names.count("delete") == number, (seed, size, text)
