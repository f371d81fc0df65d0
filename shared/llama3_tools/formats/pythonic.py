"""Pythonic calls, `[get_weather(city='Paris'), now()]`: of declared tools, or asked for by name (rule 11).

A list is read wherever it stands. Calls without brackets are read only where they have a line to themselves, and only
of declared tools and of Meta's built-in ones: in a sentence or in code they are an example.
"""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple

from llama3_tools.calls.reader import CallReader
from llama3_tools.calls.shapes import WrittenCall, refuse_empty
from llama3_tools.formats.base import NO_CITATION, Candidate, Choice, IsCall, IsText, Marker, Outcome, WireFormat
from llama3_tools.formats.json_calls import array_beside_pythonic
from llama3_tools.formats.python_code import begins_line, ends_line, goes_on_as_code, is_code_before
from llama3_tools.formats.wrappers import is_at
from llama3_tools.reading.json_parse import JsonObject, decode_checked, parse_object
from llama3_tools.reading.json_scan import Refusal
from llama3_tools.reading.python_literals import BrokenArguments, PythonArguments, read_arguments, read_rest, read_run
from llama3_tools.reading.source import Reading, Source
from llama3_tools.text.json_writing import write_string
from llama3_tools.tools import Tool
from llama3_tools.values import Rejection, RejectionReason, Span, shortened

__all__ = ["pythonic_line", "pythonic_list"]

_NAME = re.compile(r"[\w.:/-]*")
_DECLARED_NAME = re.compile(r"[^\W\d][\w.:/-]{0,63}")
_JSON_WORDS = ("true", "false", "null")
_SPACE = re.compile(r"[ \t\n\r]*")
_METHOD = ".call"
"""What Meta's built-in tools end with: `brave_search.call(query="…")`. Its template writes strings as they are, and its
decoder takes them so: meta-llama/llama-models, chat_format.py of llama3."""

_BUILT_IN = ("brave_search", "wolfram_alpha")  # meta-llama/llama-models: prompt_format.md of llama3_1

_LONGEST_ATTEMPT = 1000
_MOST_LEVELS = 8
_NO_PARENTHESIS = re.compile(rf"[^()]{{0,{_LONGEST_ATTEMPT}}}")


class _Broken(NamedTuple):
    """Why a list is none, and where."""

    refusal: Refusal
    end: int
    resume: int
    closers: str = ""
    """What closes the brackets that are open there, those of the list aside."""


class _Calls:
    """The calls of one list, as they are read."""

    __slots__ = ("calls", "found", "source", "start")

    def __init__(self, source: Source, calls: CallReader, start: int) -> None:
        self.source = source
        self.start = start
        self.calls = calls
        self.found: list[tuple[WrittenCall, Span]] = []

    def read_call(self, start: int, written_name: str) -> Reading[_Broken | None]:
        """Read on from the parenthesis behind a name."""
        arguments = yield from read_arguments(self.source, as_they_are=written_name.endswith(_METHOD))
        name = self._declared(written_name)
        if isinstance(arguments, BrokenArguments):
            return _Broken(arguments.refusal._replace(name=name), *arguments[1:])
        end = self.source.offset
        tool = (self.calls.tools or {}).get(name)
        in_json = _arguments_in_json(arguments, tool)
        if isinstance(in_json, Refusal):
            return _Broken(in_json._replace(name=name), end, end)
        self.found.append((WrittenCall(name, decode_checked(in_json), in_json), (start, end)))
        return None

    def refuse(self, expected: str) -> _Broken:
        """Say what should have stood here."""
        source, offset = self.source, self.source.offset
        name = self.found[-1][0].name
        if source.exhausted:
            detail = f"the output ends inside it, where {expected} was due"
            return _Broken(Refusal(RejectionReason.TRUNCATED, detail, name), offset, offset)
        detail = f"expected {expected} at offset {offset}, found {source.text[source.pos]!r}"
        return _Broken(Refusal(RejectionReason.MALFORMED, detail, name), offset, offset)

    def code(self, name: str) -> Rejection | None:
        """Say that brackets are part of code, if they hold a call of a declared tool."""
        if not self.is_declared(self._declared(name)):
            return None
        span = self.start, self.source.offset
        is_quoted = self.source.before.endswith("`")
        reason = RejectionReason.QUOTED if is_quoted else RejectionReason.NOT_A_CALL
        return Rejection(span, reason, "a part of code, or quoted", self._declared(name))

    @property
    def is_any_declared(self) -> bool:
        """Whether a name among them is one of a declared tool."""
        return any(self.is_declared(written.name) for written, _ in self.found)

    def is_declared(self, name: str | None) -> bool:
        """Tell whether a name is one of a declared tool."""
        return name in (self.calls.tools or ())

    def may_stand_alone(self, name: str) -> bool:
        """Tell whether a name is read without brackets: one of a declared tool, or as built-in tools are called."""
        base = name.removesuffix(_METHOD)
        return self.is_declared(name) or self.is_declared(base) or (base != name and base in _BUILT_IN)

    def _declared(self, name: str) -> str:
        """Give the name of the tool that is meant."""
        return name.removesuffix(_METHOD) if self.may_stand_alone(name) and not self.is_declared(name) else name


def _read_bracket(source: Source, candidate: Candidate, *, any_name: bool, json: WireFormat | None) -> Reading[Outcome]:
    """Read from a bracket: JSON, a list of calls, or prose."""
    start = source.offset
    source.pos += 1
    yield from read_run(source, _SPACE)
    name_at = source.offset
    name = yield from read_run(source, _NAME)
    yield from read_run(source, _SPACE)
    is_call = source.text.startswith("(", source.pos)
    if _DECLARED_NAME.match(name) and (is_call or name not in _JSON_WORDS):
        if not is_call:
            return IsText(source.offset)
        calls = _Calls(source, candidate.calls, start)
        return (yield from _read_list(calls, candidate, name_at, name, any_name=any_name))
    if json is None or not json.may_be_in(candidate.scope):
        return IsText(start + 1)
    source.rewind(start)
    return (yield from json.read(source, candidate))


def _read_list(calls: _Calls, candidate: Candidate, name_at: int, name: str, *, any_name: bool) -> Reading[Outcome]:
    """Read on from the parenthesis behind the first name in brackets."""
    source, start = calls.source, calls.start
    is_first, is_bare = begins_line(source, candidate, start), not candidate.scope.wrappers
    if is_bare and is_code_before(source, begins_line=is_first):
        return IsText(source.offset, calls.code(name))
    broken = yield from _read_items(calls, name_at, name)
    is_meant = calls.is_any_declared or (any_name and is_first)
    is_meant = is_meant or (broken is not None and calls.is_declared(broken.refusal.name))
    if broken is not None:
        resume = (yield from _behind(source, broken, closers=f"]{broken.closers}")) if is_meant else broken.resume
        return IsText(resume, Rejection((start, broken.end), *broken.refusal) if is_meant else None)
    if is_bare and (yield from goes_on_as_code(source)):
        return IsText(source.offset, calls.code(name))
    if candidate.calls.tools is None and not is_meant:
        return IsText(source.offset)
    scope = candidate.scope._replace(format="pythonic")
    outcome = candidate.calls.named(calls.found, scope, are_meant=is_meant)
    if isinstance(outcome, Refusal):
        return IsText(source.offset, Rejection((start, source.offset), *outcome))
    return IsCall(outcome)


def _read_items(calls: _Calls, start: int, name: str) -> Reading[_Broken | None]:
    """Read the calls of a list, from the first parenthesis to the closing bracket."""
    source = calls.source
    while True:
        broken = yield from calls.read_call(start, name)
        if broken is not None:
            return broken
        yield from read_run(source, _SPACE)
        has_comma = source.text.startswith(",", source.pos)
        if has_comma:
            source.pos += 1
            yield from read_run(source, _SPACE)
        if source.text.startswith("]", source.pos):
            source.pos += 1
            return None
        if not has_comma:
            return calls.refuse("',' or ']'")
        start = source.offset
        name = yield from read_run(source, _NAME)
        if not name:
            return calls.refuse("a call or ']'")
        yield from read_run(source, _SPACE)
        if not source.text.startswith("(", source.pos):
            return calls.refuse("'('")


def _read_line(source: Source, candidate: Candidate) -> Reading[Outcome]:
    """Read calls without brackets, of declared tools and built-in ones."""
    start = call_at = source.offset
    if not begins_line(source, candidate, start):
        return IsText(start + len(candidate.marker))
    calls, name = _Calls(source, candidate.calls, start), candidate.marker[:-1]
    source.pos += len(name)
    while True:
        broken = yield from calls.read_call(call_at, name)
        if broken is not None:
            is_attempt = yield from _is_attempt(source, call_at, broken)
            refusal = broken.refusal if is_attempt else broken.refusal._replace(name=None)
            resume = (yield from _behind(source, broken, closers=broken.closers)) if is_attempt else broken.resume
            return IsText(resume, Rejection((start, broken.end), *refusal))
        end = source.offset
        if (yield from ends_line(source, before_tag=bool(candidate.scope.wrappers))):
            break
        if not source.text.startswith((",", ";"), source.pos):
            return IsText(end)
        source.pos += 1
        if source.text[source.pos - 1] == ";" and (
            yield from ends_line(source, before_tag=bool(candidate.scope.wrappers))
        ):
            break
        yield from read_run(source, _SPACE)
        call_at = source.offset
        name = yield from read_run(source, _NAME)
        if not calls.may_stand_alone(name) or not source.text.startswith("(", source.pos):
            return IsText(end)
    source.rewind(end)
    return _as_calls(calls, candidate, end)


def _as_calls(calls: _Calls, candidate: Candidate, end: int) -> Outcome:
    """Give the calls of a line that ends at an offset."""
    for written, span in calls.found:
        missing = None if written.arguments else refuse_empty(written.name, candidate.calls.tools)
        if missing is not None:
            return IsText(end, Rejection(span, *missing))
    outcome = candidate.calls.named(calls.found, candidate.scope._replace(format="pythonic"))
    if isinstance(outcome, Refusal):
        return IsText(end, Rejection((calls.start, end), *outcome))
    return IsCall(outcome)


def _behind(source: Source, broken: _Broken, *, closers: str) -> Reading[int]:
    """Give where the search goes on: behind the brackets, if they close, so that no string in them is searched."""
    source.rewind(broken.resume)
    if closers:
        yield from read_rest(source, closers)
    return source.offset


def _is_attempt(source: Source, start: int, broken: _Broken) -> Reading[bool]:
    """Tell whether a call was meant, rather than prose about one: `get_weather(city=name) gives …`.

    A call has a named argument, is closed before long, and nothing but what may follow a call stands behind it on its
    line. Many may be open: so each looks ahead no further than so far.
    """
    if broken.refusal.reason is RejectionReason.TRUNCATED:
        return "=" in source.slice(start, broken.resume)
    source.rewind(broken.resume)
    before = source.slice(start, broken.resume)
    levels = before.count("(") - before.count(")")
    furthest = source.offset + _LONGEST_ATTEMPT
    while 0 < levels <= _MOST_LEVELS:
        yield from read_run(source, _NO_PARENTHESIS)
        if source.offset > furthest or not source.text.startswith(("(", ")"), source.pos):
            return False
        levels += 1 if source.text[source.pos] == "(" else -1
        source.pos += 1
    if levels or "=" not in source.slice(start, source.offset):
        return False
    yield from is_at(source, ";")
    return (yield from ends_line(source, before_tag=True))


def _arguments_in_json(arguments: PythonArguments, tool: Tool | None) -> str | Refusal:
    """Write the arguments as one JSON object; those without a name by the order of the tool's parameters."""
    parameters = list(tool.parameters.get("properties") or ()) if tool else []
    positional, named = arguments
    if len(positional) == 1 and not named and positional[0].startswith("{"):
        parsed = parse_object(positional[0], 0, checked=True)
        if parsed and not _is_value(parsed, tool, parameters):
            return positional[0]
    if len(positional) > len(parameters):
        detail = (
            f"{len(positional)} arguments without a name, and {len(parameters)} declared parameters to give them to"
        )
        return Refusal(RejectionReason.INVALID_ARGUMENTS, detail)
    given = dict(zip(parameters, positional, strict=False))
    twice = next((name for name in named if name in given), None)
    if twice is not None:
        return Refusal(RejectionReason.MALFORMED, f"the argument {shortened(twice)!r} stands twice")
    members = (f"{write_string(name)}: {value}" for name, value in {**given, **named}.items())
    return f"{{{', '.join(members)}}}"


def _is_value(parsed: JsonObject, tool: Tool | None, parameters: list[str]) -> bool:
    """Tell whether a lone object is the value of the first parameter, rather than all arguments."""
    if not (tool and parameters):
        return False
    if parsed.members:
        return not all(member.key in parameters for member in parsed.members)
    schema = tool.parameters["properties"][parameters[0]]
    return tool.requires_arguments and isinstance(schema, dict) and schema.get("type") == "object"


# JSON, or a name with a parenthesis behind it: not `[x]`, nor a link.
_IN_BRACKETS = r"[\[{\"0-9-]|(?:true|false|null)\b|[^\W\d][\w.:/-]*[ \t\n\r]*(?:\(|\Z)|\Z"
_BRACKET = Marker(rf"\[{NO_CITATION}(?=[ \t\n\r]*(?:{_IN_BRACKETS}))", r"\[\Z", ("[",))


def pythonic_list(choice: Choice) -> WireFormat | None:
    """Give the format of lists. It reads JSON's arrays as well, which begin with the same bracket."""
    if not choice.reads("pythonic"):
        return None
    read = partial(_read_bracket, any_name=choice.asks_for("pythonic"), json=array_beside_pythonic(choice))
    return WireFormat("pythonic", _BRACKET, read)


def pythonic_line(choice: Choice) -> WireFormat | None:
    """Give the format of calls without brackets, for the names of declared tools and of built-in ones."""
    if not choice.reads("pythonic"):
        return None
    names = [name for name in choice.declared or () if _DECLARED_NAME.fullmatch(name)]
    openings = [f"{name}(" for name in names] + [f"{name}{_METHOD}(" for name in dict.fromkeys((*names, *_BUILT_IN))]
    return WireFormat("pythonic", Marker.of_words(openings), _read_line)
