"""Malformed calls, repaired where that is asked for (rule 6): closed, of a declared tool, and beyond doubt.

`json_repair` says what the model meant, and the tokens of `repair_tokens` say what it wrote. Only where the two agree,
value by value, there is a call: a repair that drops something, makes something up or puts it elsewhere is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from llama3_tools.calls.reader import CallReader, Parts, Scope
from llama3_tools.errors import MissingExtraError
from llama3_tools.reading.json_depth import MAX_DEPTH
from llama3_tools.reading.json_equality import same_json
from llama3_tools.reading.json_parse import JsonObject, key_twice, parse_object
from llama3_tools.reading.json_scan import Scan
from llama3_tools.reading.source import Reading, Source
from llama3_tools.values import RejectionReason

if TYPE_CHECKING:
    from llama3_tools.calls.repair_tokens import Rewritten, Token

__all__ = ["INSIDE", "Repair", "RepairedObject", "load_repair", "read_repaired", "read_repaired_object"]

Repair: TypeAlias = Callable[[str], object]
"""Gives the value that malformed JSON was meant to be."""

_FIRST_KEYS = frozenset(
    {"name", "type", "id", "function", "parameters", "arguments"} | {"tool_call", "tool_calls", "message", "content"}
)
"""What a malformed object begins with if it is to be a call, or an envelope. Any other one is soon text again. With
`lenient` it begins with anything."""

_ARGUMENTS = ("parameters", "arguments")
"""One of them has to be there: what is malformed, and seems to need no arguments, may have them under a broken key."""

INSIDE = re.compile(
    r"(?:\w|[=(\[{]\s*|(?:[\"',]|\*/)\s*(?::+|=>?)\s*|\*/\s*|[{,]\s*(?:[\"']?\w+(?:[\"']|\s*:+)|function)\s*"
    r"|\b(?:return|yield)\s|(?P<comma>,)\s*)\Z"
)
"""What stands before a part of something else: of code, of an object that is no call, of a list."""

_SLOW, _MOST_SLOW = '"{}[]', 64
"""What the library takes quadratic time for where it stands within strings, and how often it may stand there."""

_NOT_JSON = (RejectionReason.MALFORMED, RejectionReason.TRUNCATED)
"""What may be repaired. In `"a': 1}` a string opens that never ends: that looks cut off, and is closed all the same."""


class RepairedObject(NamedTuple):
    """An object, and the text that it was repaired from, if it needed repair."""

    parsed: JsonObject
    repaired_from: str | None


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


def read_repaired(  # noqa: PLR0913 (what a reader of a format has)
    source: Source, start: int, scan: Scan, calls: CallReader, scope: Scope, *, is_after_call: bool
) -> Reading[Parts | None]:
    """Read the calls of an object or array that is not JSON; `None` where it is not repaired.

    Args:
        source: where to read. Where nothing is repaired, it stands anywhere afterwards.
        start: the offset of the brace or bracket.
        scan: what was found there.
        calls: decides what is a call, and has what repairs.
        scope: what is around.
        is_after_call: whether nothing but delimiters stands between it and the call before.
    """
    before = None if scope.wrappers else INSIDE.search(source.lead)
    is_part = before is not None and not (is_after_call and before["comma"])
    read = yield from _read(source, start, scan, calls, None if calls.lenient else _FIRST_KEYS)
    tools = calls.tools or {}
    if read is None or is_part or tools.keys().isdisjoint(read.strings):
        return None
    if not calls.lenient and not any(token.key in _ARGUMENTS for token in read.tokens):
        return None
    rewritten = _repaired(read, calls)
    found = rewritten and replace(calls, on_unknown_tool="text").read(rewritten.json, 0, 0, scope)
    parts = found.outcome if found and isinstance(found.outcome, list) else []
    if not rewritten or all(isinstance(part, str) for part in parts):
        return None
    source.unrepairable = range(0)
    return [
        part if isinstance(part, str) else replace(part, span=rewritten.spans[part.span[0]], repaired_from=read.text)
        for part in parts
    ]


def read_repaired_object(source: Source, start: int, scan: Scan, calls: CallReader) -> Reading[RepairedObject | None]:
    """Read an object that is not JSON, whatever its keys; `None` where it is not repaired.

    The arguments are those of `read_repaired`.
    """
    read = yield from _read(source, start, scan, calls, None)
    rewritten = read and _repaired(read, calls)
    parsed = rewritten and parse_object(rewritten.json, 0)
    if not read or not parsed:
        return None
    source.unrepairable = range(0)
    return RepairedObject(parsed, read.text)


class _Read(NamedTuple):
    """What was read to where it closes."""

    text: str
    tokens: list[Token]
    strings: list[str]
    """What stands between the quotes of its strings."""


def _read(
    source: Source, start: int, scan: Scan, calls: CallReader, first_keys: frozenset[str] | None
) -> Reading[_Read | None]:
    """Read to where it closes, and hold it for unrepairable: nothing in it is tried again, so the work is linear."""
    is_open = scan.refusal is not None and scan.refusal.reason in _NOT_JSON and not scan.is_settled
    if calls.repair is None or start in source.unrepairable or not is_open:
        return None
    from llama3_tools.calls.repair_tokens import Kind, scan_broken  # noqa: PLC0415 (slow, and most never repair)

    source.rewind(start)
    tokens = yield from scan_broken(source, first_keys)
    source.unrepairable = range(start, source.offset)
    if tokens is None:
        return None
    from llama3_tools.calls.repair_ambiguity import has_one_reading  # noqa: PLC0415 (as above)

    text = source.slice(start, source.offset)
    if not has_one_reading(text, tokens):
        return None
    strings = [text[token.start - start + 1 : token.end - start - 1] for token in tokens if token.kind is Kind.STRING]
    return _Read(text, tokens, strings)


def _repaired(read: _Read, calls: CallReader) -> Rewritten | None:
    is_slow = sum(string.count(char) for string in read.strings for char in _SLOW) > _MOST_SLOW
    if calls.repair is None or is_slow:
        return None
    from llama3_tools.calls.repair_tokens import rewrite  # noqa: PLC0415 (as above)

    try:
        rewritten = rewrite(read.text, read.tokens)
        agree = _agree(rewritten.json, calls.repair(rewritten.readable))
    except Exception:  # noqa: BLE001  # what the library stumbles over, whatever the error, is not repaired
        return None
    return rewritten if agree else None


def _agree(written: str, meant: object) -> bool:
    """Tell whether JSON is what was meant."""
    if key_twice(written, 0, len(written)):
        return False
    parsed = parse_object(f'{{"": {written}}}', 0, levels=MAX_DEPTH + 1)
    return parsed is not None and same_json(_trimmed(parsed.value[""]), _trimmed(meant))


def _trimmed(value: object) -> object:
    """Give a value without the line breaks at the end of its strings, which the library drops."""
    if isinstance(value, dict):
        return {key: _trimmed(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_trimmed(item) for item in value]
    return value.rstrip("\n") if isinstance(value, str) else value
