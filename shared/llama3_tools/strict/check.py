"""The strict response format: one JSON object with a message and a tool call, and nothing around it.

.. code-block:: text

    {"message": "…", "tool_call": {"name": "…", "arguments": {…}}}      or "tool_call": null
    {"message": "…", "tool_calls": [{"name": "…", "arguments": {…}}]}   with multiple=True; [] for none

Strictness is a check in front of the extractor, which reads the object as it reads any envelope (principle 1).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from llama3_tools.errors import ResponseFormatError, ResponseFormatProblem, require_str
from llama3_tools.extractor import Extractor
from llama3_tools.limits import DEFAULT_LIMITS, Limits, require_limits
from llama3_tools.literals.json_depth import depth_is_within
from llama3_tools.literals.json_object import JsonObject, parse_elements, parse_object, parse_whole, skip_json_space
from llama3_tools.literals.json_places import BrokenObject, key_twice, read_object, value_start
from llama3_tools.literals.json_tokens import JsonTokens
from llama3_tools.literals.refusal import Refusal
from llama3_tools.options import new_call_id
from llama3_tools.reader.json_calls import read_call
from llama3_tools.tools.choice import ToolChoice, require_tool_choice
from llama3_tools.tools.declared import Tool, ToolLike, not_declared
from llama3_tools.values import Extraction, RejectionReason, shortened

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

    What it gives is what `extract` gives for the same text: the message is the content (principle 1).

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
    of_reading = require_limits(limits)._replace(max_call_length=sys.maxsize)  # each call is looked at before
    extractor = Extractor(tools=tools, coerce_arguments=coerce_arguments, limits=of_reading, id_factory=id_factory)
    require_tool_choice(tool_choice, extractor.tools)
    check_response(text, tools=extractor.tools, multiple=multiple, tool_choice=tool_choice, limits=limits)
    return extractor.extract(text)


def check_response(
    text: str,
    *,
    tools: Mapping[str, Tool] | None,
    multiple: bool = False,
    tool_choice: ToolChoice = "auto",
    limits: Limits = DEFAULT_LIMITS,
) -> None:
    """Raise unless an output is the one object of the format.

    >>> check_response('{"message": "Hi", "tool_call": null}', tools=None)

    Args:
        text: what the model wrote.
        tools: the tools that may be called, by name; `None`: any.
        multiple: the calls stand in an array.
        tool_choice: which tool has to be called.
        limits: how deep, how long and how many calls may be.

    Raises:
        ResponseFormatError: it is not.
        TypeError: `text` is not a `str`.
    """
    require_str(text, "the response format is that of a model's output, a str")
    wanted = _Format(tools, multiple, tool_choice, limits)
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

    tools: Mapping[str, Tool] | None
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
    parsed = read_object(text, start)
    if isinstance(parsed, BrokenObject):
        raise _broken(parsed, start)
    rest = skip_json_space(text, parsed.end)
    if rest < len(text):
        raise _text_behind(text, rest)
    _check_envelope(parsed, wanted)


def _no_object_first(text: str, start: int) -> _DeviationError:
    """Return what an output is that does not begin with an object."""
    token = _PROTOCOL_TOKEN.match(text, start)
    if token is not None:
        return _protocol_token(token)
    alone = parse_whole(f'{{"": {text}}}')
    if alone is not None and len(alone.members) == 1:
        detail = f"the output is {_kind(alone.members[''])}, not an object"
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
    after = skip_json_space(text, end)
    if after < len(text):
        detail = f"{detail}, and {_quoted(text[after:])} after it"
        return _DeviationError(ResponseFormatProblem.EMBEDDED, start, detail)
    return _DeviationError(ResponseFormatProblem.TEXT_BEFORE, start, detail)


def _find_object(text: str, start: int) -> tuple[int | None, int]:
    """Find the first JSON object in text, cut off or too deep if need be: where it begins and ends."""
    pos = start
    while (match := _OBJECT.search(text, pos)) is not None:
        tokens = JsonTokens()
        end = tokens.read(text, match.start(), 0, ended=True)
        if tokens.refusal is None:
            return match.start(), end
        if tokens.refusal.reason in _PROBLEMS:
            return match.start(), len(text)
        pos = tokens.resume  # behind the brace, which keeps the search linear (principle 8)
    return None, len(text)


def _broken(broken: BrokenObject, start: int) -> _DeviationError:
    reason, detail = broken.refusal.reason, broken.refusal.detail
    problem = _PROBLEMS.get(reason, ResponseFormatProblem.MALFORMED)
    if problem is ResponseFormatProblem.TOO_DEEP:
        return _DeviationError(problem, start, f"the object is {detail}")
    return _DeviationError(problem, broken.end, f"the object is no JSON: {detail}")


def _text_behind(text: str, rest: int) -> _DeviationError:
    """Return what stands after the object."""
    token = _PROTOCOL_TOKEN.match(text, rest)
    if token is not None:
        return _protocol_token(token)
    match = _BETWEEN_OBJECTS.match(text, rest)
    begin = match.end() if match else rest
    if _find_object(text, begin)[0] == begin:
        detail = f"a second JSON object stands after the first, at offset {begin}"
        return _DeviationError(ResponseFormatProblem.TWO_OBJECTS, begin, detail)
    detail = f"{_quoted(text[rest:])} stands after the JSON object, at offset {rest}"
    return _DeviationError(ResponseFormatProblem.TEXT_AFTER, rest, detail)


def _protocol_token(token: re.Match[str]) -> _DeviationError:
    detail = f"the protocol token {token[0]} stands at offset {token.start()}, which the server should have cut off"
    return _DeviationError(ResponseFormatProblem.PROTOCOL_TOKEN, token.start(), detail)


def _check_envelope(parsed: JsonObject, wanted: _Format) -> None:
    """Look inside the object."""
    _check_keys(parsed, ("message", wanted.key), "the object")
    if not isinstance(parsed.members["message"], str):
        raise _wrong_type(parsed, "message", "a string")
    written = _calls(parsed, wanted)
    limit = wanted.limits.max_calls
    if len(written) > limit:
        offset = value_start(parsed, wanted.key)
        detail = f"{wanted.key!r} at offset {offset} holds {len(written)} calls, and at most {limit} may be"
        raise _DeviationError(ResponseFormatProblem.TOO_MANY, offset, detail)
    for where, call in written:
        _check_call(call, wanted, where)
    if wanted.is_required and not written:
        offset = value_start(parsed, wanted.key)
        detail = f"{wanted.key!r} at offset {offset} calls nothing, where a call has to be"
        raise _DeviationError(ResponseFormatProblem.TOOL_CHOICE, offset, detail)


def _calls(parsed: JsonObject, wanted: _Format) -> list[tuple[str, JsonObject]]:
    """Return the calls that are written, each with words for where it stands."""
    key, value = wanted.key, parsed.members[wanted.key]
    if not wanted.multiple:
        if value is not None and not isinstance(value, dict):
            raise _wrong_type(parsed, key, "an object or null")
        call = None if value is None else parse_object(parsed.text, parsed.spans[key][0], checked=True)
        return [] if call is None else [(repr(key), call)]
    if not isinstance(value, list):
        raise _wrong_type(parsed, key, "an array")
    start = parsed.spans[key][0]
    items = parse_elements(parsed.text, start)
    if items is None:
        detail = f"{key!r} at offset {start} holds something else than objects"
        raise _DeviationError(ResponseFormatProblem.WRONG_TYPE, start, detail)
    return [(f"{key}[{index}]", item) for index, item in enumerate(items)]


def _check_call(call: JsonObject, wanted: _Format, where: str) -> None:
    """Look at one call."""
    limits = wanted.limits
    if call.end - call.start > limits.max_call_length:
        detail = f"the call in {where} at offset {call.start} is longer than {limits.max_call_length} characters"
        raise _DeviationError(ResponseFormatProblem.TOO_LONG, call.start, detail)
    _check_keys(call, _CALL_KEYS, where, problem=ResponseFormatProblem.INVALID_CALL)
    name, arguments = call.members["name"], call.members["arguments"]
    if not isinstance(name, str) or not name:
        detail = "an empty string" if name == "" else _kind(name)
        raise _invalid_call(f"the name in {where} is {detail}, not a name", value_start(call, "name"))
    if not isinstance(arguments, dict):
        detail = f"the arguments in {where} are {_kind(arguments)}, not an object"
        raise _invalid_call(detail, value_start(call, "arguments"))
    if wanted.tools is not None and name not in wanted.tools:
        offset = value_start(call, "name")
        detail = f"in {where} at offset {offset}, {not_declared(name, wanted.tools)}"
        raise _DeviationError(ResponseFormatProblem.UNKNOWN_TOOL, offset, detail)
    if wanted.tool_choice not in {"auto", "required", name}:
        offset = value_start(call, "name")
        detail = f"{name!r} is called in {where} at offset {offset}, where it has to be {wanted.tool_choice!r}"
        raise _DeviationError(ResponseFormatProblem.TOOL_CHOICE, offset, detail)
    found = read_call(call, wanted.tools)
    if isinstance(found, Refusal) and found.reason is RejectionReason.SCHEMA_ECHO:
        raise _invalid_call(f"in {where} stands {found.detail}", call.start)
    start, end = call.spans["arguments"]
    if not depth_is_within(call.text, start, end, limits.max_depth):
        detail = f"the arguments in {where} at offset {start} are nested deeper than {limits.max_depth} levels"
        raise _DeviationError(ResponseFormatProblem.TOO_DEEP, start, detail)
    twice = key_twice(call.text, start, end)
    if twice is not None:
        key, offset = shortened(twice[0]), twice[1]
        detail = f"the key {key!r} stands twice in one object of the arguments in {where}, again at offset {offset}"
        raise _DeviationError(ResponseFormatProblem.MALFORMED, offset, detail)


def _check_keys(
    parsed: JsonObject, expected: tuple[str, ...], where: str, *, problem: ResponseFormatProblem | None = None
) -> None:
    """Look for keys that are there twice, missing, or not part of the format; `problem` is what they are then."""
    offset, keys = parsed.start, list(parsed.members)
    if parsed.flaw:
        detail = f"{parsed.flaw} in {where} at offset {offset}"
        raise _DeviationError(problem or ResponseFormatProblem.MALFORMED, offset, detail)
    found = shortened(", ".join(repr(key)[1:-1] for key in keys[:8])) or "none"
    for key in (key for key in expected if key not in keys):
        detail = f"the key {key!r} is missing in {where} at offset {offset}, whose keys are: {found}"
        raise _DeviationError(problem or ResponseFormatProblem.MISSING_KEY, offset, detail)
    for key in (key for key in keys if key not in expected):
        place = value_start(parsed, key)
        detail = f"the key {shortened(key)!r} in {where}, with a value at offset {place}, is not part of the format"
        raise _DeviationError(problem or ResponseFormatProblem.UNKNOWN_KEY, place, detail)


def _wrong_type(parsed: JsonObject, key: str, expected: str) -> _DeviationError:
    offset = value_start(parsed, key)
    detail = f"{key!r} at offset {offset} is {_kind(parsed.members[key])}, not {expected}"
    return _DeviationError(ResponseFormatProblem.WRONG_TYPE, offset, detail)


def _invalid_call(detail: str, offset: int) -> _DeviationError:
    return _DeviationError(ResponseFormatProblem.INVALID_CALL, offset, f"{detail}, at offset {offset}")


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def _quoted(text: str) -> str:
    """Show how a text begins, with what cannot be seen in it."""
    return repr(text[:_MAX_QUOTED]) + ("…" if len(text) > _MAX_QUOTED else "")
