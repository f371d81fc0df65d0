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

from llama3_tools.errors import ResponseFormatError, require_str
from llama3_tools.errors import ResponseFormatProblem as _Problem
from llama3_tools.extractor import Extractor
from llama3_tools.limits import DEFAULT_LIMITS, Limits, require_limits
from llama3_tools.literals.json_depth import depth_is_within
from llama3_tools.literals.json_object import JsonObject, parse_elements, parse_object, skip_json_space
from llama3_tools.literals.json_places import BrokenObject, key_twice, read_object, value_start
from llama3_tools.literals.refusal import Refusal
from llama3_tools.options import new_call_id
from llama3_tools.reader.json_calls import read_call
from llama3_tools.tools.choice import ToolChoice, require_tool_choice
from llama3_tools.tools.declared import Tool, ToolLike, not_declared
from llama3_tools.values import Extraction, RejectionReason, shortened

_OBJECT = re.compile(r'\{\s{0,64}"[^"\n]{0,64}"\s{0,16}:')
"""How an object begins."""
_PROBLEMS = {
    RejectionReason.TRUNCATED: _Problem.TRUNCATED,
    RejectionReason.TOO_DEEP: _Problem.OVER_LIMIT,
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
    llama3_tools.errors.ResponseFormatError: text_around: 'On it. ' before the JSON object, at offset 0. ...

    Args:
        text: what the model wrote. Only JSON's white space may surround the object.
        tools: the tools that may be called; `None`: any name may be called. Whether the arguments fit a tool's schema
            is not looked at.
        multiple: the calls are in an array `tool_calls`, rather than one in `tool_call`.
        tool_choice: `"auto"`, `"required"` for at least one call, or the name of the one tool that has to be called.
        coerce_arguments: whether arguments are made to fit the schema of their tool.
        limits: how deep, how long and how many calls may be. What goes beyond is an error. The message may be long.
        id_factory: makes the id of each call.

    Raises:
        ResponseFormatError: the output is anything else. It says what is wrong, where, and keeps the output.
        TypeError: `text` is not a `str`, `tools` is not a list of tools, `tool_choice` is not a `str`, or `limits` is
            not a `Limits`.
        ToolDefinitionError: a declaration that cannot be read, or a `tool_choice` that the tools do not allow.
        ValueError: `coerce_arguments` has no `tools` to go by, or a limit is too low.
    """
    of_reading = require_limits(limits)._replace(max_call_length=sys.maxsize)  # each call is looked at before
    extractor = Extractor(tools=tools, coerce_arguments=coerce_arguments, limits=of_reading, id_factory=id_factory)
    require_tool_choice(tool_choice, extractor.tools)
    require_str(text, "the response format is that of a model's output, a str")
    _check_output(_Format(text, extractor.tools, multiple, tool_choice, limits))
    return extractor.extract(text)


@dataclass(frozen=True, slots=True)
class _Format:
    """An output, and what its object has to contain."""

    output: str
    tools: Mapping[str, Tool] | None
    multiple: bool
    tool_choice: ToolChoice
    limits: Limits

    @property
    def key(self) -> str:
        return "tool_calls" if self.multiple else "tool_call"

    @property
    def shape(self) -> str:
        name = "…" if self.tool_choice in {"auto", "required"} else self.tool_choice
        call = f'{{"name": "{name}", "arguments": {{…}}}}'
        calls = f"[{call}, …]" if self.multiple else call if self.tool_choice != "auto" else f"{call} or null"
        return f'{{"message": "…", "{self.key}": {calls}}}'

    def error(self, problem: _Problem, offset: int, detail: str) -> ResponseFormatError:
        """Return the error for the outermost thing in which the output is not the object of the format."""
        expected, detail = f"one JSON object and nothing else: {self.shape}", f"{detail}, at offset {offset}"
        return ResponseFormatError(problem, detail, expected, self.output, offset)


def _check_output(wanted: _Format) -> None:
    """Look at an output from the outside to the inside."""
    text = wanted.output
    start = skip_json_space(text, 0)
    if start == len(text):
        raise wanted.error(_Problem.NO_JSON, 0, "the output is empty")
    if not text.startswith("{", start):
        if (begin := _OBJECT.search(text)) is None:
            raise wanted.error(_Problem.NO_JSON, start, f"no JSON object, but {_quoted(text[start:])}")
        before = _quoted(text[start : begin.start()])
        raise wanted.error(_Problem.TEXT_AROUND, start, f"{before} before the JSON object")
    parsed = read_object(text, start)
    if isinstance(parsed, BrokenObject):
        reason = parsed.refusal.reason
        raise wanted.error(
            _PROBLEMS.get(reason, _Problem.MALFORMED),
            start if reason is RejectionReason.TOO_DEEP else parsed.end,
            f"the object is no JSON that can be read: {parsed.refusal.detail}",
        )
    rest = skip_json_space(text, parsed.end)
    if rest < len(text):
        raise wanted.error(_Problem.TEXT_AROUND, rest, f"{_quoted(text[rest:])} after the JSON object")
    _check_envelope(parsed, wanted)


def _check_envelope(parsed: JsonObject, wanted: _Format) -> None:
    """Look inside the object."""
    _check_keys(wanted, parsed, ("message", wanted.key), "the object")
    if not isinstance(parsed.members["message"], str):
        raise _wrong_type(wanted, parsed, "message", "a string")
    written, limit, offset = _calls(parsed, wanted), wanted.limits.max_calls, value_start(parsed, wanted.key)
    if len(written) > limit:
        raise wanted.error(_Problem.OVER_LIMIT, offset, f"{len(written)} calls, and at most {limit} may be")
    for where, call in written:
        _check_call(call, wanted, where)
    if wanted.tool_choice != "auto" and not written:
        raise wanted.error(_Problem.TOOL_CHOICE, offset, "nothing is called, where a call has to be")


def _calls(parsed: JsonObject, wanted: _Format) -> list[tuple[str, JsonObject]]:
    """Return the calls, each with words for its place."""
    key, value = wanted.key, parsed.members[wanted.key]
    if not wanted.multiple:
        if value is not None and not isinstance(value, dict):
            raise _wrong_type(wanted, parsed, key, "an object or null")
        call = None if value is None else parse_object(parsed.text, parsed.spans[key][0], checked=True)
        return [] if call is None else [(key, call)]
    items = parse_elements(parsed.text, parsed.spans[key][0]) if isinstance(value, list) else None
    if items is None:
        raise _wrong_type(wanted, parsed, key, "an array of objects")
    return [(f"{key}[{index}]", item) for index, item in enumerate(items)]


def _check_call(call: JsonObject, wanted: _Format, where: str) -> None:
    """Look at one call."""
    limits = wanted.limits
    if call.end - call.start > limits.max_call_length:
        detail = f"{where} is longer than {limits.max_call_length} characters"
        raise wanted.error(_Problem.OVER_LIMIT, call.start, detail)
    _check_keys(wanted, call, ("name", "arguments"), where)
    name, at_name = call.members["name"], value_start(call, "name")
    if not isinstance(name, str) or not name:
        raise _wrong_type(wanted, call, "name", f"a name, in {where}")
    if not isinstance(call.members["arguments"], dict):
        raise _wrong_type(wanted, call, "arguments", f"an object, in {where}")
    if wanted.tools is not None and name not in wanted.tools:
        raise wanted.error(_Problem.UNKNOWN_TOOL, at_name, f"in {where}, {not_declared(name, wanted.tools)}")
    if wanted.tool_choice not in {"auto", "required", name}:
        detail = f"{name!r} is called in {where}, where it has to be {wanted.tool_choice!r}"
        raise wanted.error(_Problem.TOOL_CHOICE, at_name, detail)
    found = read_call(call, wanted.tools)
    if isinstance(found, Refusal) and found.reason is RejectionReason.SCHEMA_ECHO:
        raise wanted.error(_Problem.WRONG_SHAPE, call.start, f"{where} has {found.detail}")
    start, end = call.spans["arguments"]
    if not depth_is_within(call.text, start, end, limits.max_depth):
        detail = f"the arguments in {where} are nested deeper than {limits.max_depth} levels"
        raise wanted.error(_Problem.OVER_LIMIT, start, detail)
    twice = key_twice(call.text, start, end)
    if twice is not None:
        detail = f"the key {shortened(twice[0])!r} occurs twice in one object of the arguments in {where}"
        raise wanted.error(_Problem.MALFORMED, twice[1], detail)


def _check_keys(wanted: _Format, parsed: JsonObject, expected: tuple[str, str], where: str) -> None:
    """Look for keys that are there twice, missing, or not part of the format."""
    keys = list(parsed.members)
    if parsed.flaw:
        raise wanted.error(_Problem.MALFORMED, parsed.start, f"{parsed.flaw} in {where}")
    for key in expected:
        if key not in keys:
            found = shortened(", ".join(repr(one)[1:-1] for one in keys[:8])) or "none"
            detail = f"the key {key!r} is missing in {where}, whose keys are: {found}"
            raise wanted.error(_Problem.WRONG_SHAPE, parsed.start, detail)
    for key in keys:
        if key not in expected:
            detail = f"the key {shortened(key)!r} in {where} is not part of the format"
            raise wanted.error(_Problem.WRONG_SHAPE, value_start(parsed, key), detail)


def _wrong_type(wanted: _Format, parsed: JsonObject, key: str, expected: str) -> ResponseFormatError:
    value = parsed.members[key]
    found = "an empty string" if value == "" else _KINDS.get(type(value), "a number")
    return wanted.error(_Problem.WRONG_SHAPE, value_start(parsed, key), f"{key!r} is {found}, not {expected}")


def _quoted(text: str) -> str:
    """Show how a text begins, with what cannot be seen in it."""
    return repr(text[:_MAX_QUOTED]) + ("…" if len(text) > _MAX_QUOTED else "")
