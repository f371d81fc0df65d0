"""Malformed calls, repaired if that is asked for (rule 6): closed, of a declared tool, and beyond doubt.

`json_repair` says what the model meant, and the tokens of `repair_tokens` say what it wrote. Only if the two agree,
value by value, there is a call: a repair that drops something, makes something up or puts it elsewhere is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from llama3_tools.calls.reader import CallReader, Found, Placed
from llama3_tools.calls.shapes import ARGUMENTS, WrittenCall
from llama3_tools.errors import MissingExtraError
from llama3_tools.limits import DEFAULT_LIMITS
from llama3_tools.reading.json_depth import MAX_DEPTH
from llama3_tools.reading.json_equality import same_json
from llama3_tools.reading.json_object import parse_object
from llama3_tools.reading.json_tokens import scan_json
from llama3_tools.reading.refusal import Refusal

if TYPE_CHECKING:
    from llama3_tools.calls.repair_tokens import GrowingSource, Rewritten, Token

__all__ = ["Mended", "Mending", "Repair", "is_inside", "load_repair"]

Repair: TypeAlias = Callable[[str], object]
"""Returns the value that malformed JSON was meant to be."""

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

_SLOW, _MOST_SLOW = '"{}[]', 64
"""What the library takes quadratic time for if it stands within strings, and how often it may stand there."""


class Mended(NamedTuple):
    """What a malformed object was meant to be, and how much text it took."""

    found: Found
    text: str


@cache
def load_repair() -> Repair:
    """Import the library that repairs.

    >>> load_repair()("{'a': [True, 1,]}")
    {'a': [True, 1]}

    Raises:
        MissingExtraError: `json-repair` is not installed (extra `repair`).
    """
    try:
        from json_repair import loads  # noqa: PLC0415 (the extra)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "json_repair":
            raise
        raise MissingExtraError(
            "repair=True needs json-repair 0.64.3 or newer: pip install 'llama3-tools[repair]'"
        ) from error
    return lambda text: loads(text, skip_json_loads=True)


class Mending:
    """One attempt to mend a malformed object, for which more text may be needed."""

    __slots__ = ("_calls", "_name", "_reading", "_source", "reached")

    def __init__(  # noqa: PLR0913 (what is known of it)
        self,
        calls: CallReader,
        start: int,
        before: str,
        *,
        name: str | None,
        is_after_call: bool,
        length: int = DEFAULT_LIMITS.max_call_length,
    ) -> None:
        """Begin at a brace.

        Args:
            calls: decides what is a call.
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

        self._calls = calls
        self._name = name
        self._source: GrowingSource = GrowingSource(start, length)
        self.reached = start
        """The offset up to which the text was looked at: no object in it is tried again."""
        any_key = calls.lenient or name is not None
        self._reading: Generator[None, None, list[Token] | None] | None = None
        if name is not None or not is_inside(before, is_after_call=is_after_call):
            self._reading = scan_broken(self._source, None if any_key else _FIRST_KEYS)

    def read(self, text: str, start: int, *, ended: bool) -> Mended | bool:
        """Read on in a text, as far as it has arrived, in which the brace stands at an index.

        Returns:
            What was meant; `False` if it cannot be mended, and `True` if more text is needed.
        """
        source = self._source
        source.text, source.ended = text[start : start + source.limit - source.base], ended
        tokens = None
        try:
            if self._reading is not None:
                next(self._reading)
                return True
        except StopIteration as stop:
            tokens = stop.value
        self.reached = source.offset
        return (tokens is not None and self._mended(source.text[: source.pos], tokens)) or False

    def _mended(self, text: str, tokens: list[Token]) -> Mended | None:
        from llama3_tools.calls.repair_ambiguity import has_one_reading  # noqa: PLC0415 (as above)
        from llama3_tools.calls.repair_tokens import TokenKind  # noqa: PLC0415 (as above)

        if not has_one_reading(text, tokens):
            return None
        calls, tools, start = self._calls, self._calls.tools or {}, tokens[0].start
        strings = [
            text[token.start - start + 1 : token.end - start - 1] for token in tokens if token.kind is TokenKind.STRING
        ]
        if sum(string.count(char) for string in strings for char in _SLOW) > _MOST_SLOW:
            return None
        if self._name is None:
            has_arguments = calls.lenient or any(token.key in ARGUMENTS for token in tokens)
            if tools.keys().isdisjoint(strings) or not has_arguments:
                return None
        rewritten = _rewritten(text, tokens)
        found = None if rewritten is None else self._found(rewritten, start)
        return None if found is None else Mended(found, text)

    def _found(self, rewritten: Rewritten, start: int) -> Found | None:
        parsed = parse_object(rewritten.json, 0, checked=True)
        if parsed is None or parsed.flaw:
            return None
        calls = self._calls
        found: Found | Refusal
        if self._name is not None:
            found = calls.checked(WrittenCall(self._name, parsed.members, parsed.json))
        else:
            found = calls.read(parsed)
        if isinstance(found, Refusal):
            return None
        if isinstance(found, WrittenCall):
            return found if found.name in (calls.tools or ()) else None
        placed = [part for part in found if isinstance(part, Placed)]
        if not placed or any(part.written.name not in (calls.tools or ()) for part in placed):
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
        return rewritten if _agree(rewritten.json, load_repair()(rewritten.readable)) else None
    except Exception:  # noqa: BLE001  # what the library stumbles over, whatever the error, is not repaired
        return None


class _TwiceError(ValueError):
    """A key stands twice in an object."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _TwiceError
    return members


def _agree(written: str, meant: object) -> bool:
    """Return whether JSON is what was meant."""
    if written.count("{") + written.count("[") > MAX_DEPTH and scan_json(written, 0).refusal is not None:
        return False
    return same_json(_trimmed(json.loads(written, object_pairs_hook=_unique)), _trimmed(meant))


def _trimmed(value: object) -> object:
    """Return a value without the line breaks at the end of its strings, which the library drops."""
    if isinstance(value, dict):
        return {key: _trimmed(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_trimmed(item) for item in value]
    return value.rstrip("\n") if isinstance(value, str) else value
