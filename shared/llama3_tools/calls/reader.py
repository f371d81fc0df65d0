"""From JSON to calls: one object, an array, an envelope (rules 2, 11, 12 and 13). For every wire format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from llama3_tools.arguments import Coercer
from llama3_tools.calls.shapes import ENVELOPES, WrittenCall, read_call, read_plain_call
from llama3_tools.reading.json_depth import MAX_DEPTH, depth_is_within
from llama3_tools.reading.json_parse import JsonMember, JsonObject, parse_object, parse_objects
from llama3_tools.reading.json_scan import Judge, Refusal
from llama3_tools.tools.declared import NO_ARGUMENTS, Tool, not_declared
from llama3_tools.values import RejectionReason, Span, ToolCall

__all__ = ["CallReader", "Parts", "Scope", "coercers_of"]

Parts: TypeAlias = list["ToolCall | str"]
"""What a candidate held: calls, and the message of an envelope as a string."""

_MESSAGES = ("message", "content")
_LABELS = ("role", "type", "id", "index", "finish_reason")
"""What may stand in an envelope and is not read, as OpenAI's messages have it. Other keys hold what would be lost."""
_EMPTY: tuple[object, ...] = (None, "", [], {})


def coercers_of(tools: Mapping[str, Tool]) -> dict[str, Coercer]:
    """Give what makes arguments fit the schemas of these tools, by the names of the tools.

    >>> coercers_of({"now": Tool("now")})["now"].coerce({}).arguments
    {}
    """
    return {name: Coercer(tool.parameters or NO_ARGUMENTS) for name, tool in tools.items()}


class Scope(NamedTuple):
    """Where a call stands: bare, or inside wrappers."""

    format: str
    """The wire format that its calls are reported as."""
    wrappers: tuple[str, ...] = ()
    """The wrappers around, outermost first."""
    is_in_tag: bool = False
    """Whether one of them is a tag around JSON, where JSON is read whatever was asked for."""


class ReadJson(NamedTuple):
    """What stood at a brace or bracket, and where it ended (an index into the text that was read)."""

    outcome: Parts | Refusal
    end: int


@dataclass(frozen=True, slots=True)
class CallReader:
    """Turns parsed JSON into calls, by the tools that were declared."""

    tools: Mapping[str, Tool] | None
    """The declared tools by name, or `None` where any name may be called."""
    on_unknown_tool: Literal["text", "call"]
    """What becomes of a call of a tool that was not declared."""
    id_factory: Callable[[], str]
    """Makes the id of each call (rule 13)."""
    coercers: Mapping[str, Coercer] | None = None
    """Makes arguments fit, by the name of their tool; `None`: they stay as the model wrote them."""
    lenient: bool = False
    """Whether variants that no manual has are calls, too."""
    repair: Callable[[str], object] | None = None
    """Gives the value that malformed JSON was meant to be; `None`: what is malformed is text."""
    depth: int | None = None
    """How many levels the arguments may have, if that is less than what is read at all."""

    def read(self, text: str, pos: int, offset: int, scope: Scope, *, checked: bool = False) -> ReadJson | None:
        """Read the object or the array at `text[pos]`; `None` where it is not plainly one.

        Args:
            text: the text to read in.
            pos: the index of the brace or bracket.
            offset: the offset of `text[0]` in the model output.
            scope: where the candidate stands.
            checked: the text at `pos` is known to be one strict JSON value.
        """
        if text.startswith("{", pos):
            plain = read_plain_call(text, pos)
            if plain is not None and self.takes_plainly(plain[0].name):
                written, end = plain
                return ReadJson([self.make(written, (pos + offset, end + offset), scope)], end)
            parsed = parse_object(text, pos, checked=checked)
            if parsed is None or not parsed.members:
                return None
            return ReadJson(self._object(parsed, offset, scope), parsed.end)
        items = parse_objects(text, pos, checked=checked)
        if not items:
            return None
        return ReadJson(self._array(items, offset, scope), text.index("]", items[-1].end) + 1)

    def judge(self, scope: Scope) -> Judge:
        """Give what tells why an element of an array is not a call."""
        return partial(self._refuse_element, scope)

    def named(
        self, calls: Iterable[tuple[WrittenCall, Span]], scope: Scope, *, are_meant: bool = True
    ) -> Parts | Refusal:
        """Make the calls of a format that carries the name outside of the JSON: all of them, or none.

        Args:
            calls: the calls, and where they stand.
            scope: what is around them.
            are_meant: whether they are calls for certain, so that one of an unknown tool may be let through.
        """
        calls = list(calls)
        refused = (self._refused(written, is_meant=are_meant) for written, _ in calls)
        return next(filter(None, refused), None) or [self.make(written, span, scope) for written, span in calls]

    def takes_plainly(self, name: str) -> bool:
        """Tell whether a call of this name is one, whatever its arguments are."""
        is_known = self.tools is None or name in self.tools or self.on_unknown_tool == "call"
        return is_known and self.depth is None

    def make(self, written: WrittenCall, span: Span, scope: Scope) -> ToolCall:
        """Make a call of what was written."""
        name, arguments, arguments_json, deviations = written
        coercer = self.coercers.get(name) if self.coercers else None
        call = ToolCall(name, arguments, arguments_json, self.id_factory(), span, scope.format, (), (), deviations)
        if coercer is None:
            return call
        fit = coercer.coerce(arguments, depth=self.depth or MAX_DEPTH - 1)
        return replace(call, arguments=fit.arguments, changes=fit.changes, problems=fit.problems)

    def _refuse_element(self, scope: Scope, text: str, index: int) -> Refusal | None:
        element = parse_object(text, 0, checked=True)
        found = self._find(element, scope) if element else None
        return _in_array(found, index) if isinstance(found, Refusal) else None

    def _object(self, parsed: JsonObject, offset: int, scope: Scope) -> Parts | Refusal:
        found = self._find(parsed, scope)
        if isinstance(found, WrittenCall):
            return [self.make(found, _span(parsed, offset), scope)]
        if found.reason in (RejectionReason.NOT_A_CALL, RejectionReason.MISSING_ARGUMENTS):
            envelope = self._envelope(parsed, offset, scope)
            return found if envelope is None else envelope
        return found

    def _array(self, items: Iterable[JsonObject], offset: int, scope: Scope) -> Parts | Refusal:
        """Read objects of which every one has to be a call; no call is made before that is certain."""
        calls: list[tuple[JsonObject, WrittenCall]] = []
        for index, item in enumerate(items):
            found = self._find(item, scope)
            if isinstance(found, Refusal):
                return _in_array(found, index)
            calls.append((item, found))
        return [self.make(written, _span(item, offset), scope) for item, written in calls]

    def _envelope(self, parsed: JsonObject, offset: int, scope: Scope) -> Parts | Refusal | None:
        """Read an object with `tool_call` or `tool_calls` (rule 12); `None` where it is no envelope."""
        if sum(member.key in ENVELOPES for member in parsed.members) != 1:
            return None
        scope = scope if scope.wrappers else scope._replace(format="envelope")
        labels = (*_LABELS, "name") if any(member.key == "role" for member in parsed.members) else _LABELS
        parts: Parts = []
        for member in parsed.members:
            if member.key in _MESSAGES and member.value is not None:
                if not isinstance(member.value, str):
                    return None
                parts.append(member.value)
            elif member.key not in ENVELOPES:
                is_others = member.key == "role" and member.value != "assistant"
                if member.value not in _EMPTY and (is_others or member.key not in labels):
                    return None
            else:
                calls = self._enclosed(parsed.text, member, offset, scope)
                if calls is None or isinstance(calls, Refusal):
                    return calls
                parts += calls
        return parts

    def _enclosed(self, text: str, member: JsonMember, offset: int, scope: Scope) -> Parts | Refusal | None:
        if member.key == "tool_calls":
            items = parse_objects(text, member.start, checked=True) if isinstance(member.value, list) else None
            return None if items is None else self._array(items, offset, scope)
        if member.value is None:
            return []
        item = parse_object(text, member.start, checked=True) if isinstance(member.value, dict) else None
        if item is None:
            return None
        found = self._find(item, scope)
        return found if isinstance(found, Refusal) else [self.make(found, _span(item, offset), scope)]

    def _find(self, parsed: JsonObject, scope: Scope) -> WrittenCall | Refusal:
        found = read_call(parsed, self.tools, tool_name="tool" in scope.wrappers, lenient=self.lenient)
        return found if isinstance(found, Refusal) else self._refused(found) or found

    def _refused(self, written: WrittenCall, *, is_meant: bool = True) -> Refusal | None:
        """Refuse a call of a tool that was not declared, or with arguments that are nested too deep."""
        name, json = written.name, written.arguments_json
        if self.tools is not None and name not in self.tools and not (is_meant and self.on_unknown_tool == "call"):
            return Refusal(RejectionReason.UNKNOWN_TOOL, not_declared(name, self.tools), name)
        if self.depth is not None and not depth_is_within(json, 0, len(json), self.depth):
            return Refusal(RejectionReason.TOO_DEEP, f"arguments nested deeper than {self.depth} levels", name)
        return None


def _span(parsed: JsonObject, offset: int) -> Span:
    return parsed.start + offset, parsed.end + offset


def _in_array(refusal: Refusal, index: int) -> Refusal:
    return refusal._replace(detail=f"element {index} of the array: {refusal.detail}")
