"""The strict response format: one JSON object with a message and a tool call, and nothing around it.

.. code-block:: text

    {"message": "…", "tool_call": {"name": "…", "arguments": {…}}}      or "tool_call": null
    {"message": "…", "tool_calls": [{"name": "…", "arguments": {…}}]}   with multiple=True; [] for none

Strictness is a check in front of the extractor, which reads the object as it reads any envelope (rule 12).
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from llama3_tools.errors import ResponseFormatError, ResponseFormatProblem, require_str
from llama3_tools.extractor import Extractor, new_call_id
from llama3_tools.limits import DEFAULT_LIMITS, Limits, require_limits
from llama3_tools.reading.json_depth import depth_is_within
from llama3_tools.reading.json_parse import (
    JsonMember,
    JsonObject,
    key_twice,
    parse_object,
    parse_objects,
    skip_json_space,
)
from llama3_tools.reading.json_scan import Scan, parse_whole, read_object, scan_value
from llama3_tools.reading.source import Source, run_to_end
from llama3_tools.tools.choice import ToolChoice, require_tool_choice
from llama3_tools.tools.declared import ToolLike, not_declared
from llama3_tools.values import Extraction, RejectionReason, shortened

__all__ = ["check_response", "limits_of_reading", "parse_response"]

_CALL_KEYS = ("name", "arguments")
_OBJECT = re.compile(r'\{(?=[ \t\n\r]*")')
_FENCE = re.compile(
    r"(?:(?:`{3,}|~{3,})(?:[^\n`]{0,200}\n|[\w+#.-]{0,40})"  # with what may be said about it, up to the line's end
    r"|`{1,2})[ \t\n\r]{0,20}\Z"
)
_FENCE_LENGTH = 256
_PROTOCOL_TOKEN = re.compile(r"<\|[^<>|\s]{1,40}\|>")
_BETWEEN_OBJECTS = re.compile(r"[\s;,]*")
_PROBLEMS = {
    RejectionReason.TRUNCATED: ResponseFormatProblem.TRUNCATED,
    RejectionReason.TOO_DEEP: ResponseFormatProblem.TOO_DEEP,
}
_MAX_QUOTED = 20
_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def parse_response(  # noqa: PLR0913 (an option each)
    text: str,
    *,
    tools: Iterable[ToolLike] | None = None,
    multiple: bool = False,
    tool_choice: ToolChoice = "auto",
    coerce_arguments: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    id_factory: Callable[[], str] = new_call_id,
) -> Extraction:
    """Read an output that has to be the one object of the strict response format, and nothing else.

    What it gives is what `extract` gives for the same text: the message is the content (rules 4 and 12).

    >>> extraction = parse_response('{"message": "On it.", "tool_call": {"name": "now", "arguments": {}}}')
    >>> extraction.content, extraction.tool_calls[0].name
    ('On it.', 'now')
    >>> parse_response('On it. {"message": "", "tool_call": null}')
    Traceback (most recent call last):
    llama3_tools.errors.ResponseFormatError: text_before: 'On it. ' stands before the JSON object at offset 7. ...

    Args:
        text: what the model wrote. White space of JSON's may stand at either end, and nothing else.
        tools: the tools that may be called; `None`: any name may be called. Whether the arguments fit a tool's schema
            is not looked at.
        multiple: the calls stand in an array `tool_calls`, rather than one in `tool_call`.
        tool_choice: `"auto"`, `"required"` for at least one call, or the name of the one tool that has to be called.
        coerce_arguments: whether arguments are made to fit the schema of their tool.
        limits: how deep, how long and how many calls may be. What goes beyond is an error. The message may be long.
        id_factory: makes the id of each call.

    Raises:
        ResponseFormatError: the output is anything else. It says what is wrong, where, and keeps the output.
        TypeError: `text` is not a `str`, `tools` is no list of tools, `tool_choice` no `str`, or `limits` are no
            `Limits`.
        ToolDefinitionError: a declaration that cannot be read, or a `tool_choice` that the tools do not allow.
        ValueError: `coerce_arguments` has no `tools` to go by, or a limit is too low.
    """
    of_reading = limits_of_reading(limits)
    extractor = Extractor(tools=tools, coerce_arguments=coerce_arguments, limits=of_reading, id_factory=id_factory)
    require_tool_choice(tool_choice, extractor.tools)
    check_response(text, names=extractor.tools, multiple=multiple, tool_choice=tool_choice, limits=limits)
    return extractor.extract(text)


def limits_of_reading(limits: Limits) -> Limits:
    """Give the bounds of the extractor behind `check_response`, which has looked at each call: the object may be long.

    >>> limits_of_reading(Limits(calls=5)).candidate > Limits().candidate
    True

    Raises:
        TypeError: not `Limits` of whole numbers.
        ValueError: as `require_limits` has it.
    """
    return require_limits(limits)._replace(candidate=sys.maxsize)


def check_response(
    text: str,
    *,
    names: Collection[str] | None,
    multiple: bool = False,
    tool_choice: ToolChoice = "auto",
    limits: Limits = DEFAULT_LIMITS,
) -> None:
    """Raise unless an output is the one object of the format.

    >>> check_response('{"message": "Hi", "tool_call": null}', names=None)

    Args:
        text: what the model wrote.
        names: the tools that may be called; `None`: any.
        multiple: the calls stand in an array.
        tool_choice: which tool has to be called.
        limits: how deep, how long and how many calls may be.

    Raises:
        ResponseFormatError: it is not.
        TypeError: `text` is not a `str`.
    """
    require_str(text, "the response format is that of a model's output, a str")
    wanted = _Format(names, multiple, tool_choice, limits)
    try:
        _check_output(text, wanted)
    except _DeviationError as error:
        expected = f"one JSON object and nothing else: {wanted.shape}"
        raise ResponseFormatError(
            error.problem, error.detail, expected=expected, output=text, offset=error.offset
        ) from None


@dataclass(frozen=True, slots=True)
class _Format:
    """What the object has to hold."""

    names: Collection[str] | None
    multiple: bool
    tool_choice: ToolChoice
    limits: Limits

    @property
    def key(self) -> str:
        return "tool_calls" if self.multiple else "tool_call"

    @property
    def is_required(self) -> bool:
        return self.tool_choice != "auto"

    @property
    def shape(self) -> str:
        name = "…" if self.tool_choice in {"auto", "required"} else self.tool_choice
        call = f'{{"name": "{name}", "arguments": {{…}}}}'
        calls = f"[{call}, …]" if self.multiple else call if self.is_required else f"{call} or null"
        return f'{{"message": "…", "{self.key}": {calls}}}'


class _DeviationError(Exception):
    """The outermost thing in which an output is not the object of the format."""

    def __init__(self, problem: ResponseFormatProblem, offset: int, detail: str) -> None:
        self.problem = problem
        self.offset = offset
        self.detail = detail


def _check_output(text: str, wanted: _Format) -> None:
    """Look at an output from the outside to the inside."""
    start = skip_json_space(text, 0)
    if start == len(text):
        raise _DeviationError(ResponseFormatProblem.EMPTY, 0, "the output is empty")
    if not text.startswith("{", start):
        raise _no_object_first(text, start)
    source = _source(text, start)
    parsed = run_to_end(read_object(source))
    if isinstance(parsed, Scan):
        raise _broken(parsed, start, source.offset)
    rest = skip_json_space(text, source.pos)
    if rest < len(text):
        raise _text_behind(text, rest)
    _check_envelope(parsed, start - parsed.start, wanted)


def _source(text: str, pos: int) -> Source:
    source = Source()
    source.feed(text)
    source.ended = True
    source.pos = pos
    return source


def _no_object_first(text: str, start: int) -> _DeviationError:
    """Tell what an output is that does not begin with an object."""
    token = _PROTOCOL_TOKEN.match(text, start)
    if token is not None:
        return _protocol_token(token)
    alone = parse_whole(f'{{"": {text}}}')
    if alone is not None and len(alone.members) == 1:
        detail = f"the output is {_kind(alone.members[0].value)}, not an object"
        return _DeviationError(ResponseFormatProblem.WRONG_TYPE, start, detail)
    begin, end = _find_object(text, start)
    if begin is None:
        detail = f"no JSON object is in the output, which begins {_quoted(text[start:])}"
        return _DeviationError(ResponseFormatProblem.NO_JSON, start, detail)
    window = max(start, begin - _FENCE_LENGTH)
    fence = _FENCE.search(text[window:begin])
    if fence is not None:
        offset = window + fence.start()
        detail = f"a code fence stands around it, at offset {offset}"
        return _DeviationError(ResponseFormatProblem.FENCED, offset, detail)
    detail = f"{_quoted(text[start:begin])} stands before the JSON object at offset {begin}"
    behind = skip_json_space(text, end)
    if behind < len(text):
        detail = f"{detail}, and {_quoted(text[behind:])} behind it"
        return _DeviationError(ResponseFormatProblem.EMBEDDED, start, detail)
    return _DeviationError(ResponseFormatProblem.TEXT_BEFORE, start, detail)


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


def _broken(scan: Scan, start: int, fault: int) -> _DeviationError:
    assert scan.refusal is not None  # noqa: S101  # an object that was not refused is parsed
    problem = _PROBLEMS.get(scan.refusal.reason, ResponseFormatProblem.MALFORMED)
    if problem is ResponseFormatProblem.TOO_DEEP:
        return _DeviationError(problem, start, f"the object is {scan.refusal.detail}")
    return _DeviationError(problem, fault, f"the object is no JSON: {scan.refusal.detail}")


def _text_behind(text: str, rest: int) -> _DeviationError:
    """Tell what stands behind the object."""
    token = _PROTOCOL_TOKEN.match(text, rest)
    if token is not None:
        return _protocol_token(token)
    match = _BETWEEN_OBJECTS.match(text, rest)
    begin = match.end() if match else rest
    if _find_object(text, begin)[0] == begin:
        detail = f"a second JSON object stands behind the first, at offset {begin}"
        return _DeviationError(ResponseFormatProblem.TWO_OBJECTS, begin, detail)
    detail = f"{_quoted(text[rest:])} stands behind the JSON object, at offset {rest}"
    return _DeviationError(ResponseFormatProblem.TEXT_AFTER, rest, detail)


def _protocol_token(token: re.Match[str]) -> _DeviationError:
    detail = f"the protocol token {token[0]} stands at offset {token.start()}, which the server should have cut off"
    return _DeviationError(ResponseFormatProblem.PROTOCOL_TOKEN, token.start(), detail)


def _check_envelope(parsed: JsonObject, base: int, wanted: _Format) -> None:
    """Look inside the object, whose text begins at the offset `base`."""
    _check_keys(parsed, base, ("message", wanted.key), "the object")
    members = {member.key: member for member in parsed.members}
    message, calls = members["message"], members[wanted.key]
    if not isinstance(message.value, str):
        raise _wrong_type(message, base, "a string")
    written = _calls(parsed.text, calls, base, wanted)
    if len(written) > wanted.limits.calls:
        offset = base + calls.start
        detail = (
            f"{wanted.key!r} at offset {offset} holds {len(written)} calls, and at most {wanted.limits.calls} may be"
        )
        raise _DeviationError(ResponseFormatProblem.TOO_MANY, offset, detail)
    for where, call in written:
        _check_call(call, base, wanted, where)
    if wanted.is_required and not written:
        offset = base + calls.start
        detail = f"{wanted.key!r} at offset {offset} calls nothing, where a call has to be"
        raise _DeviationError(ResponseFormatProblem.TOOL_CHOICE, offset, detail)


def _calls(text: str, member: JsonMember, base: int, wanted: _Format) -> list[tuple[str, JsonObject]]:
    """Give the calls that are written, each with words for where it stands."""
    value: Any = member.value
    if not wanted.multiple:
        if value is not None and not isinstance(value, dict):
            raise _wrong_type(member, base, "an object or null")
        call = None if value is None else parse_object(text, member.start, checked=True)
        return [] if call is None else [(repr(wanted.key), call)]
    if not isinstance(value, list):
        raise _wrong_type(member, base, "an array")
    items = parse_objects(text, member.start, checked=True)
    if items is None:
        detail = f"{wanted.key!r} at offset {base + member.start} holds something else than objects"
        raise _DeviationError(ResponseFormatProblem.WRONG_TYPE, base + member.start, detail)
    return [(f"{wanted.key}[{index}]", item) for index, item in enumerate(items)]


def _check_call(parsed: JsonObject, base: int, wanted: _Format, where: str) -> None:
    """Look at one call."""
    limits = wanted.limits
    if parsed.end - parsed.start > limits.candidate:
        offset = base + parsed.start
        detail = f"the call in {where} at offset {offset} is longer than {limits.candidate} characters"
        raise _DeviationError(ResponseFormatProblem.TOO_LONG, offset, detail)
    _check_keys(parsed, base, _CALL_KEYS, where, problem=ResponseFormatProblem.INVALID_CALL)
    members = {member.key: member for member in parsed.members}
    name, arguments = members["name"], members["arguments"]
    if not isinstance(name.value, str) or not name.value:
        detail = "an empty string" if name.value == "" else _kind(name.value)
        raise _invalid_call(f"the name in {where} is {detail}, not a name", base + name.start)
    if not isinstance(arguments.value, dict):
        raise _invalid_call(
            f"the arguments in {where} are {_kind(arguments.value)}, not an object", base + arguments.start
        )
    offset = base + name.start
    if wanted.names is not None and name.value not in wanted.names:
        detail = f"in {where} at offset {offset}, {not_declared(name.value, wanted.names)}"
        raise _DeviationError(ResponseFormatProblem.UNKNOWN_TOOL, offset, detail)
    if wanted.tool_choice not in {"auto", "required", name.value}:
        detail = f"{name.value!r} is called in {where} at offset {offset}, where it has to be {wanted.tool_choice!r}"
        raise _DeviationError(ResponseFormatProblem.TOOL_CHOICE, offset, detail)
    if not depth_is_within(parsed.text, arguments.start, arguments.end, limits.depth, arguments.value):
        offset = base + arguments.start
        detail = f"the arguments in {where} at offset {offset} are nested deeper than {limits.depth} levels"
        raise _DeviationError(ResponseFormatProblem.TOO_DEEP, offset, detail)
    twice = key_twice(parsed.text, arguments.start, arguments.end)
    if twice is not None:
        key, offset = shortened(twice[0]), base + twice[1]
        detail = f"the key {key!r} stands twice in one object of the arguments in {where}, again at offset {offset}"
        raise _DeviationError(ResponseFormatProblem.MALFORMED, offset, detail)


def _check_keys(
    parsed: JsonObject,
    base: int,
    expected: tuple[str, ...],
    where: str,
    *,
    problem: ResponseFormatProblem | None = None,
) -> None:
    """Look for keys that are there twice, missing, or not part of the format; `problem` is what they are then."""
    offset = base + parsed.start
    counts = Counter(member.key for member in parsed.members)
    for key in (key for key, count in counts.items() if count > 1):
        detail = f"the key {shortened(key)!r} stands twice in {where} at offset {offset}"
        raise _DeviationError(problem or ResponseFormatProblem.MALFORMED, offset, detail)
    found = shortened(", ".join(repr(key)[1:-1] for key in list(counts)[:8])) or "none"
    for key in (key for key in expected if key not in counts):
        detail = f"the key {key!r} is missing in {where} at offset {offset}, whose keys are: {found}"
        raise _DeviationError(problem or ResponseFormatProblem.MISSING_KEY, offset, detail)
    for member in (member for member in parsed.members if member.key not in expected):
        place = base + member.start
        detail = (
            f"the key {shortened(member.key)!r} in {where}, with a value at offset {place}, is not part of the format"
        )
        raise _DeviationError(problem or ResponseFormatProblem.UNKNOWN_KEY, place, detail)


def _wrong_type(member: JsonMember, base: int, expected: str) -> _DeviationError:
    offset = base + member.start
    detail = f"{member.key!r} at offset {offset} is {_kind(member.value)}, not {expected}"
    return _DeviationError(ResponseFormatProblem.WRONG_TYPE, offset, detail)


def _invalid_call(detail: str, offset: int) -> _DeviationError:
    return _DeviationError(ResponseFormatProblem.INVALID_CALL, offset, f"{detail}, at offset {offset}")


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def _quoted(text: str) -> str:
    """Show how a text begins, with what cannot be seen in it."""
    return repr(text[:_MAX_QUOTED]) + ("…" if len(text) > _MAX_QUOTED else "")
