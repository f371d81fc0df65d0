"""The strict response format: one JSON object with a message and a tool call, and nothing around it.

.. code-block:: text

    {"message": "…", "tool_call": {"name": "…", "arguments": {…}}}      or "tool_call": null
    {"message": "…", "tool_calls": [{"name": "…", "arguments": {…}}]}   with multiple=True; [] for none

Strictness is a check in front of the extractor, which reads the object as it reads any envelope (rule 12).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from llama3_tools.errors import ResponseFormatError, ResponseFormatProblem, require_str
from llama3_tools.extractor import Extractor, new_call_id
from llama3_tools.json_scan import Scan, read_object, scan_value
from llama3_tools.json_text import JsonMember, JsonObject, parse_object, parse_objects, skip_json_space
from llama3_tools.source import Source, run_to_end
from llama3_tools.tools import ToolLike
from llama3_tools.values import Extraction, RejectionReason, shortened

__all__ = ["check_response", "parse_response"]

_CALL_SHAPE = '{"name": "…", "arguments": {…}}'
_CALL_KEYS = ("name", "arguments")
_SHAPES = {
    False: f'{{"message": "…", "tool_call": {_CALL_SHAPE} or null}}',
    True: f'{{"message": "…", "tool_calls": [{_CALL_SHAPE}, …]}}',
}
"""The format, by `multiple`."""

_OBJECT = re.compile(r'\{(?=[ \t\n\r]*")')
_FENCE = re.compile(r"(?:`{3,}|~{3,})[^\n`{]{0,20}[ \t\n\r]{0,20}\Z")
_FENCE_LENGTH = 64
_PROTOCOL_TOKEN = re.compile(r"<\|[^<>|\s]{1,40}\|>")
_BETWEEN_OBJECTS = re.compile(r"[\s;,]*")
_PROBLEMS = {
    RejectionReason.TRUNCATED: ResponseFormatProblem.TRUNCATED,
    RejectionReason.TOO_DEEP: ResponseFormatProblem.TOO_DEEP,
}
_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def parse_response(
    text: str,
    *,
    tools: Iterable[ToolLike] | None = None,
    multiple: bool = False,
    id_factory: Callable[[], str] = new_call_id,
) -> Extraction:
    """Read an output that has to be the one object of the strict response format, and nothing else.

    What it gives is what `extract` gives for the same text: the message is the content (rules 4 and 12).

    >>> extraction = parse_response('{"message": "On it.", "tool_call": {"name": "now", "arguments": {}}}')
    >>> extraction.content, extraction.tool_calls[0].name
    ('On it.', 'now')
    >>> parse_response('On it. {"message": "", "tool_call": null}')
    Traceback (most recent call last):
    llama3_tools.errors.ResponseFormatError: text_before: text stands before the JSON object at offset 7. Expected ...

    Args:
        text: what the model wrote. White space of JSON's may stand at either end, and nothing else.
        tools: the tools that may be called; `None`: any name may be called. Whether the arguments fit a tool's schema
            is not looked at.
        multiple: the calls stand in an array `tool_calls`, rather than one in `tool_call`.
        id_factory: makes the id of each call.

    Raises:
        ResponseFormatError: the output is anything else. It says what is wrong, where, and keeps the output.
        TypeError: `text` is not a `str`, or `tools` is no list of tools.
        ToolDefinitionError: a declaration that cannot be read.
    """
    extractor = Extractor(tools=tools, id_factory=id_factory)
    check_response(text, names=extractor.tools, multiple=multiple)
    return extractor.extract(text)


def check_response(text: str, *, names: Collection[str] | None, multiple: bool = False) -> None:
    """Raise unless an output is the one object of the format.

    Args:
        text: what the model wrote.
        names: the tools that may be called; `None`: any.
        multiple: the calls stand in an array.

    Raises:
        ResponseFormatError: it is not.
        TypeError: `text` is not a `str`.
    """
    require_str(text, "the response format is that of a model's output, a str")
    deviation = next(_deviations(text, names, multiple=multiple), None)
    if deviation is not None:
        problem, offset, detail = deviation
        expected = f"one JSON object and nothing else: {_SHAPES[multiple]}"
        raise ResponseFormatError(problem, detail, expected=expected, output=text, offset=offset)


class _Deviation(NamedTuple):
    """One thing in which an output is not the object of the format."""

    problem: ResponseFormatProblem
    offset: int
    detail: str


def _deviations(text: str, names: Collection[str] | None, *, multiple: bool) -> Iterator[_Deviation]:
    """Find what is wrong, from the outside to the inside. What comes behind the first one may be nonsense."""
    start = skip_json_space(text, 0)
    if start == len(text):
        yield _Deviation(ResponseFormatProblem.EMPTY, 0, "the output is empty")
    if not text.startswith("{", start):
        yield _no_object_first(text, start)
    source = _source(text, start)
    parsed = run_to_end(read_object(source))
    if isinstance(parsed, Scan):
        yield _broken(parsed, start)
        return
    rest = skip_json_space(text, source.pos)
    if rest < len(text):
        yield _text_behind(text, rest)
    yield from _envelope(parsed, start - parsed.start, names, multiple=multiple)


def _source(text: str, pos: int) -> Source:
    source = Source()
    source.feed(text)
    source.ended = True
    source.pos = pos
    return source


def _no_object_first(text: str, start: int) -> _Deviation:
    """Tell what an output is that does not begin with an object."""
    token = _PROTOCOL_TOKEN.match(text, start)
    if token is not None:
        return _protocol_token(token)
    try:
        kind = _kind(json.loads(text))
    except (ValueError, RecursionError):
        pass
    else:
        return _Deviation(ResponseFormatProblem.WRONG_TYPE, start, f"the output is {kind}, not an object")
    begin, end = _find_object(text, start)
    if begin is None:
        return _Deviation(ResponseFormatProblem.NO_JSON, start, "no JSON object is in the output")
    fence = _FENCE.search(text[max(start, begin - _FENCE_LENGTH) : begin])
    if fence is not None:
        offset = max(start, begin - _FENCE_LENGTH) + fence.start()
        return _Deviation(ResponseFormatProblem.FENCED, offset, f"a code fence stands around it, at offset {offset}")
    if skip_json_space(text, end) < len(text):
        detail = f"text stands before and after the JSON object at offset {begin}"
        return _Deviation(ResponseFormatProblem.EMBEDDED, start, detail)
    return _Deviation(ResponseFormatProblem.TEXT_BEFORE, start, f"text stands before the JSON object at offset {begin}")


def _find_object(text: str, start: int) -> tuple[int | None, int]:
    """Find the first JSON object in text, cut off or too deep if need be: where it begins and ends."""
    source = _source(text, start)
    while (match := _OBJECT.search(text, source.pos)) is not None:
        source.pos = match.start()
        scan = run_to_end(scan_value(source))
        if scan.refusal is None or scan.refusal.reason in _PROBLEMS:
            return match.start(), scan.end
        source.pos = scan.resume  # which keeps the search linear (rule 6)
    return None, len(text)


def _broken(scan: Scan, start: int) -> _Deviation:
    assert scan.refusal is not None  # noqa: S101  # an object that was not refused is parsed
    problem = _PROBLEMS.get(scan.refusal.reason, ResponseFormatProblem.MALFORMED)
    if problem is ResponseFormatProblem.TOO_DEEP:
        return _Deviation(problem, start, f"the object is {scan.refusal.detail}")
    return _Deviation(problem, scan.end, f"the object is no JSON: {scan.refusal.detail}")


def _text_behind(text: str, rest: int) -> _Deviation:
    """Tell what stands behind the object."""
    token = _PROTOCOL_TOKEN.match(text, rest)
    if token is not None:
        return _protocol_token(token)
    match = _BETWEEN_OBJECTS.match(text, rest)
    begin = match.end() if match else rest
    if _OBJECT.match(text, begin) and _find_object(text, begin)[0] == begin:
        detail = f"a second JSON object stands behind the first, at offset {begin}"
        return _Deviation(ResponseFormatProblem.TWO_OBJECTS, begin, detail)
    return _Deviation(ResponseFormatProblem.TEXT_AFTER, rest, f"text stands behind the JSON object, at offset {rest}")


def _protocol_token(token: re.Match[str]) -> _Deviation:
    detail = f"the protocol token {token[0]} stands at offset {token.start()}, which the server should have cut off"
    return _Deviation(ResponseFormatProblem.PROTOCOL_TOKEN, token.start(), detail)


def _envelope(parsed: JsonObject, base: int, names: Collection[str] | None, *, multiple: bool) -> Iterator[_Deviation]:
    """Find what is wrong inside the object, whose text begins at the offset `base`."""
    key = "tool_calls" if multiple else "tool_call"
    yield from _keys(parsed, base, ("message", key), "the object")
    members = {member.key: member for member in parsed.members}
    message, calls = members["message"], members[key]
    if not isinstance(message.value, str):
        yield _wrong_type(message, base, "a string")
    if not multiple:
        if calls.value is not None:
            yield from _call(parsed.text, calls, base, names, f"{key!r}")
        return
    if not isinstance(calls.value, list):
        yield _wrong_type(calls, base, "an array")
        return
    items = parse_objects(parsed.text, calls.start, checked=True)
    if items is None:
        detail = f"{key!r} at offset {base + calls.start} holds something else than objects"
        yield _Deviation(ResponseFormatProblem.WRONG_TYPE, base + calls.start, detail)
        return
    for index, item in enumerate(items):
        yield from _call_object(item, base, names, f"{key}[{index}]")


def _call(text: str, member: JsonMember, base: int, names: Collection[str] | None, where: str) -> Iterator[_Deviation]:
    item = parse_object(text, member.start, checked=True) if isinstance(member.value, dict) else None
    if item is None:
        yield _wrong_type(member, base, "an object or null")
    else:
        yield from _call_object(item, base, names, where)


def _call_object(parsed: JsonObject, base: int, names: Collection[str] | None, where: str) -> Iterator[_Deviation]:
    """Find what is wrong with one call."""
    for deviation in _keys(parsed, base, _CALL_KEYS, where):
        yield deviation._replace(problem=ResponseFormatProblem.INVALID_CALL)
    members = {member.key: member for member in parsed.members}
    name, arguments = members["name"], members["arguments"]
    if not isinstance(name.value, str) or not name.value:
        detail = "an empty string" if name.value == "" else _kind(name.value)
        yield _invalid_call(f"the name in {where} is {detail}, not a name", base + name.start)
    if not isinstance(arguments.value, dict):
        yield _invalid_call(
            f"the arguments in {where} are {_kind(arguments.value)}, not an object", base + arguments.start
        )
    if names is not None and name.value not in names:
        declared = ", ".join(list(names)[:8]) or "none"
        offset = base + name.start
        detail = f"{shortened(name.value)!r} in {where} at offset {offset} is not a declared tool; declared: {declared}"
        yield _Deviation(ResponseFormatProblem.UNKNOWN_TOOL, offset, detail)


def _keys(parsed: JsonObject, base: int, expected: tuple[str, ...], where: str) -> Iterator[_Deviation]:
    """Find the keys that are there twice, missing, or not part of the format."""
    offset = base + parsed.start
    counts = Counter(member.key for member in parsed.members)
    for key in (key for key, count in counts.items() if count > 1):
        detail = f"the key {shortened(key)!r} stands twice in {where} at offset {offset}"
        yield _Deviation(ResponseFormatProblem.MALFORMED, offset, detail)
    found = shortened(", ".join(list(counts)[:8])) or "none"
    for key in (key for key in expected if key not in counts):
        detail = f"the key {key!r} is missing in {where} at offset {offset}, whose keys are: {found}"
        yield _Deviation(ResponseFormatProblem.MISSING_KEY, offset, detail)
    for member in (member for member in parsed.members if member.key not in expected):
        place = base + member.start
        detail = (
            f"the key {shortened(member.key)!r} in {where}, with a value at offset {place}, is not part of the format"
        )
        yield _Deviation(ResponseFormatProblem.UNKNOWN_KEY, place, detail)


def _wrong_type(member: JsonMember, base: int, expected: str) -> _Deviation:
    offset = base + member.start
    detail = f"{member.key!r} at offset {offset} is {_kind(member.value)}, not {expected}"
    return _Deviation(ResponseFormatProblem.WRONG_TYPE, offset, detail)


def _invalid_call(detail: str, offset: int) -> _Deviation:
    return _Deviation(ResponseFormatProblem.INVALID_CALL, offset, f"{detail}, at offset {offset}")


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")
