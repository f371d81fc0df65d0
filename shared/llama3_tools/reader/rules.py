"""Which formats are enabled, and how parsed text becomes a call to a declared tool (principle 1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from llama3_tools.arguments import Coercer
from llama3_tools.limits import too_deep
from llama3_tools.literals.json_depth import depth_is_within
from llama3_tools.literals.json_object import JsonObject, parse_elements, parse_object
from llama3_tools.literals.python_literals import Arguments, parse_arguments
from llama3_tools.literals.refusal import Refusal
from llama3_tools.options import ReadOptions, new_call_id, written_id
from llama3_tools.reader.code import CODE_INTERPRETER
from llama3_tools.reader.grammar import grammar_of
from llama3_tools.reader.json_calls import ARGUMENTS, ENVELOPES, WrittenCall, argued_call, read_call, refuse_empty
from llama3_tools.reader.markup import METHOD
from llama3_tools.text.json_writing import write_string
from llama3_tools.tools.declared import NO_ARGUMENTS, Tool, not_declared
from llama3_tools.values import (
    ArgumentChange,
    ArgumentProblem,
    ReasoningDelta,
    RejectionReason,
    Span,
    ToolCall,
    shortened,
)

BUILT_IN = ("brave_search", "wolfram_alpha")
"""Meta's built-in tools, which Llama calls as `NAME.call(…)`: meta-llama/llama-models, prompt_format.md of llama3_1."""

_MESSAGES = ("message", "content", "thought")
_LABELS = ("role", "name", "type", "id", "index", "finish_reason")
"""The keys of an envelope that are not read, as in OpenAI's messages. The values of other keys would be lost."""
_EMPTY: tuple[object, ...] = (None, "", [], {})


class Placed(NamedTuple):
    """A call that was written in an envelope, and where it begins and ends in that."""

    written: WrittenCall
    start: int
    end: int


Part: TypeAlias = "Placed | str | ReasoningDelta"
"""A part of an envelope: a call, the message, or a thought that is split off."""
Found: TypeAlias = "WrittenCall | list[Part]"
"""A call, or the parts of an envelope."""


def calls_in(found: Found) -> list[WrittenCall]:
    """Return the calls that an object has."""
    return [found] if isinstance(found, WrittenCall) else [one.written for one in found if isinstance(one, Placed)]


def name_in(found: Found) -> str | None:
    """Return the name of the first of them, if there is one."""
    return next((call.name for call in calls_in(found)), None)


def coercer_of(tool: Tool) -> Coercer:
    """Return what makes arguments fit the schema of a tool."""
    return Coercer(tool.parameters or NO_ARGUMENTS)


class Rules:
    """The formats that an extractor reads, the tools that may be called, and how a call is made."""

    def __init__(self, tools: Mapping[str, Tool] | None, options: ReadOptions) -> None:
        """Set up the rules for the tools and options of an extractor."""
        formats = options.formats
        self.tools = tools
        """The declared tools by name, or `None` if a call of any name counts."""
        self.declared: Mapping[str, Tool] = tools or {}
        """The declared tools by name; empty if none were declared."""
        self.options = options
        self.limits = options.limits
        self.reads_json = formats is None or "json" in formats
        self.reads_code = "code" in formats if formats is not None else CODE_INTERPRETER in self.declared
        has_names = "pythonic" in formats if formats is not None else bool(tools)
        self.names: Mapping[str, Tool] = self.declared if has_names else {}
        """The declared tools whose name announces a call: in pythonic calls, and before an object."""
        self.grammars = grammar_of(
            calls=formats != ("none",),
            json=self.reads_json,
            function=formats is None or "function" in formats,
            names=has_names,
        )
        """What is looked for in text that may go on, and in text that has ended."""
        id_factory = options.id_factory
        self._id_factory = id_factory if id_factory is new_call_id else partial(written_id, id_factory)
        self._coercers: dict[str, Coercer] = {}

    def read(self, parsed: JsonObject) -> Found | Refusal:
        """Read an object: a call, or an envelope with calls."""
        if not parsed.members.keys().isdisjoint(ENVELOPES):
            envelope = self._envelope(parsed)
            if envelope is not None:
                return envelope
        return self.checked(read_call(parsed, self.tools))

    def read_arguments(self, name: str, parsed: JsonObject) -> WrittenCall | Refusal:
        """Read the object after the name of a tool."""
        return self.checked(argued_call(name, parsed, self.tools))

    def read_pythonic(self, name: str, written: str) -> WrittenCall | Refusal:
        """Read `NAME(…)`: the name, perhaps with `.call` after it, and the parentheses with what is between them."""
        base = name.removesuffix(METHOD)
        is_method = base != name and name not in self.declared and (base in self.declared or base in BUILT_IN)
        name = base if is_method else name
        try:
            arguments = parse_arguments(written, as_they_are=is_method)
        except ValueError as error:
            return Refusal(RejectionReason.MALFORMED, str(error), name)
        json = _arguments_in_json(arguments, self.declared.get(name))
        if isinstance(json, Refusal):
            return json._replace(name=name)
        parsed = parse_object(json, 0) or parse_object(json, 0, checked=True)
        if parsed is None or parsed.flaw:
            detail = parsed.flaw if parsed else "a value that JSON does not have"
            return Refusal(RejectionReason.MALFORMED, detail, name)
        return self.check_pythonic(WrittenCall(name, parsed.members, json))

    def check_pythonic(self, written: WrittenCall) -> WrittenCall | Refusal:
        """Return a pythonic call, or why it is not a call."""
        if not written.arguments and (self.tools is None or written.name in self.tools):
            refusal = refuse_empty(written.name, self.tools)
            if refusal is not None:
                return refusal
        return self.checked(written)

    def checked(self, found: WrittenCall | Refusal) -> WrittenCall | Refusal:
        """Return a call, or why it is refused: an undeclared tool, or arguments that are nested too deep."""
        if isinstance(found, Refusal):
            return found
        if not (self.tools is None or found.name in self.tools or self.options.on_unknown_tool == "call"):
            return Refusal(RejectionReason.UNKNOWN_TOOL, not_declared(found.name, self.declared), found.name)
        json = found.arguments_json
        if not depth_is_within(json, 0, len(json), self.limits.max_depth):
            return Refusal(*too_deep(self.limits.max_depth), found.name)
        return found

    def may_begin_name(self, text: str) -> bool:
        """Return whether text is the beginning of a declared name, or of one with `.call` after it.

        >>> rules = Rules({"get_weather": Tool("get_weather")}, ReadOptions())
        >>> rules.may_begin_name("get"), rules.may_begin_name("got"), rules.may_begin_name("get_weather.c")
        (True, False, True)
        """
        base, dot, method = text.rpartition(".")
        is_method = dot and "call".startswith(method) and (base in self.declared or base in BUILT_IN)
        return bool(is_method) or any(name.startswith(text) for name in (*BUILT_IN, *self.declared))

    def make(self, written: WrittenCall, span: Span, format_: str, repaired_from: str | None = None) -> ToolCall:
        """Make a call of what was written."""
        name, arguments, json, deviations = written
        changes: tuple[ArgumentChange, ...] = ()
        problems: tuple[ArgumentProblem, ...] = ()
        if (coercer := self._coercer(name)) is not None:
            fit = coercer.coerce(arguments, depth=self.limits.max_depth)
            arguments, changes, problems = fit.arguments, fit.changes, fit.problems
        call_id = self._id_factory()
        return ToolCall(name, arguments, json, call_id, span, format_, changes, problems, deviations, repaired_from)

    def arguments_of(self, written: WrittenCall) -> dict[str, Any]:
        """Return the arguments that the call will have."""
        coercer = self._coercer(written.name)
        return coercer.coerce(written.arguments).arguments if coercer else written.arguments

    def _coercer(self, name: str) -> Coercer | None:
        """Return the coercer of a tool, made when it is first called; `None` if its arguments are not coerced."""
        if not self.options.coerce_arguments or name not in self.declared:
            return None
        if name not in self._coercers:
            self._coercers[name] = coercer_of(self.declared[name])
        return self._coercers[name]

    def _envelope(self, parsed: JsonObject) -> list[Part] | Refusal | None:
        """Return the parts of an envelope, or why it is refused; `None` for any other object."""
        members = parsed.members
        is_call = "name" in members and "role" not in members  # OpenAI's messages may have a name, too
        if is_call or not members.keys().isdisjoint(ARGUMENTS) or all(key in members for key in ENVELOPES):
            return None
        if parsed.flaw:
            return Refusal(RejectionReason.MALFORMED, parsed.flaw)
        parts: list[Part] = []
        loses = ""
        for key, value in members.items():
            if key in ENVELOPES:
                found = self._enclosed(parsed, key)
                if isinstance(found, Refusal):
                    return found
                parts += found
            elif key in _MESSAGES and isinstance(value, str):
                is_split = key == "thought" and self.options.split_reasoning
                parts.append(ReasoningDelta(value) if is_split else value)
            elif key == "role" and value not in ("assistant", None):
                loses = f"an envelope of the role {value!r}"
            elif key not in _LABELS and value not in _EMPTY:
                loses = f"an envelope with {key!r}, which would be lost"
        if loses:
            return Refusal(RejectionReason.NOT_A_CALL, loses, name_in(parts))
        return parts

    def _enclosed(self, parsed: JsonObject, key: str) -> list[Placed] | Refusal:
        value: Any = parsed.members[key]
        if value is None:
            return []
        items: list[JsonObject] | None = None
        if isinstance(value, list):
            items = parse_elements(parsed.text, parsed.spans[key][0])
        elif isinstance(value, dict) and key == "tool_call":
            item = parse_object(parsed.text, parsed.spans[key][0], checked=True)
            items = [item] if item else None
        if items is None:
            return Refusal(RejectionReason.NOT_A_CALL, f"an envelope with something other than calls under {key!r}")
        placed = []
        for item in items:
            found = self.checked(read_call(item, self.tools))
            if isinstance(found, Refusal):
                return found
            placed.append(Placed(found, item.start - parsed.start, item.end - parsed.start))
        return placed


def _arguments_in_json(arguments: Arguments, tool: Tool | None) -> str | Refusal:
    """Return arguments as one JSON object; those without a name go to the tool's parameters in order."""
    positional, named = arguments.positional, arguments.keywords
    parameters = list(tool.parameters.get("properties") or ()) if tool else []
    if len(positional) == 1 and not named and positional[0].startswith("{"):
        parsed = parse_object(positional[0], 0, checked=True)
        if parsed and not _is_value(parsed, tool, parameters):
            return positional[0]
    if len(positional) > len(parameters):
        detail = f"{len(positional)} arguments without a name, and {len(parameters)} declared parameters to take them"
        return Refusal(RejectionReason.INVALID_ARGUMENTS, detail)
    given = dict(zip(parameters, positional, strict=False))
    twice = next((name for name in named if name in given), None)
    if twice is not None:
        return Refusal(RejectionReason.MALFORMED, f"the argument {shortened(twice)!r} occurs twice")
    members = [f"{write_string(name)}: {value}" for name, value in {**given, **named}.items()]
    return f"{{{', '.join(members)}}}"


def _is_value(parsed: JsonObject, tool: Tool | None, parameters: list[str]) -> bool:
    """Return whether a lone object is the value of the first parameter, rather than all arguments."""
    if not (tool and parameters):
        return False
    if parsed.members:
        return not all(key in parameters for key in parsed.members)
    schema = tool.parameters["properties"][parameters[0]]
    return tool.requires_arguments and isinstance(schema, dict) and schema.get("type") == "object"
