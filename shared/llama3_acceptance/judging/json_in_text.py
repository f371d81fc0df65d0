"""JSON in a text: the objects and arrays that stand in it, and those that a policy against JSON in the text fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from llama3_tools.reading.json_tokens import JsonTokens
from llama3_tools.values import RejectionReason

__all__ = ["Piece", "json_in", "json_pieces"]

_BRACKET = re.compile(r"[\[{]")
_AROUND = re.compile(r"(?:[\s`]|<[^<>\n]{1,200}>|json)*")
_LOOK = 300
"""How far around a piece its line is looked at, in characters, so that the work is linear in the text."""
_BEFORE_INDEX = re.compile(r"[\w)\]]")
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
        tokens = JsonTokens(start)
        end = tokens.read(text, start, 0, ended=True)
        reason = tokens.refusal.reason if tokens.refusal else None
        is_cut_off = reason is RejectionReason.TRUNCATED
        if reason in (None, RejectionReason.TOO_DEEP) or (
            is_cut_off and (tokens.last > start or not text[:start].strip())
        ):
            yield Piece(start, end, text[start:end].rstrip(), is_cut_off)
        pos = end if reason in (None, RejectionReason.TRUNCATED) else max(tokens.resume, start + 1)


def json_in(text: str) -> Iterator[str]:
    """Yield the JSON in a text that was written as such: objects with keys, and what is more than a mark in prose.

    An array of numbers may be a footnote, what stands directly after a word an index, and `[ ]` or `{}` a mark. These
    count only if nothing else stands in their lines.

    >>> list(json_in('See [1], and arr["a"] = {}: {"a": ["b"]}, ["c"]')), list(json_in("[1, 2]"))
    (['{"a": ["b"]}', '["c"]'], ['[1, 2]'])
    """
    for piece in json_pieces(text):
        is_index = piece.start > 0 and _BEFORE_INDEX.match(text[piece.start - 1])
        is_array = '"' in piece.text and not is_index
        is_more = ("{" in piece.text or is_array) and not _EMPTY.fullmatch(piece.text)
        if is_more or _stands_alone(text, piece):
            yield piece.text


def _stands_alone(text: str, piece: Piece) -> bool:
    before = text[max(piece.start - _LOOK, 0) : piece.start].rpartition("\n")[2]
    after = text[piece.end : piece.end + _LOOK].partition("\n")[0]
    return bool(_AROUND.fullmatch(before) and _AROUND.fullmatch(after))
