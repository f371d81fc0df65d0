"""JSON in a text: the objects and arrays that are in it, and those that a policy against JSON in the text fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from llama3_tools.literals.json_tokens import JsonTokens
from llama3_tools.values import RejectionReason

_BRACKET = re.compile(r"[\[{]")
_AROUND = re.compile(r"(?:[\s`]|<[^<>\n]{1,200}>|json)*")
_EMPTY = re.compile(r"[\[{]\s*[\]}]?\s*")


class Piece(NamedTuple):
    """An object or an array in a text."""

    start: int
    """Where it begins."""
    end: int
    """Where it ends."""
    text: str
    """The object or the array."""
    is_cut_off: bool
    """Whether the text ends in it."""


def json_pieces(text: str) -> Iterator[Piece]:
    """Yield the objects and arrays in a text, in words too, and one that the text ends in.

    >>> [piece.text for piece in json_pieces('On {it}: {"a": [1]}, [x], [2')]
    ['{"a": [1]}', '[2']
    """
    pos = 0
    while bracket := _BRACKET.search(text, pos):
        start = bracket.start()
        tokens = JsonTokens()
        end = tokens.read(text, start, 0, ended=True)
        reason = tokens.refusal.reason if tokens.refusal else None
        is_cut_off = reason is RejectionReason.TRUNCATED
        if reason in (None, RejectionReason.TOO_DEEP) or (
            is_cut_off and (tokens.last > start or not text[:start].strip())
        ):
            yield Piece(start, end, text[start:end].rstrip(), is_cut_off)
        pos = end if reason in (None, RejectionReason.TRUNCATED) else max(tokens.resume, start + 1)


def json_in(text: str) -> Iterator[str]:
    r"""Yield the JSON in a text that was written as data: objects with keys, and lists of them.

    Any other array may be a footnote, an index or a line of a matrix, and `{}` a mark: one of these counts only if it
    is all that the text contains.

    >>> list(json_in('See [1], {} and ["Smith"]: {"a": ["b"]}')), list(json_in("`[1, 2]`")), list(json_in("[1]\n[2]"))
    (['{"a": ["b"]}'], ['[1, 2]'], [])
    """
    pieces = list(json_pieces(text))
    for piece in pieces:
        has_keys = "{" in piece.text and not _EMPTY.fullmatch(piece.text)
        if has_keys or (len(pieces) == 1 and _AROUND.fullmatch(f"{text[: piece.start]}\n{text[piece.end :]}")):
            yield piece.text
