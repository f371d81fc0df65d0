"""Malformed calls, repaired if that is asked for (rule 6): closed, of a declared tool, and beyond doubt.

`repair_tokens` writes what stands there as JSON, and `repair_ambiguity` refuses what can be read in two ways.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from llama3_tools.calls.reader import CallReader, Found, Placed
from llama3_tools.calls.shapes import ARGUMENTS, WrittenCall
from llama3_tools.literals.json_object import parse_object
from llama3_tools.literals.refusal import Refusal

if TYPE_CHECKING:
    from llama3_tools.calls.repair_tokens import GrowingSource, Rewritten, Token

__all__ = ["Mended", "Mending", "is_inside"]

_FIRST_KEYS = frozenset(
    {"name", "type", "id", "function", "parameters", "arguments"} | {"tool_call", "tool_calls", "message", "content"}
)
"""What a malformed object begins with if it is to be a call, or an envelope. Any other one is soon text again. With
`lenient` it begins with anything."""

_INSIDE = re.compile(
    r"(?:\w|[=(\[{]\s*|(?:[\"',]|\*/)\s*(?::+|=>?)\s*|\*/\s*|[{,]\s*(?:[\"']?\w+(?:[\"']|\s*:+)|function)\s*"
    r"|\b(?:return|yield)\s|(?P<comma>,)\s*)\Z"
)
"""What stands before a part of something else: of code, of an object that is no call, of a list."""


class Mended(NamedTuple):
    """What a malformed object was meant to be, and how much text it took."""

    found: Found
    text: str


class Mending:
    """One attempt to mend a malformed object, for which more text may be needed."""

    __slots__ = ("_name", "_reader", "_reading", "_source")

    def __init__(  # noqa: PLR0913 (what is known of it)
        self,
        reader: CallReader,
        start: int,
        before: str,
        *,
        name: str | None,
        is_after_call: bool,
        length: int,
    ) -> None:
        """Begin at a brace.

        Args:
            reader: decides what is a call.
            start: the offset of the brace.
            before: the text before it.
            name: the tool that a tag around it names, so that it holds the arguments.
            is_after_call: whether nothing but delimiters stands between it and the call before, or a wrapper's opening.
            length: how many characters it may have.
        """
        from llama3_tools.calls.repair_tokens import (  # noqa: PLC0415 (slow, and most never repair)
            GrowingSource,
            scan_broken,
        )

        self._reader = reader
        self._name = name
        self._source: GrowingSource = GrowingSource(start, length)
        any_key = reader.lenient or name is not None
        self._reading: Generator[None, None, list[Token] | None] | None = None
        if name is not None or not is_inside(before, is_after_call=is_after_call):
            self._reading = scan_broken(self._source, None if any_key else _FIRST_KEYS)

    @property
    def reached(self) -> int:
        """The offset up to which the text was looked at: no object in it is tried again."""
        return self._source.offset

    def read(self, text: str, start: int, *, ended: bool) -> Mended | Literal[False] | None:
        """Read on in a text, as far as it has arrived, in which the brace stands at an index.

        Returns:
            What was meant; `False` if it cannot be mended, and `None` if it takes more text to know.
        """
        source = self._source
        source.show(text, start, ended=ended)
        tokens = None
        try:
            if self._reading is not None:
                next(self._reading)
                return None
        except StopIteration as stop:
            tokens = stop.value
        return (tokens is not None and self._mended(source.text[: source.pos], tokens)) or False

    def _mended(self, text: str, tokens: list[Token]) -> Mended | None:
        from llama3_tools.calls.repair_ambiguity import has_one_reading  # noqa: PLC0415 (as above)

        if not has_one_reading(text, tokens):
            return None
        if self._name is None and not self._reader.lenient and not any(token.key in ARGUMENTS for token in tokens):
            return None
        rewritten = _rewritten(text, tokens)
        found = None if rewritten is None else self._found(rewritten, tokens[0].start)
        return None if found is None else Mended(found, text)

    def _found(self, rewritten: Rewritten, start: int) -> Found | None:
        parsed = parse_object(rewritten.json, 0)
        if parsed is None or parsed.flaw:
            return None
        reader = self._reader
        found: Found | Refusal
        if self._name is not None:
            found = reader.checked(WrittenCall(self._name, parsed.members, parsed.json))
        else:
            found = reader.read(parsed)
        if isinstance(found, Refusal):
            return None
        if isinstance(found, WrittenCall):
            return found if found.name in (reader.tools or ()) else None
        placed = [part for part in found if isinstance(part, Placed)]
        if not placed or any(part.written.name not in (reader.tools or ()) for part in placed):
            return None
        return [_moved(part, rewritten, start) if isinstance(part, Placed) else part for part in found]


def is_inside(before: str, *, is_after_call: bool) -> bool:
    """Return whether what stands before an object makes it a part of something else: of code, of a list.

    >>> is_inside("x = ", is_after_call=False), is_inside("So: ", is_after_call=False)
    (True, False)
    """
    found = _INSIDE.search(before)
    return found is not None and not (is_after_call and found["comma"])


def _moved(part: Placed, rewritten: Rewritten, start: int) -> Placed:
    begin, end = rewritten.spans[part.start]
    return part._replace(start=begin - start, end=end - start)


def _rewritten(text: str, tokens: list[Token]) -> Rewritten | None:
    from llama3_tools.calls.repair_tokens import rewrite  # noqa: PLC0415 (as above)

    try:
        rewritten = rewrite(text, tokens)
        json.loads(rewritten.json, object_pairs_hook=_require_unique)
    except ValueError:
        return None
    return rewritten


def _require_unique(members: list[tuple[str, Any]]) -> None:
    """Refuse an object in which a key stands twice, at any depth."""
    if len(dict(members)) != len(members):
        raise ValueError
